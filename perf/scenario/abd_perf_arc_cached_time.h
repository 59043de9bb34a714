/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measuring for a given time, as fio does with time_based: threads read for so many seconds, and
 * each read is timed.
 *
 * The modes take turns: in each round every mode reads for one slice (about a second, if the
 * runtime is long enough), in a new random order. So the machine's good and bad moments hit all
 * modes alike, and a ratio is taken within a round. Invariant: only reads after the ramp count,
 * each for the mode of its slice.
 */
#ifndef ABD_PERF_ARC_CACHED_TIME_H
#define ABD_PERF_ARC_CACHED_TIME_H

#include "abd_perf_arc_cached_set.h"
#include "abd_perf_latency.h"
#include "abd_perf_race.h"

#define ABD_PERF_CACHED_THREADS 128

struct abd_perf_cached_time {
	struct abd_perf_race race;     /* ns of the whole crew per read */
	double taken_ns[CACHED_MODES]; /* by the wall clock */
	double runtime_s, ramp_s;      /* of each mode */
	struct abd_perf_latency latency[CACHED_MODES];
	unsigned errors; /* reads that failed */
};

/**
 * Runtime and ramp of each mode in seconds: those asked for; or 10 and 1 with --full (OpenZFS reads
 * for 180), else 0.45 and 0.05.
 */
double abd_perf_cached_runtime_s(const struct abd_perf_options *options);
double abd_perf_cached_ramp_s(const struct abd_perf_options *options);

/** Measure with threads threads, a file each. False: stopped before one round was complete. */
bool abd_perf_cached_time_run(
	struct abd_perf_cached_time *time, const struct abd_perf_cached_set *set, unsigned threads);

#endif
