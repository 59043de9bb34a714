/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each thread reads its own files, again from the start after their end. The modes are the paths of
 * a race, so a ratio is taken within a round.
 */
#include "abd_perf_arc_cached_crew.h"
#include "abd_perf_clock.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

/* One read: the next piece of the thread's files. Returns how many records could not be read. */
static unsigned abd_perf_cached_read_one(
	const struct abd_perf_cached_path *path, struct abd_perf_cached_lane *lane, unsigned member)
{
	const struct abd_perf_cached_set *set = path->crew->set;
	size_t per_read = set->read_size / set->record_size;
	size_t file = set->records / path->crew->threads, first = file * member + lane->at;
	unsigned errors = 0;

	for (size_t i = 0; i < per_read; i++)
		errors += !abd_perf_cached_record(
			set, path->mode, first + i, path->crew->dst[member] + i * set->record_size);
	lane->at = lane->at + per_read < file ? lane->at + per_read : 0;
	return errors;
}

static double abd_perf_cached_member(void *arg, unsigned member, uint64_t iterations)
{
	const struct abd_perf_cached_path *path = arg;
	struct abd_perf_cached_lane *lane = &path->lane[member];
	double begun = abd_perf_clock_ns(), last = abd_perf_clock_wall_ns(), now;

	for (; iterations > 0; iterations--, last = now) {
		lane->errors += abd_perf_cached_read_one(path, lane, member);
		now = abd_perf_clock_wall_ns();
		if (path->crew->race.counts)
			abd_perf_latency_add(&lane->latency, now - last);
	}
	return abd_perf_clock_ns() - begun;
}

/* An iteration is a read by each thread: a sample lasts as long with many threads as with one. */
static double abd_perf_cached_path_run(void *arg, uint64_t iterations)
{
	struct abd_perf_cached_path *path = arg;

	return abd_perf_crew_run(path->crew->crew, abd_perf_cached_member, path, iterations) *
	       path->crew->threads;
}

static void abd_perf_cached_crew_begin(struct abd_perf_cached_crew *crew)
{
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		crew->mode[mode] = (struct abd_perf_cached_path){.crew = crew,
			.mode = mode,
			.lane = calloc(crew->threads, sizeof(struct abd_perf_cached_lane))};
		if (crew->mode[mode].lane == NULL)
			abd_perf_say_die(1, "no memory for the threads' figures");
	}
	for (unsigned i = 0; i < crew->threads; i++) {
		crew->dst[i] = aligned_alloc(4096, (crew->set->read_size + 4095) / 4096 * 4096);
		if (crew->dst[i] == NULL)
			abd_perf_say_die(1, "no memory to decode into");
	}
	crew->crew = abd_perf_crew_make(crew->threads, crew->set->options);
	if (crew->crew == NULL)
		abd_perf_say_die(1, "%u threads can't be started", crew->threads);
}

static void abd_perf_cached_crew_end(struct abd_perf_cached_crew *crew)
{
	abd_perf_crew_end(crew->crew);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		struct abd_perf_cached_path *path = &crew->mode[mode];

		for (unsigned i = 0; i < crew->threads; i++) {
			abd_perf_latency_merge(&path->latency, &path->lane[i].latency);
			crew->errors += path->lane[i].errors;
		}
		free(path->lane);
	}
	for (unsigned i = 0; i < crew->threads; i++)
		free(crew->dst[i]);
}

bool abd_perf_cached_measure(
	struct abd_perf_cached_crew *crew, const struct abd_perf_cached_set *set, unsigned threads)
{
	struct abd_perf_options options = *set->options;
	struct abd_perf_path path[CACHED_MODES];
	bool quick = options.quick, measured;

	memset(crew, 0, sizeof(*crew));
	crew->set = set;
	crew->threads = threads;
	crew->runtime_s = options.runtime_s > 0 ? options.runtime_s : quick ? 0.2 : 10;
	crew->ramp_s = options.warmup_s >= 0 ? options.warmup_s : quick ? 0.05 : 1;
	options.runtime_s = crew->runtime_s * CACHED_MODES;
	options.warmup_s = crew->ramp_s * CACHED_MODES;
	abd_perf_cached_crew_begin(crew);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++)
		path[mode] = (struct abd_perf_path){
			abd_perf_cached_name[mode], abd_perf_cached_path_run, &crew->mode[mode]};
	measured = abd_perf_race_run(&crew->race, path, CACHED_MODES, &options);
	abd_perf_cached_crew_end(crew);
	return measured;
}
