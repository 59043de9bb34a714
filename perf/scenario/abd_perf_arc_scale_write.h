/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writers and readers at once: each put into a full cache evicts older records.
 */
#ifndef ABD_PERF_ARC_SCALE_WRITE_H
#define ABD_PERF_ARC_SCALE_WRITE_H

#include "abd_perf_options.h"

/**
 * Measure records of record_size bytes with 1 and 2 writers, with and without readers, and add the
 * results.
 */
void abd_perf_scale_write(const struct abd_perf_options *options, size_t record_size);

#endif
