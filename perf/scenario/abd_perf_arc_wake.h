/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A part of arc-scale: threads that want a record that is missing.
 */
#ifndef ABD_PERF_ARC_WAKE_H
#define ABD_PERF_ARC_WAKE_H

#include "abd_perf_options.h"

void abd_perf_scale_wake(const struct abd_perf_options *options, unsigned threads);

#endif
