/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policies of x86-64.
 */
#include "abd_flush_arch.h"
#include "abd_flush_portable.h"
#include "abd_flush_x86.h"

const struct abd_flush_line *const abd_flush_arch_lines[] = {
	&abd_flush_clwb,
	&abd_flush_clflushopt,
	&abd_flush_clflush,
	&abd_flush_portable_line,
};

const struct abd_flush_policy abd_flush_arch_policies[] = {
	{"movdir64b", &abd_flush_movdir64b, NULL, &abd_flush_sfence},
	{"nt-avx512", &abd_flush_avx512, NULL, &abd_flush_sfence},
	{"nt-avx2", &abd_flush_avx2, NULL, &abd_flush_sfence},
	{"nt-sse2", &abd_flush_sse2, NULL, &abd_flush_sfence},
	{"movnti", &abd_flush_movnti, NULL, &abd_flush_sfence},
	{"clwb", &abd_flush_portable_copy, &abd_flush_clwb, &abd_flush_sfence},
	{"clflushopt", &abd_flush_portable_copy, &abd_flush_clflushopt, &abd_flush_sfence},
	{"clflush", &abd_flush_portable_copy, &abd_flush_clflush, &abd_flush_sfence},
	{"portable", &abd_flush_portable_copy, &abd_flush_portable_line, &abd_flush_sfence},
	{NULL, NULL, NULL, NULL},
};

const struct abd_flush_fence *const abd_flush_arch_fence = &abd_flush_sfence;
