/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In a slice every thread reads its file, again from the start after its end, until a common
 * deadline, and records how long each read took. Speeds are by the wall clock, from the barrier at
 * which all threads start until the last has ended: waiting for each other counts. Only one thread
 * alone is timed by its CPU time, which leaves out what a shared machine gives to others.
 */
#include "abd_perf_arc_cached_time.h"
#include "abd_perf_clock.h"
#include "abd_perf_crew.h"
#include "abd_perf_filter.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <stdlib.h>
#include <string.h>

/* One thread's state in one mode. */
struct abd_perf_cached_lane {
	size_t at;       /* the next record of its file */
	uint64_t reads;  /* of this slice */
	double taken_ns; /* this slice, of CPU time */
	unsigned errors;
	struct abd_perf_latency latency;
};

struct abd_perf_cached_crew {
	const struct abd_perf_cached_set *set;
	struct abd_perf_crew *crew;
	unsigned threads;
	char *dst[ABD_PERF_CACHED_THREADS];
	struct abd_perf_cached_lane *lane[CACHED_MODES]; /* per mode, one for each thread */
	unsigned mode;                                   /* of this slice */
	double deadline_ns;
};

double abd_perf_cached_runtime_s(const struct abd_perf_options *options)
{
	if (options->runtime_s > 0)
		return options->runtime_s;
	return options->quick ? 0.45 : 10;
}

double abd_perf_cached_ramp_s(const struct abd_perf_options *options)
{
	if (options->warmup_s >= 0)
		return options->warmup_s;
	return options->quick ? 0.05 : 1;
}

/* --repeat; else a round per second of runtime, at least 9. */
static unsigned abd_perf_cached_rounds(const struct abd_perf_options *options)
{
	double seconds = abd_perf_cached_runtime_s(options);

	if (options->repeat != 0)
		return options->repeat;
	if (seconds < 9)
		return 9;
	return seconds < ABD_PERF_ROUNDS_MAX ? (unsigned)seconds : ABD_PERF_ROUNDS_MAX;
}

/* One read: the next piece of the thread's file. Returns how many records could not be read. */
static unsigned abd_perf_cached_read_one(
	const struct abd_perf_cached_crew *crew, struct abd_perf_cached_lane *lane, unsigned member)
{
	const struct abd_perf_cached_set *set = crew->set;
	size_t per_read = set->read_size / set->record_size;
	size_t file = set->records / set->files, first = file * member + lane->at;
	unsigned errors = 0;

	for (size_t i = 0; i < per_read; i++)
		errors += !abd_perf_cached_record(
			set, crew->mode, first + i, crew->dst[member] + i * set->record_size);
	lane->at = lane->at + per_read < file ? lane->at + per_read : 0;
	return errors;
}

static double abd_perf_cached_member(void *arg, unsigned member, uint64_t iterations)
{
	struct abd_perf_cached_crew *crew = arg;
	struct abd_perf_cached_lane *lane = &crew->lane[crew->mode][member];
	double begun = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID), now,
	       last = abd_perf_clock_wall_ns();

	(void)iterations;
	lane->reads = 0;
	/* At least one read, so that a thread that gets its processor late has a figure too. */
	do {
		lane->errors += abd_perf_cached_read_one(crew, lane, member);
		now = abd_perf_clock_wall_ns();
		abd_perf_latency_add(&lane->latency, now - last);
		lane->reads++;
		last = now;
	} while (last < crew->deadline_ns);
	lane->taken_ns = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID) - begun;
	return 1;
}

/* Read in one mode for one slice. Returns the crew's reads per ns; *wall_ns: the slice's length. */
static double abd_perf_cached_slice(
	struct abd_perf_cached_crew *crew, unsigned mode, double slice_ns, double *wall_ns)
{
	double begun = abd_perf_clock_wall_ns(), taken_ns = 0;
	uint64_t reads = 0;

