/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes after a run (tables, comparisons, CSV, pages) is a program in Python, in after/. It
 * reads results and nothing else.
 */
#ifndef ABD_PERF_AFTER_H
#define ABD_PERF_AFTER_H

#include <stdbool.h>

/** Whether there is a python3 to run it. */
bool abd_perf_after_here(void);
/** Become that program: argv[0] is its command (compare, report, tables), and its flags follow.
 * Ends this one. */
void abd_perf_after_become(char **argv) __attribute__((noreturn));
/** Have it print the tables of a result, and write its rows to csv (NULL: nowhere). json is the
 * result's text. Returns an exit status. */
int abd_perf_after_tables(const char *json, const char *csv);

#endif
