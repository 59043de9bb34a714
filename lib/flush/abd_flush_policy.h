/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policies this CPU has.
 * Invariant: constant once it can be seen.
 */
#ifndef ABD_FLUSH_POLICY_H
#define ABD_FLUSH_POLICY_H

#include "abd_flush_kernel.h"

/**
 * The policies of this build that this CPU has, in the order of the architecture's list; *count of
 * them, at least one.
 */
const struct abd_flush_policy *abd_flush_policies(size_t *count);

/** The policy whose name is the first length bytes of name, or NULL. */
const struct abd_flush_policy *abd_flush_policy_find(const char *name, size_t length);

#endif
