/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `abd-perf run`: which scenarios run, in what order, and what becomes of the results.
 */
#ifndef ABD_PERF_RUN_H
#define ABD_PERF_RUN_H

#include "abd_perf_scenario.h"

/**
 * The command. Returns 0; 1 wrong results; 130 ended by ctrl-C (what was measured is kept). Wrong
 * input and flags end the program.
 */
int abd_perf_run(int argc, char **argv);
/** A scenario by its name; NULL: none is called so. */
const struct abd_perf_planned *abd_perf_run_find(const char *name);

#endif
