/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Elsewhere there is only the portable policy.
 */
#include "abd_flush_arch.h"
#include "abd_flush_portable.h"

const struct abd_flush_line *const abd_flush_arch_lines[] = {
	&abd_flush_portable_line,
};

const struct abd_flush_policy abd_flush_arch_policies[] = {
	{"portable", &abd_flush_portable_copy, &abd_flush_portable_line, &abd_flush_portable_fence},
	{NULL, NULL, NULL, NULL},
};

const struct abd_flush_fence *const abd_flush_arch_fence = &abd_flush_portable_fence;
