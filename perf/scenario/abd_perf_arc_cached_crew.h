/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that read out of the caches of a set, in each mode in turn, and how long each read took.
 * Invariant: only reads of rounds that count are in the latencies.
 */
#ifndef ABD_PERF_ARC_CACHED_CREW_H
#define ABD_PERF_ARC_CACHED_CREW_H

#include "abd_perf_arc_cached_set.h"
#include "abd_perf_crew.h"
#include "abd_perf_latency.h"
#include "abd_perf_race.h"

#define ABD_PERF_CACHED_THREADS 128

/* One thread's state in one mode. */
struct abd_perf_cached_lane {
	size_t at; /* the next record of its files */
	unsigned errors;
	struct abd_perf_latency latency;
};

/* A mode, as a path of the race. */
struct abd_perf_cached_path {
	struct abd_perf_cached_crew *crew;
	unsigned mode;
	struct abd_perf_cached_lane *lane; /* one for each thread */
	struct abd_perf_latency latency;   /* of all threads */
};

/* What threads measured together. */
struct abd_perf_cached_crew {
	const struct abd_perf_cached_set *set;
	struct abd_perf_crew *crew;
	unsigned threads;
	char *dst[ABD_PERF_CACHED_THREADS];
	struct abd_perf_cached_path mode[CACHED_MODES];
	struct abd_perf_race race;
	double runtime_s, ramp_s; /* of each mode */
	unsigned errors;          /* reads that failed */
};

/**
 * Measure with threads threads, each with as many files. False: not one round was complete. Ends
 * the program when there is no memory or no thread.
 */
bool abd_perf_cached_measure(
	struct abd_perf_cached_crew *crew, const struct abd_perf_cached_set *set, unsigned threads);

#endif
