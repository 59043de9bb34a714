/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the machine allows: bare loops over the runs of two buffers, at the same addresses, that do
 * nothing but compare or copy. The fastest of them is the ruler for operations on scattered memory;
 * what linear memory reaches is out of reach for some machines' scattered runs, and below what
 * others do with them (docs/plans.md).
 */
#ifndef ABD_PERF_LIMIT_H
#define ABD_PERF_LIMIT_H

#include <abd/abd.h>

struct abd_perf_limit {
	size_t count; /* of runs, each of 4 KiB; 0: there is no ruler */
	char **a, **b;
	unsigned best_compare, best_copy; /* indexes of loops */
};

/**
 * Take the runs' addresses from two buffers of equal size, find the fastest loops, and leave b
 * equal to a. Buffers that don't consist of 4 KiB runs have no ruler.
 */
void abd_perf_limit_make(struct abd_perf_limit *limit, const abd_t *a, const abd_t *b);
void abd_perf_limit_free(struct abd_perf_limit *limit);

/** Whether the runs are equal, by the fastest loop. */
bool abd_perf_limit_compare(const struct abd_perf_limit *limit);
/** Copy the runs of a to those of b, by the fastest loop. */
void abd_perf_limit_copy(const struct abd_perf_limit *limit);

#endif
