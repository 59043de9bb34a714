/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the compare scenario that measures short keys and names.
 */
#ifndef ABD_PERF_COMPARE_KEY_H
#define ABD_PERF_COMPARE_KEY_H

#include "abd_perf_options.h"

/** The number of steps that abd_perf_compare_keys() takes. */
unsigned abd_perf_compare_key_steps(const struct abd_perf_options *options);
void abd_perf_compare_keys(const struct abd_perf_options *options);

#endif
