/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A race: several paths, which are ways to do the same work, interleaved in one process. So a busy
 * neighbour or a change of the CPU's clock slows all of them alike. In each round every path is
 * called once, in a new random order; ratios are taken within a round.
 *
 * Each path's number of iterations is found once, before the first round, such that a sample lasts
 * about the time asked for. One round more comes first and is thrown away: it warms all up.
 */
#ifndef ABD_PERF_RACE_H
#define ABD_PERF_RACE_H

#include "abd_perf_counter.h"
#include "abd_perf_options.h"
#include "abd_perf_stat.h"

#define ABD_PERF_PATHS_MAX 11

struct abd_perf_path {
	const char *name;
	/*
	 * Do the work iterations times. Returns the ns that took; preparations may be left out.
	 */
	double (*run)(void *arg, uint64_t iterations);
	void *arg;
};

struct abd_perf_race {
	unsigned paths, rounds; /* rounds: those completed */
	bool counts; /* what runs now: false while iterations are found and all is warmed up */
	double ns[ABD_PERF_PATHS_MAX][ABD_PERF_ROUNDS_MAX]; /* per iteration */
	/* the wall clock and the CPU time of a sample, of all CPUs used; context switches of all */
	double wall_ns[ABD_PERF_PATHS_MAX], cpu_ns[ABD_PERF_PATHS_MAX];
	long waits[ABD_PERF_PATHS_MAX], interrupts[ABD_PERF_PATHS_MAX];
	/* counted in a path's samples, and their iterations; only where one thread does all */
	uint64_t counted[ABD_PERF_PATHS_MAX][ABD_PERF_COUNTERS], iterations[ABD_PERF_PATHS_MAX];
	/* how long a loop of arithmetic took in each round; 0: not measured */
	double reference_ns[ABD_PERF_ROUNDS_MAX];
};

/** Measure. False: stopped before a single round was complete, or left out by --filter. */
bool abd_perf_race_run(struct abd_perf_race *race, const struct abd_perf_path *paths,
	unsigned count, const struct abd_perf_options *options);

/** How many CPUs the samples use; abd_perf_crew_make() sets it. */
extern unsigned abd_perf_race_cpus;

/** ns per iteration of a path. */
struct abd_perf_summary abd_perf_race_ns(const struct abd_perf_race *race, unsigned path);
/** The speed of a path in units of work per ns; an iteration does work units. */
struct abd_perf_summary abd_perf_race_rate(
	const struct abd_perf_race *race, unsigned path, double work);
/** How many times as fast path a is as path b. */
struct abd_perf_summary abd_perf_race_ratio(
	const struct abd_perf_race *race, unsigned a, unsigned b);

/** One path raced against itself before all else: the difference is the machine's noise. */
extern struct abd_perf_summary abd_perf_race_noise;
void abd_perf_race_noise_measure(const struct abd_perf_options *options);

#endif
