/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's commands.
 */
#ifndef ABD_PERF_COMMAND_H
#define ABD_PERF_COMMAND_H

#include "abd_perf_scenario.h"

struct abd_perf_command {
	const char *name, *called; /* called: for --help and errors */
	int (*run)(int argc, char **argv);
	const char *usage, *about; /* a line of the program's --help; NULL: not for users */
};

/**
 * Do what the command line asks for, with these scenarios, NULL after the last. more: commands
 * beside those that every program has, ended by an empty one; NULL: none. Returns the exit status.
 */
int abd_perf_command(int argc, char **argv, const struct abd_perf_scenario *const *scenarios,
	const struct abd_perf_command *more);

/**
 * `abd-perf run`: measure the chosen scenarios in order, then write the results. Returns 0; 1 when
 * results were wrong or an output failed; 130 when ctrl-C ended it (what was measured is kept).
 * Wrong input and wrong flags end the program.
 */
int abd_perf_run(int argc, char **argv);

/** `abd-perf tune`: measure all kernels, and write what to set on this machine. */
int abd_perf_tune(int argc, char **argv);

#endif
