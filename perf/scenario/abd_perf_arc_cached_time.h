/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time-based measuring, as fio's time_based: threads read for so many seconds, whatever that comes
 * to, and each read is timed.
 *
 * The modes take turns: in each round every mode reads for one slice (a second, where the runtime
 * allows), in an order drawn anew. So they share the machine's good and bad moments, and a ratio is
 * taken within a round.
 * Invariant: what is counted was read in a slice of its own mode, after the ramp.
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
 * Runtime and ramp of each mode: those asked for, or with --full 10 s (an 18th of the 180 of
 * OpenZFS) after 1, else 0.45 after 0.05.
 */
double abd_perf_cached_runtime_s(const struct abd_perf_options *options);
double abd_perf_cached_ramp_s(const struct abd_perf_options *options);

/** Read with so many threads, a file each. False: stopped before a single round was complete. */
bool abd_perf_cached_time_run(
	struct abd_perf_cached_time *time, const struct abd_perf_cached_set *set, unsigned threads);

#endif
