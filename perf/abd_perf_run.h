/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf run`: measure the chosen scenarios in order, then write the results.
 */
#ifndef ABD_PERF_RUN_H
#define ABD_PERF_RUN_H

/**
 * The command. Returns 0; 1 when results were wrong or an output failed; 130 when ctrl-C ended it
 * (what was measured is kept). Wrong input and wrong flags end the program.
 */
int abd_perf_run(int argc, char **argv);

#endif
