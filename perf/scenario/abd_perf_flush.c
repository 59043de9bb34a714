/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush: durable copies by policy, size, destination and number of writers; AUTO against the best
 * fixed policy, and libpmem.
 *
 * Source: linux-kernel and dm-devel, "x86: introduce memcpy_flushcache_clflushopt", April 2020: two
 * tables, on Optane. A log, whose one writer takes a lock for each copy of 512 to 4,096 bytes, and
 * 1 to 5 writers that each store 8 bytes after 8 bytes. Here memory is ordinary DRAM: the figures
 * show what it costs the CPU to write past the cache or to flush it, not how fast persistent memory
 * accepts data.
 *
 *   fresh  the threads walk over 512 MiB (128 MiB without --full): lines are no longer in this
 *          core's own caches when they are written
 *   hot    the same bytes are written again and again
 * The source of the copies is ordinary memory, which stays in the cache if it fits.
 */
#include "abd_perf_flush_way.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <stdio.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { LINEAR = ABD_PERF_FLUSH_LINEAR, SCATTERED = ABD_PERF_FLUSH_SCATTERED };

/* What the source published: of speeds, through the cache over around it. */
#define OPTANE " GB/s around, through the cache (dm-devel, 2020, Optane)"

static const struct abd_perf_said flush_log[] = {
	{"flush", 373 / 496., "0.496, 0.373" OPTANE}, /* of 512 bytes */
	{"flush", 688 / 642., "0.642, 0.688" OPTANE},
	{"flush", 1100 / 725., "0.725, 1.1" OPTANE},
	{"flush", 1200 / 744., "0.744, 1.2" OPTANE},
};
static const struct abd_perf_said flush_writers[] = {
	{"flush", 1.6 / 1.3, "1.3, 1.6" OPTANE}, /* by one */
	{"flush", 2.4 / 2.5, "2.5, 2.4" OPTANE},
	{"flush", 1.7 / 2.8, "2.8, 1.7" OPTANE},
	{"flush", 1.2 / 2.8, "2.8, 1.2" OPTANE},
	{"flush", 0.8 / 2.5, "2.5, 0.8" OPTANE},
};

/* Ratios of AUTO to the fixed policy with the highest median, and to libpmem. */
static void flush_compare(
	json_t *result, const struct abd_perf_race *race, const struct abd_perf_flush_way *ways)
{
	unsigned best = 0;

	for (unsigned i = 1; i < race->paths; i++) {
		if (ways[i].kind == ABD_PERF_FLUSH_PMEM ||
			ways[i].kind == ABD_PERF_FLUSH_PMEM_LOOP ||
			ways[i].kind == ABD_PERF_FLUSH_AROUND)
			abd_perf_result_ratio(result, "AUTO", ways[i].name,
				abd_perf_race_ratio(race, 0, i), 0, NULL);
		else if (ways[i].kind != ABD_PERF_FLUSH_POLICY)
			continue;
		else if (best == 0 ||
			 abd_perf_race_ns(race, i).median < abd_perf_race_ns(race, best).median)
			best = i;
	}
	if (best == 0)
		return;
	abd_perf_result_text(result, "best", ways[best].name);
	abd_perf_result_ratio(
		result, "AUTO", "best", abd_perf_race_ratio(race, 0, best), 0.95, NULL);
}

static void flush_record(const struct abd_perf_flush_cell *cell, const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_flush_way *ways)
{
	json_t *result = abd_perf_result_add("flush", cell->group, "%s", cell->what);
	bool log = strcmp(cell->group, "log") == 0;

	abd_perf_result_text(result, "destination", abd_perf_flush_place_name[cell->place]);
	abd_perf_result_text(result, "state", cell->hot ? "hot" : "fresh");
	abd_perf_result_size(result, "size", cell->size);
	abd_perf_result_number(result, "threads", cell->threads);
	abd_perf_result_number(result, "batch", cell->batch);
	abd_perf_result_race(result, race, path, (double)cell->size * cell->batch);
	if (strcmp(cell->group, "drain") == 0)
		abd_perf_result_claims(
			result, race, path, &(struct abd_perf_claim){0, 1, 0, NULL}, 1);
	else
		flush_compare(result, race, ways);
	if (cell->said != NULL)
		abd_perf_result_named(result, race, path, log ? "clflushopt" : "clwb by words",
			log ? "movnti" : "movnti by words", 0, cell->said);
}

