/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf report A.json [B.json] -o report.html`: pictures and words, by matplotlib.
 */
#ifndef ABD_PERF_PAGE_H
#define ABD_PERF_PAGE_H

/** The command. Returns the report program's exit status; wrong input and flags end the program. */
int abd_perf_page(int argc, char **argv);

#endif
