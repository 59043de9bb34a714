/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel's own look-up costs: lstat() of the tree's paths, by the length of the path. It
 * is what git diff does most.
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", Dec 2010: 640
 *         cycles, plus 10 per byte.
 */
#ifndef ABD_PERF_NAMES_STAT_H
#define ABD_PERF_NAMES_STAT_H

#include "abd_perf_names_set.h"

/** Measure, and add results. */
void abd_perf_names_stat_run(const struct abd_perf_names_set *set, const char *root,
	const struct abd_perf_options *options);
void abd_perf_names_stat_print(void);

#endif
