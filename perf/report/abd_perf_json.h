/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that was measured, for machines: format "abd-perf-1".
 *
 *	format       "abd-perf-1"
 *	complete     false when the run was ended early
 *	environment  {name: text}
 *	sources      [text]: where the bytes measured with come from
 *	options      {mode, seed, rounds, runtime_s, warmup_s, input, filter}
 *	noise        the same code against itself: a ratio's value
 *	warnings     [text]
 *	results      [{scenario, group, name, parameters: {name: number or text}, figures: [{name,
 *	               unit, median, low, high, mad, rounds, relative: {median, low, high}}],
 *	               ratios: [{of, against, median, low, high, mad, rounds, verdict, target,
 *	               target_verdict, source}]}]
 *	fio version, jobs  as in fio's JSON: what ran for a time (abd_perf_jobs.h); [] where
 *	                   nothing did
 *
 * relative is the time in units of a loop of arithmetic that was timed in the same rounds, null
 * where none was. low and high are the 95 % interval of the median. target and source are null
 * where there is none. docs/abd-perf-1.schema.json says the same to programs.
 */
#ifndef ABD_PERF_JSON_H
#define ABD_PERF_JSON_H

#include "abd_perf_options.h"

/**
 * Write it: to a temporary file beside it, then renamed, so that it is there whole or not at all. 0
 * or -errno.
 */
int abd_perf_json_write(const struct abd_perf_options *options, bool complete);

#endif
