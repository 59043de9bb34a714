/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf compare A.json B.json`: what changed from one run to another.
 */
#ifndef ABD_PERF_DIFF_H
#define ABD_PERF_DIFF_H

/** The command. Returns 0; 2 when something became slower by more than --fail-if-slower allows. Wrong input and flags end the program. */
int abd_perf_diff(int argc, char **argv);

#endif