	crew->mode = mode;
	crew->deadline_ns = begun + slice_ns;
	abd_perf_crew_run(crew->crew, abd_perf_cached_member, crew, 1);
	*wall_ns = abd_perf_clock_wall_ns() - begun;
	for (unsigned i = 0; i < crew->threads; i++) {
		const struct abd_perf_cached_lane *lane = &crew->lane[mode][i];

		reads += lane->reads;
		taken_ns += lane->taken_ns;
	}
	return (double)reads / (crew->threads == 1 ? taken_ns : *wall_ns);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void abd_perf_cached_merge(
	const struct abd_perf_cached_crew *crew, unsigned mode, struct abd_perf_latency *latency)
{
	memset(latency, 0, sizeof(*latency));
	for (unsigned i = 0; i < crew->threads; i++)
		abd_perf_latency_merge(latency, &crew->lane[mode][i].latency);
}

static void abd_perf_cached_tick(const struct abd_perf_cached_time *time,
	const struct abd_perf_cached_crew *crew, unsigned mode, double rate)
{
	static struct abd_perf_latency latency;
	char median[16], high[16];

	abd_perf_cached_merge(crew, mode, &latency);
	abd_perf_latency_text(abd_perf_latency_percentile(&latency, 50), median);
	abd_perf_latency_text(abd_perf_latency_percentile(&latency, 99), high);
	abd_perf_say_tick("  %s, %u thread%s, %.0f of %.0f s: %.2f GB/s; so far p50 %s, p99 %s",
		abd_perf_cached_name[mode], crew->threads, crew->threads > 1 ? "s" : "",
		time->taken_ns[mode] / 1e9, time->runtime_s, rate * (double)crew->set->read_size,
		median, high);
}

/* Read one slice in every mode. During the ramp (counts is false) nothing is recorded. */
static void abd_perf_cached_round(struct abd_perf_cached_time *time,
	struct abd_perf_cached_crew *crew, double slice_ns, bool counts, uint64_t *random)
{
	uint32_t order[CACHED_MODES];

	for (uint32_t i = 0; i < CACHED_MODES; i++)
		order[i] = i;
	abd_perf_shuffle(order, CACHED_MODES, random);
	for (unsigned i = 0; i < CACHED_MODES; i++) {
		unsigned mode = order[i];
		struct abd_perf_race_clocks before = abd_perf_race_clocks_read();
		double wall_ns, rate = abd_perf_cached_slice(crew, mode, slice_ns, &wall_ns);

		if (!counts)
			continue;
		abd_perf_race_clocks_add(&time->race, mode, &before);
		time->race.ns[mode][time->race.rounds] = 1 / rate;
		time->taken_ns[mode] += wall_ns;
		if (slice_ns > 0.5e9)
			abd_perf_cached_tick(time, crew, mode, rate);
	}
	if (counts)
		time->race.reference_ns[time->race.rounds++] = abd_perf_race_reference_ns();
}

static void abd_perf_cached_ramp(
	struct abd_perf_cached_time *time, struct abd_perf_cached_crew *crew, uint64_t *random)
{
	if (time->ramp_s > 0)
		abd_perf_cached_round(time, crew, time->ramp_s * 1e9, false, random);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++)
		for (unsigned i = 0; i < crew->threads; i++)
			memset(&crew->lane[mode][i].latency, 0, sizeof(struct abd_perf_latency));
}

static void abd_perf_cached_crew_begin(
	struct abd_perf_cached_crew *crew, const struct abd_perf_cached_set *set, unsigned threads)
{
	*crew = (struct abd_perf_cached_crew){.set = set, .threads = threads};
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		crew->lane[mode] = calloc(threads, sizeof(struct abd_perf_cached_lane));
		if (crew->lane[mode] == NULL)
			abd_perf_say_die(1, "no memory for the threads' figures");
	}
	for (unsigned i = 0; i < threads; i++) {
		crew->dst[i] = aligned_alloc(4096, (set->read_size + 4095) / 4096 * 4096);
		if (crew->dst[i] == NULL)
			abd_perf_say_die(1, "no memory to decode into");
	}
	crew->crew = abd_perf_crew_make(threads, set->options);
	if (crew->crew == NULL)
		abd_perf_say_die(1, "%u threads can't be started", threads);
}

static void abd_perf_cached_crew_end(
	struct abd_perf_cached_crew *crew, struct abd_perf_cached_time *time)
{
	abd_perf_crew_end(crew->crew);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		abd_perf_cached_merge(crew, mode, &time->latency[mode]);
		for (unsigned i = 0; i < crew->threads; i++)
			time->errors += crew->lane[mode][i].errors;
		free(crew->lane[mode]);
	}
	for (unsigned i = 0; i < crew->threads; i++)
		free(crew->dst[i]);
}

bool abd_perf_cached_time_run(
	struct abd_perf_cached_time *time, const struct abd_perf_cached_set *set, unsigned threads)
{
	unsigned rounds = abd_perf_cached_rounds(set->options);
	uint64_t random = set->options->seed;
	struct abd_perf_cached_crew crew;

	memset(time, 0, sizeof(*time));
	if (!abd_perf_filter_passes())
		return false;
	time->race.paths = CACHED_MODES;
	time->runtime_s = abd_perf_cached_runtime_s(set->options);
	time->ramp_s = abd_perf_cached_ramp_s(set->options);
	abd_perf_cached_crew_begin(&crew, set, threads);
	abd_perf_cached_ramp(time, &crew, &random);
	while (time->race.rounds < rounds && !abd_perf_stop_wanted())
		abd_perf_cached_round(time, &crew, time->runtime_s * 1e9 / rounds, true, &random);
	abd_perf_cached_crew_end(&crew, time);
	return time->race.rounds > 0;
}
