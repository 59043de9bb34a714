/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf run`: measure the chosen scenarios in order, then write the results. More processes
 * measure what the first one measured, each with memory at other addresses.
 */
#ifndef ABD_PERF_RUN_H
#define ABD_PERF_RUN_H

#include "abd_perf_scenario.h"

/**
 * The command. Returns 0; 1 when results were wrong or an output failed; 130 when ctrl-C ended it
 * (what was measured is kept). Wrong input and wrong flags end the program.
 */
int abd_perf_run(int argc, char **argv);

/**
 * Start this program again with its command line argv, to measure the chosen scenarios, and read
 * its figures. number: which process it is, from 2 on. Returns its results as JSON, which the
 * caller frees; NULL: it gave none, and *status is not 0. A warning says why.
 */
char *abd_perf_child_run(char **argv, const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count, unsigned number, int *status);

#endif
