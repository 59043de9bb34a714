/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf run`: which scenarios run, in what order, and what becomes of the results.
 */
#ifndef ABD_PERF_RUN_H
#define ABD_PERF_RUN_H

/** The command. Returns 0; 1 wrong results or an output that failed; 130 ended by ctrl-C (what was
 * measured is kept). Wrong input and flags end the program. */
int abd_perf_run(int argc, char **argv);

#endif
