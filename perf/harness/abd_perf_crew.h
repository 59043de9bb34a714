/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A crew: threads, each on a CPU of its own, that start a piece of work together.
 * Every member times itself, and the crew's speed is the sum of its members': one that ends late
 * (its CPU was taken away) then counts as slow, not as everybody's delay.
 */
#ifndef ABD_PERF_CREW_H
#define ABD_PERF_CREW_H

#include "abd_perf_options.h"

struct abd_perf_crew;

/** count threads, the caller being the first; NULL: no memory or no threads. */
struct abd_perf_crew *abd_perf_crew_make(unsigned count, const struct abd_perf_options *options);
void abd_perf_crew_end(struct abd_perf_crew *crew);

/**
 * Let each member call work(arg, its number, iterations), which returns the ns it took.
 * Returns the ns per iterations of the whole crew: iterations over the sum of the members' speeds.
 */
double abd_perf_crew_run(struct abd_perf_crew *crew,
	double (*work)(void *arg, unsigned member, uint64_t iterations), void *arg,
	uint64_t iterations);

/** Put the calling thread on a CPU. */
void abd_perf_crew_pin(int cpu);

#endif
