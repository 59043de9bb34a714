/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A race: several ways to do the same, interleaved in one process, so that a neighbour on the
 * machine or a clock that changes slows all of them alike. In each round every path runs once, in
 * an order drawn anew; ratios are taken within a round.
 *
 * Invariant: a sample lasts at least the time asked for; the count of iterations that takes is
 * found once per path, before.
 */
#ifndef ABD_PERF_RACE_H
#define ABD_PERF_RACE_H

#include "abd_perf_options.h"
#include "abd_perf_stat.h"

#define ABD_PERF_PATHS_MAX 8

struct abd_perf_path {
	const char *name;
	/*
	 * Do the work iterations times; returns the ns it took, in which preparations need not be
	 * counted.
	 */
	double (*run)(void *arg, uint64_t iterations);
	void *arg;
};

struct abd_perf_race {
	unsigned paths, rounds;                             /* rounds: those completed */
	double ns[ABD_PERF_PATHS_MAX][ABD_PERF_ROUNDS_MAX]; /* per iteration */
	/* abd_perf_race_reference_ns() in each round; 0: not asked */
	double reference_ns[ABD_PERF_ROUNDS_MAX];
};

/** Run it. False: stopped before a single round was complete, or left out by --filter. */
bool abd_perf_race_run(struct abd_perf_race *race, const struct abd_perf_path *paths,
	unsigned count, const struct abd_perf_options *options);

/**
 * How long a fixed chain of arithmetic takes now: about a millisecond, no memory touched. It
 * follows the clock of the CPU, so runs at different clocks can be told from runs of different
 * code.
 */
double abd_perf_race_reference_ns(void);

/** ns per iteration of a path. */
struct abd_perf_summary abd_perf_race_ns(const struct abd_perf_race *race, unsigned path);
/** work per ns of a path, when an iteration does that much. */
struct abd_perf_summary abd_perf_race_rate(
	const struct abd_perf_race *race, unsigned path, double work);
/** How many times as fast path a is as path b. */
struct abd_perf_summary abd_perf_race_ratio(
	const struct abd_perf_race *race, unsigned a, unsigned b);

/** The same path against itself, run before all else: what differs there is the machine's noise. */
extern struct abd_perf_summary abd_perf_race_noise;
void abd_perf_race_noise_measure(const struct abd_perf_options *options);
/** By how much a ratio must differ from 1 to mean anything here. */
double abd_perf_race_margin(void);

#endif
