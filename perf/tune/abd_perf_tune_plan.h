/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan as rows that can be changed: "word<=64,scalar<=4096,libc (set)" (include/abd/tuning.h).
 * Invariant: sizes rise from row to row; the last row's is SIZE_MAX; neighbours' kernels differ.
 */
#ifndef ABD_PERF_TUNE_PLAN_H
#define ABD_PERF_TUNE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum { ABD_PERF_TUNE_ROWS = 64, ABD_PERF_TUNE_NAME = 24, ABD_PERF_TUNE_TEXT = 512 };

struct abd_perf_tune_plan {
	unsigned count;
	struct {
		size_t last;
		char kernel[ABD_PERF_TUNE_NAME];
	} row[ABD_PERF_TUNE_ROWS];
};

/** Read what abd_tuning_get() says of a tunable that is a plan. */
void abd_perf_tune_plan_read(struct abd_perf_tune_plan *plan, const char *text);
/** The kernel for a size. */
const char *abd_perf_tune_plan_at(const struct abd_perf_tune_plan *plan, size_t size);
/** From now on kernel serves the sizes above low, up to high; low < high. */
void abd_perf_tune_plan_put(
	struct abd_perf_tune_plan *plan, size_t low, size_t high, const char *kernel);
/** The plan in the form that abd_tuning_set() takes. Returns text. */
const char *abd_perf_tune_plan_text(
	const struct abd_perf_tune_plan *plan, char text[ABD_PERF_TUNE_TEXT]);

#endif
