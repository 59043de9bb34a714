/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Your own cases, measured and judged as abd-perf measures its own: in turns within rounds, in
 * several processes, with intervals, JSON and the page. examples/own_benchmark.c is a whole
 * program. Link it with libabd_perf.a, libabd, jansson, liblz4, and -lm -ldl.
 */
#ifndef ABD_PERF_H
#define ABD_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct abd_perf_case {
	const char *name;
	void (*run)(void *arg, uint64_t iterations); /* do the work so many times */
	bool (*right)(void *arg); /* whether the work does what it should; NULL: not asked */
	void *arg;
};

/**
 * Be a program with abd-perf's commands (list, run, compare, report, tables, baseline, trend,
 * env) and this one scenario: up to 11 cases, each compared with the first. Call it from
 * main().
 *
 * Units:   bytes is what one iteration moves; figures are GB/s then, and ns where it is 0.
 * Returns: the exit status.
 * Threads: one, which the cases run on.
 */
int abd_perf_main(int argc, char **argv, const char *name, size_t bytes,
	const struct abd_perf_case *cases, unsigned count);

#ifdef __cplusplus
}
#endif
#endif
