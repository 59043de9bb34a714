/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that was measured, for machines: format "abd-perf-1". after/finish.py makes it of what this
 * program writes: the result of the first process, without verdicts, processes and fio's fields;
 * and in "more" the results of the others.
 *
 *   format       "abd-perf-1"
 *   complete     false when measuring was ended early
 *   environment  {name: text}
 *   sources      [text]: where the bytes measured with come from
 *   options      {mode, seed, rounds, runtime_s, warmup_s, input, filter}
 *   noise        the same code against itself: a ratio's value
 *   warnings     [text]
 *   results      [{scenario, group, name, parameters: {name: number or text},
 *                  figures: [{name, unit, SUMMARY, relative: {median, low, high, processes},
 *                             idle: {share, why}}],
 *                  ratios: [{of, against, SUMMARY, verdict, target, target_verdict, source}]}]
 *                  SUMMARY: median, low, high, mad, rounds, processes: [the median of each]
 *   fio version, jobs
 *                as in fio's JSON: what ran for a time; [] where nothing did
 *
 * In text that is not UTF-8 (file names may hold any bytes), each wrong byte is written as \\xff.
 * idle is the share of the wall clock that CPU time does not show, and why; null: a few percent.
 * relative is the time in units of a loop of arithmetic that was timed in the same rounds; null
 * without one. low and high are the 95 % interval of the median. target and source are null when
 * there is none. docs/abd-perf-1.schema.json is the schema for programs.
 */
#ifndef ABD_PERF_JSON_H
#define ABD_PERF_JSON_H

#include "abd_perf_options.h"

/** Add the results of another process, from its text; false: that is no result. */
bool abd_perf_json_add(const char *text);
/** What was measured, as text, which the caller frees; NULL: no memory. */
char *abd_perf_json_text(const struct abd_perf_options *options, bool complete);

#endif
