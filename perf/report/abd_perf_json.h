/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that was measured, for machines: format "abd-perf-1".
 *
 *	format       "abd-perf-1"
 *	complete     false when the run was ended early
 *	environment  {name: text}
 *	options      {seed, rounds, quick, ...}
 *	noise        the same code against itself: a ratio's value
 *	warnings     [text]
 *	results      [{scenario, group, name, parameters: {name: number or text},
 *	               figures: [{name, unit, median, low, high, mad, rounds}],
 *	               ratios: [{of, against, median, low, high, mad, rounds, verdict, target, target_verdict, source}]}]
 *	fio version, jobs  as in fio's JSON: what ran for a time (abd_perf_jobs.h); [] where nothing did
 *
 * low and high are the 95 % interval of the median. target and source are null where there is none.
 */
#ifndef ABD_PERF_JSON_H
#define ABD_PERF_JSON_H

#include "abd_perf_options.h"

/** Whether the file can be written at all, before time is spent measuring; ends the program if not. */
void abd_perf_json_check(const char *path);
/** Write it: to a temporary file beside it, then renamed, so that it is there whole or not at all. 0 or -errno. */
int abd_perf_json_write(const struct abd_perf_options *options, bool complete);

#endif
