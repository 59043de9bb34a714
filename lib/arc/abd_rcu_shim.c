/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces RCU in builds for ThreadSanitizer and MemorySanitizer; see abd_rcu.h.
 */
#include "abd_rcu.h"

pthread_rwlock_t abd_rcu_shim = PTHREAD_RWLOCK_INITIALIZER;
