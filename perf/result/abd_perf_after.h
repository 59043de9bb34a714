/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Python program, in after/, makes tables, comparisons, CSV and pages. Its only input is results.
 */
#ifndef ABD_PERF_AFTER_H
#define ABD_PERF_AFTER_H

#include "abd_perf_options.h"

/**
 * Replace this program by the Python program. argv[0] is its command (compare, report, tables); its
 * flags follow.
 */
void abd_perf_after_become(char **argv) __attribute__((noreturn));
/**
 * End the program, after a message, if the Python program is not there, or a file of options can't
 * be written: before time is spent on measuring.
 */
void abd_perf_after_check(const struct abd_perf_options *options);
/**
 * Let the Python program make the result of what was measured (abd_perf_json_text()), print its
 * tables, and write it to options->json, its rows to csv, and Bencher's form of it to bmf (NULL:
 * nowhere). Returns an exit status.
 */
int abd_perf_after_finish(const char *measured, const struct abd_perf_options *options);

#endif
