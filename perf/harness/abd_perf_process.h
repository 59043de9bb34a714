/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other programs, with a pipe to or from them.
 */
#ifndef ABD_PERF_PROCESS_H
#define ABD_PERF_PROCESS_H

#include <stdio.h>
#include <sys/types.h>

struct abd_perf_process {
	pid_t pid; /* -1: it could not be started */
	FILE *pipe;
};

/**
 * Start a program, found as execvp() finds it. mode "r": pipe reads what it prints; "w": what is
 * written to pipe it reads; "": there is no pipe. The caller ends it in any case.
 */
struct abd_perf_process abd_perf_process_start(const char *const *argv, const char *mode);
/** Close the pipe and wait. Returns the exit status; 128 + the signal that ended it; 127: none. */
int abd_perf_process_end(struct abd_perf_process *process);

#endif
