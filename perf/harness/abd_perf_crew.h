/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A crew: threads that start a piece of work together. Each is pinned to one of the CPUs in use, in
 * turn; with more threads than CPUs, they share them.
 * With more than one member the wall clock counts, from the first member's start to the last one's
 * end: what members wait for each other, or for a CPU, is part of what their work costs.
 */
#ifndef ABD_PERF_CREW_H
#define ABD_PERF_CREW_H

#include "abd_perf_options.h"

struct abd_perf_crew;

/** Start a crew of count threads; the caller is its first. NULL: no memory or no threads. */
struct abd_perf_crew *abd_perf_crew_make(unsigned count, const struct abd_perf_options *options);
void abd_perf_crew_end(struct abd_perf_crew *crew);

/**
 * Each member calls work(arg, its number, iterations), which returns the ns it took.
 * Returns the ns that the crew needs for each share of iterations: from the first start to the last
 * end, divided by the number of members.
 */
double abd_perf_crew_run(struct abd_perf_crew *crew,
	double (*work)(void *arg, unsigned member, uint64_t iterations), void *arg,
	uint64_t iterations);

/** Pin the calling thread to a CPU. */
void abd_perf_crew_pin(int cpu);

#endif
