/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Look-ups in batches: what abd_arc_hold_many() and abd_arc_read_many() gain over one call for each
 * key. The keys are known beforehand either way, so the CPU may overlap single look-ups too.
 */
#ifndef ABD_PERF_ARC_SCALE_MANY_H
#define ABD_PERF_ARC_SCALE_MANY_H

#include "abd_perf_options.h"

/**
 * Measure batches of 1 to 64 keys at random among so many records of 8 bytes, beside single calls,
 * and add the results. Returns an exit status.
 */
int abd_perf_scale_many(const struct abd_perf_options *options, size_t records);

#endif