static int flush_cell(
	const struct abd_perf_flush_cell *cell, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	static struct abd_perf_flush_case work[ABD_PERF_PATHS_MAX];
	static struct abd_perf_flush_way ways[ABD_PERF_PATHS_MAX];
	struct abd_perf_path path[ABD_PERF_PATHS_MAX];
	unsigned count;

	abd_perf_say_step("%s, %s, %s, %zu bytes, %u thread%s", cell->group,
		abd_perf_flush_place_name[cell->place], cell->hot ? "hot" : "fresh", cell->size,
		cell->threads, cell->threads > 1 ? "s" : "");
	if (!abd_perf_say_wanted() || abd_perf_say_stopped())
		return 0;
	count = abd_perf_flush_ways(ways, cell, options->quick);
	if (!abd_perf_flush_cases(work, ways, count, cell, options->plant))
		return 1;
	for (unsigned i = 0; i < count; i++)
		path[i] = (struct abd_perf_path){ways[i].name, abd_perf_flush_run_case, &work[i]};
	abd_perf_flush_crew = abd_perf_crew_make(cell->threads, options);
	if (abd_perf_flush_crew == NULL)
		abd_perf_say_die(1, "%u threads can't be started", cell->threads);
	if (abd_perf_race_run(&race, path, count, options))
		flush_record(cell, &race, path, ways);
	abd_perf_crew_end(abd_perf_flush_crew);
	abd_perf_place_restore("flush");
	return 0;
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static const size_t flush_sizes[] = {
	64, 256, 512, KIB, 2 * KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB};

/* Of a size, or of all; without --full three of those that are measured for their own sake. */
static bool flush_wanted(size_t size, const struct abd_perf_options *options)
{
	if (options->record_size != 0)
		return size == options->record_size;
	return !options->quick || size == 64 || size == 4 * KIB || size == 64 * KIB;
}

/* The source's two tables. */
static int flush_by_source(const struct abd_perf_options *options)
{
	struct abd_perf_flush_cell log = {
		"log", "a log: one writer, a lock, a fence", LINEAR, 512, false, 1, 1, flush_log};
	struct abd_perf_flush_cell writers = {"writers", "8 bytes after 8 bytes, a drain per 4 KiB",
		LINEAR, 8, false, 512, 1, flush_writers};
	int status = 0;

	for (; log.size <= 4 * KIB && status == 0; log.size *= 2, log.said++)
		if (options->record_size == 0 || log.size == options->record_size)
			status = flush_cell(&log, options);
	for (; writers.threads <= 5 && status == 0 && options->record_size == 0;
		writers.threads++, writers.said++)
		status = flush_cell(&writers, options);
	return status;
}

static int flush_by_size(size_t size, const struct abd_perf_options *options)
{
	static const char one[] = "one copy, one fence";
	const struct abd_perf_flush_cell cell[] = {
		{"size", one, LINEAR, size, false, 1, 1, NULL},
		{"size", one, LINEAR, size, true, 1, 1, NULL},
		{"size", one, SCATTERED, size, false, 1, 1, NULL},
		{"size", one, SCATTERED, size, true, 1, 1, NULL},
		/* 16 copies per fence, so that fences don't hide the cost of the calls. */
		{"size", "16 copies, one drain", LINEAR, size, false, 16, 1, NULL},
		{"drain", "16 copies", LINEAR, size, false, 16, 1, NULL},
	};
	unsigned count = size <= 64 * KIB ? 6 : 4;
	int status = 0;

	for (unsigned i = 0; i < count && status == 0; i++)
		status = flush_cell(&cell[i], options);
	return status;
}

static int flush_by_threads(const struct abd_perf_options *options, unsigned threads)
{
	static const size_t size[] = {KIB, 4 * KIB, 64 * KIB, 64 * KIB, MIB};
	int status = 0;

	for (size_t i = 0; i < 5 && status == 0; i++) {
		struct abd_perf_flush_cell cell = {"threads", "one copy, one fence",
			i == 3 ? SCATTERED : LINEAR, size[i], false, 1, threads, NULL};

		if (options->record_size == 0 || cell.size == options->record_size)
			status = flush_cell(&cell, options);
	}
	return status;
}

/* The crossovers of this machine, as the library finds them. */
static void flush_plans(void)
{
	static const char *const names[] = {"flush_auto", "flush_shared", "flush_exclusive"};

	abd_perf_say_step("plans, by abd_flush_calibrate()");
	if (!abd_perf_say_wanted() || abd_perf_say_stopped())
		return;
	if (abd_flush_calibrate() != 0)
		abd_perf_say_die(1, "no memory to calibrate");
	for (unsigned i = 0; i < 3; i++) {
		const char *plan = abd_tuning_get(names[i]);
		json_t *result = abd_perf_result_add("flush", "plan", "%s", names[i]);
		char text[256];

		snprintf(text, sizeof(text), "%.*s", (int)strcspn(plan, " "), plan);
		abd_perf_result_text(result, "plan", text);
		abd_perf_place_tune(names[i], "auto");
	}
}

static int flush_scenario(const struct abd_perf_options *options)
{
	unsigned first = options->threads != 0 ? options->threads : 2,
		 last = options->threads != 0 ? options->threads : options->cpu_count;
	int status = 0;

	last = last < ABD_PERF_FLUSH_THREADS_MAX ? last : ABD_PERF_FLUSH_THREADS_MAX;
	abd_perf_say_begin("flush", options->quick ? 31 : 80);
	abd_perf_flush_memory((options->quick ? 128 : 512) * MIB, options->seed);
	if (options->threads == 0)
		status = flush_by_source(options);
	for (size_t i = 0; i < sizeof(flush_sizes) / sizeof(flush_sizes[0]); i++)
		if (options->threads == 0 && status == 0 && flush_wanted(flush_sizes[i], options))
			status = flush_by_size(flush_sizes[i], options);
	if (options->threads == 0 && options->record_size == 0 && status == 0)
		flush_plans();
	/* Of one thread the copies of flush_by_size() are the same. */
	for (unsigned threads = first; status == 0 && threads <= last; threads *= 2)
		status = flush_by_threads(options, threads);
	abd_perf_flush_memory_free();
	return status;
}

const struct abd_perf_scenario abd_perf_flush = {
	.name = "flush",
	.summary = "durable copies: every policy by size, destination and writers; AUTO against "
		   "the best of them and libpmem",
	.uses = ABD_PERF_USES_THREADS | ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 14,
	.full_s = 105,
	.claim = {"flush: (log|writers), .*", 6},
	.headline = {"flush: log, .*", 3, 2},
	.run = flush_scenario,
};
