/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stands in for RCU in builds for ThreadSanitizer; see abd_rcu.h.
 */
#include "abd_rcu.h"

pthread_rwlock_t abd_rcu_shim = PTHREAD_RWLOCK_INITIALIZER;
