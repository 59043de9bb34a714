/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is measured to find the best plan: for every tunable whose kernels serve sizes, an operation
 * over the kinds of operands that engines have.
 *
 *   scattered   4 KiB runs at random addresses, on both sides
 *   shifted     the same; the sides' boundaries are 512 bytes apart
 *   mixed       from scattered to linear memory
 *   linear      linear memory on both sides
 *
 * Hot operands are the same ones again and again. Cold ones lie at a random place of memory that is
 * larger than the caches. The measure of a kernel is the geometric mean over all of these.
 */
#ifndef ABD_PERF_TUNE_WORK_H
#define ABD_PERF_TUNE_WORK_H

#include "abd_perf_options.h"
#include "abd_perf_stat.h"

enum {
	ABD_PERF_TUNE_KERNELS = 16,
	ABD_PERF_TUNE_SIZES = 16,
	ABD_PERF_TUNE_VARIANTS = 8, /* kinds of operands, hot and cold */
};

struct abd_perf_tune_subject {
	const char *name; /* of the tunable */
	/* every kernel that may serve it, on any CPU; ended by NULL */
	const char *kernels[ABD_PERF_TUNE_KERNELS];
	/* the measured sizes, as powers of two, and how many powers apart they are */
	unsigned first, last, step;
	unsigned kinds; /* a set of 1 << kind */
	/* once, over size bytes; kind and cold choose the operands */
	void (*work)(unsigned kind, bool cold, size_t size);
};

/** Ended by an empty one. */
extern const struct abd_perf_tune_subject abd_perf_tune_subjects[];

/** Make the operands. Ends the program when memory is short. */
void abd_perf_tune_work_make(const struct abd_perf_options *options);
/** Other hot places, so that no result hangs on where one piece of memory lies. */
void abd_perf_tune_work_move(void);
/** The largest size whose operands both fit into the caches. Above, hot and cold are the same. */
size_t abd_perf_tune_work_hot(void);

/* ---- one decision: which kernel serves operations of one size -------------------------------- */

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
