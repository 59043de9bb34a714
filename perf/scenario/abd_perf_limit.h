/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the machine allows: bare loops over the runs of two buffers, at the same addresses, that do
 * nothing but compare, copy or zero. The fastest of them is the ruler for operations on scattered
 * memory; what linear memory reaches is out of reach for some machines' scattered runs, and below
 * what others do with them (docs/notes/plans.md).
 */
#ifndef ABD_PERF_LIMIT_H
#define ABD_PERF_LIMIT_H

#include <abd/abd.h>

enum { ABD_PERF_LIMIT_COMPARE, ABD_PERF_LIMIT_COPY, ABD_PERF_LIMIT_ZERO, ABD_PERF_LIMITS };

struct abd_perf_limit {
	size_t count; /* of runs, each of 4 KiB; 0: there is no ruler */
	char **a, **b;
	unsigned best[ABD_PERF_LIMITS]; /* indexes of loops */
};

/**
 * Take the runs' addresses from two buffers of equal size, find the fastest loops, and leave b
 * equal to a. Buffers that don't consist of 4 KiB runs have no ruler.
 */
void abd_perf_limit_make(struct abd_perf_limit *limit, const abd_t *a, const abd_t *b);
void abd_perf_limit_free(struct abd_perf_limit *limit);

/**
 * By the fastest loop: compare the runs, copy those of a to those of b, or zero those of b. False:
 * they were compared, and differ.
 */
bool abd_perf_limit_run(const struct abd_perf_limit *limit, unsigned what);

#endif
