/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policies of aarch64. Its non-temporal stores are only hints, so all policies copy through the
 * cache.
 */
#include "abd_flush_arch.h"
#include "abd_flush_arm64.h"
#include "abd_flush_portable.h"

const struct abd_flush_line *const abd_flush_arch_lines[] = {
	&abd_flush_cvap,
	&abd_flush_cvac,
};

const struct abd_flush_policy abd_flush_arch_policies[] = {
	{"cvap", &abd_flush_portable_copy, &abd_flush_cvap, &abd_flush_dsb},
	{"cvac", &abd_flush_portable_copy, &abd_flush_cvac, &abd_flush_dsb},
	{"portable", &abd_flush_portable_copy, &abd_flush_portable_line, &abd_flush_dsb},
	{NULL, NULL, NULL, NULL},
};

const struct abd_flush_fence *const abd_flush_arch_fence = &abd_flush_dsb;
