/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of x86-64.
 * All copies here but the portable one go around the cache and are weakly ordered, as clwb and
 * clflushopt are; sfence orders all.
 */
#ifndef ABD_FLUSH_X86_H
#define ABD_FLUSH_X86_H

#include "abd_flush_kernel.h"

extern const struct abd_flush_copy abd_flush_movnti;
extern const struct abd_flush_copy abd_flush_sse2;
extern const struct abd_flush_copy abd_flush_avx2;
extern const struct abd_flush_copy abd_flush_avx512;
extern const struct abd_flush_copy abd_flush_movdir64b;
extern const struct abd_flush_line abd_flush_clwb;
extern const struct abd_flush_line abd_flush_clflushopt;
extern const struct abd_flush_line abd_flush_clflush;
extern const struct abd_flush_fence abd_flush_sfence;

#endif
