/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that was measured, for machines: format "abd-perf-1", which docs/use/abd-perf-1.schema.json
 * describes. after/finish.py makes it of what this program writes: the result of the first process,
 * without verdicts and processes; and in "more" the results of the others.
 * In text that is not UTF-8 (file names may hold any bytes), each wrong byte is written as \\xff.
 */
#ifndef ABD_PERF_JSON_H
#define ABD_PERF_JSON_H

#include "abd_perf_options.h"

/** Add the results of another process, from its text; false: that is no result. */
bool abd_perf_json_add(const char *text);
/** What was measured, as text, which the caller frees; NULL: no memory. */
char *abd_perf_json_text(const struct abd_perf_options *options, bool complete);

#endif
