/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a whole cached read costs on top of decoding the block, by how many records are read in
 * turn.
 */
#ifndef ABD_PERF_ARC_SCALE_TOP_H
#define ABD_PERF_ARC_SCALE_TOP_H

#include "abd_perf_options.h"

/** Measure so many records of 8 KiB of fio's data, and add the results. 0, or an exit status. */
int abd_perf_scale_top(const struct abd_perf_options *options, size_t records);

#endif
