/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One decision of a tune: which kernel serves operations of one size.
 */
#ifndef ABD_PERF_TUNE_CELL_H
#define ABD_PERF_TUNE_CELL_H

#include "abd_perf_stat.h"
#include "abd_perf_tune_work.h"

enum { ABD_PERF_TUNE_ROWS = 64, ABD_PERF_TUNE_NAME = 24, ABD_PERF_TUNE_TEXT = 512 };

struct abd_perf_tune_cell {
	const struct abd_perf_tune_subject *subject;
	size_t size;
	char present[ABD_PERF_TUNE_NAME]; /* the kernel that serves this size now */
	const char *challenger;           /* the fastest other kernel; NULL: there is no other */
	struct abd_perf_summary ratio;    /* how many times as fast the challenger is */
	struct abd_perf_summary noise;    /* the present kernel by itself */
	bool replaced;                    /* the challenger is surely faster */
	bool disturbed;                   /* the present kernel differs from itself */
};

/**
 * Measure a cell for about seconds; subject, size and present are given.
 *
 * All kernels run a few rounds. The fastest challenger then races the present kernel, and that
 * kernel races itself, in new rounds: so neither the choice among many nor the machine's noise
 * makes a winner.
 */
void abd_perf_tune_cell_measure(
	struct abd_perf_tune_cell *cell, const struct abd_perf_options *options, double seconds);

#endif
