/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush: durable copies by policy, size, destination and number of writers; AUTO against the best
 * fixed policy, and libpmem.
 *
 * Source: linux-kernel and dm-devel, "x86: introduce memcpy_flushcache_clflushopt", April 2020: its
 * two tables, sequential writes per number of threads and throughput per block size, on Optane.
 * Here memory is ordinary DRAM: the figures show what it costs the CPU to write past the cache or
 * to flush it, not how fast persistent memory accepts data.
 */
#include "abd_perf_clock.h"
#include "abd_perf_crew.h"
#include "abd_perf_flush_work.h"
#include "abd_perf_place.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { LINEAR, SCATTERED, PLACES };

static const char *const abd_perf_flush_place_name[] = {"linear", "scattered"};

static const size_t abd_perf_flush_sizes[] = {
	64, 256, 512, KIB, 2 * KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB};

/*
 * Policies, the most interesting first. Those that this CPU has are raced, up to the number of
 * paths that a race takes. The last ones can be left out: nt-sse2 copies as nt-avx2 does, and
 * clflush, which flushes one line at a time, can't win.
 */
static const char *const abd_perf_flush_policies[] = {"movdir64b", "nt-avx512", "nt-avx2", "movnti",
	"clwb", "clflushopt", "cvap", "cvac", "nt-sse2", "clflush", NULL};

struct abd_perf_flush_cell {
	const char *group; /* "size", "threads", "drain" */
	const char *what;
	const struct abd_perf_flush_place *place;
	size_t size;
	bool hot;
	unsigned batch;
	unsigned threads;
};

static struct abd_perf_flush_place abd_perf_flush_place[PLACES];
static char *abd_perf_flush_source;
static struct abd_perf_crew *abd_perf_flush_crew;

/* ---- ways ------------------------------------------------------------------------------------ */

/* AUTO first, then the fixed policies, then libpmem. Returns how many. */
static unsigned abd_perf_flush_ways(struct abd_perf_flush_way *ways, bool runs)
{
	unsigned count = 0, pmem = abd_perf_flush_pmem_here() ? (runs ? 2 : 1) : 0;

	ways[count++] = (struct abd_perf_flush_way){"AUTO", abd_perf_place_found("flush"), false};
	for (unsigned i = 0;
		abd_perf_flush_policies[i] != NULL && count + pmem < ABD_PERF_PATHS_MAX; i++) {
		const char *policy = abd_perf_flush_policies[i];

		if (abd_tuning_set("flush", policy) == 0)
			ways[count++] = (struct abd_perf_flush_way){policy, policy, false};
	}
	abd_perf_place_restore("flush");
	if (pmem > 0)
		ways[count++] = (struct abd_perf_flush_way){"libpmem", NULL, false};
	if (pmem > 1)
		ways[count++] = (struct abd_perf_flush_way){"libpmem, own loop", NULL, true};
	return count;
}

/* The copies of several threads, each of which times itself. */
static double abd_perf_flush_together(void *arg, uint64_t iterations)
{
	struct abd_perf_flush_case *work = arg;

	abd_perf_flush_way_use(work->way);
	return abd_perf_crew_run(abd_perf_flush_crew, abd_perf_flush_member, work, iterations);
}

/* ---- measuring ------------------------------------------------------------------------------- */

static json_t *abd_perf_flush_record(const struct abd_perf_flush_cell *cell,
	const struct abd_perf_race *race, const struct abd_perf_path *path)
{
	json_t *result = abd_perf_result_add("flush", cell->group, "%s", cell->what);
	double bytes = (double)cell->size * cell->batch;

	abd_perf_result_text(result, "destination",
		abd_perf_flush_place_name[cell->place - abd_perf_flush_place]);
	abd_perf_result_text(result, "state", cell->hot ? "hot" : "fresh");
	abd_perf_result_size(result, "size", cell->size);
	abd_perf_result_number(result, "threads", cell->threads);
	abd_perf_result_number(result, "batch", cell->batch);
	abd_perf_result_race(result, race, path, bytes);
	return result;
}

/* Ratios of AUTO to the fixed policy with the highest median, and to libpmem. */
static void abd_perf_flush_compare(
	json_t *result, const struct abd_perf_race *race, const struct abd_perf_flush_way *ways)
{
	unsigned best = 0;

	for (unsigned i = 1; i < race->paths; i++) {
		if (ways[i].policy == NULL)
			abd_perf_result_ratio(result, "AUTO", ways[i].name,
				abd_perf_race_ratio(race, 0, i), 0, NULL);
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

/* Whether each way copies correctly. plant: damage a copy first, which must be noticed. */
static bool abd_perf_flush_check(const struct abd_perf_flush_case *work, unsigned count, bool plant)
{
	bool same = true;

	for (unsigned i = 0; i < count; i++) {
		struct abd_perf_flush_case one = work[i];
		abd_t *dst = one.place->dst;

		one.batch = 1;
		abd_perf_flush_walk[0].at = 0;
		abd_zero_off(dst, 0, one.size);
		abd_perf_flush_alone(&one, 1);
		if (plant)
			abd_copy_from_buf_off(dst, "", one.size - 1, 1);
		if (!abd_equal_buf_off(dst, one.source, 0, one.size)) {
			fprintf(stderr, "flush: %s copied %zu bytes wrong\n", one.way->name,
				one.size);
			same = false;
		}
	}
	return same;
}

static int abd_perf_flush_cell(
	const struct abd_perf_flush_cell *cell, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	static struct abd_perf_flush_case work[ABD_PERF_PATHS_MAX];
	static struct abd_perf_flush_way ways[ABD_PERF_PATHS_MAX];
	struct abd_perf_path path[ABD_PERF_PATHS_MAX];
	bool runs = cell->place->linear == NULL && cell->size > 4 * KIB;
	unsigned count = abd_perf_flush_ways(ways, runs);
	size_t region = cell->hot ? cell->size : cell->place->size / cell->threads;

	abd_perf_say_step("%s, %s, %zu bytes, %u threads",
		abd_perf_flush_place_name[cell->place - abd_perf_flush_place],
		cell->hot ? "hot" : "fresh", cell->size, cell->threads);
	for (unsigned i = 0; i < count; i++) {
		memset(&work[i], 0, sizeof(work[i]));
		work[i].way = &ways[i];
		work[i].place = cell->place;
		work[i].source = abd_perf_flush_source;
		work[i].size = cell->size;
		work[i].batch = cell->batch;
		work[i].threads = cell->threads;
		work[i].region = region & ~(size_t)4095;
		if (cell->hot)
			work[i].region = cell->size;
		path[i] = (struct abd_perf_path){ways[i].name,
			cell->threads > 1 ? abd_perf_flush_together : abd_perf_flush_alone,
			&work[i]};
	}
	if (!abd_perf_flush_check(work, count, options->plant))
		return 1;
	memset(abd_perf_flush_walk, 0, sizeof(abd_perf_flush_walk));
	if (abd_perf_race_run(&race, path, count, options))
		abd_perf_flush_compare(abd_perf_flush_record(cell, &race, path), &race, ways);
	abd_perf_place_restore("flush");
	return 0;
}

/* 16 copies, each with its own fence, against 16 copies with NODRAIN and one drain. */
static void abd_perf_flush_drains(size_t size, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_flush_way way = {"AUTO", abd_perf_place_found("flush"), false};
	static struct abd_perf_flush_case work[2];
	struct abd_perf_path path[] = {
		{"NODRAIN, one drain", abd_perf_flush_alone, &work[0]},
		{"ordered", abd_perf_flush_alone, &work[1]},
	};
	struct abd_perf_flush_cell cell = {
		"drain", "16 copies", &abd_perf_flush_place[LINEAR], size, false, 16, 1};

	abd_perf_say_step("16 copies of %zu bytes, one drain", size);
	for (unsigned i = 0; i < 2; i++) {
		memset(&work[i], 0, sizeof(work[i]));
		work[i].way = &way;
		work[i].place = cell.place;
		work[i].source = abd_perf_flush_source;
		work[i].size = size;
		work[i].batch = cell.batch;
		work[i].drain_each = i == 1;
		work[i].threads = 1;
		work[i].region = cell.place->size;
	}
	memset(abd_perf_flush_walk, 0, sizeof(abd_perf_flush_walk));
	if (abd_perf_race_run(&race, path, 2, options))
		abd_perf_result_claims(abd_perf_flush_record(&cell, &race, path), &race, path,
			&(struct abd_perf_claim){0, 1, 0, NULL}, 1);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void abd_perf_flush_memory(const struct abd_perf_options *options)
{
	size_t size = (options->quick ? 128 : 512) * MIB;
	uint64_t random = options->seed;

	abd_perf_flush_source = abd_buf_alloc(16 * MIB, false);
	/*
	 * On huge pages when the system has some, as the provider's runs are: TLB misses are not
	 * what is measured.
	 */
	abd_perf_flush_place[LINEAR].linear = aligned_alloc(2 * MIB, size);
	if (abd_perf_flush_place[LINEAR].linear != NULL) {
		madvise(abd_perf_flush_place[LINEAR].linear, size, MADV_HUGEPAGE);
		abd_perf_flush_place[LINEAR].dst =
			abd_get_from_buf(abd_perf_flush_place[LINEAR].linear, size);
	}
	abd_perf_place_tune("max_order", "0");
	abd_perf_flush_place[SCATTERED].dst = abd_alloc(size, false);
	abd_perf_place_tune("max_order", "10");
	if (abd_perf_flush_source == NULL || abd_perf_flush_place[LINEAR].dst == NULL ||
		abd_perf_flush_place[SCATTERED].dst == NULL)
		abd_perf_say_die(1, "no memory for two destinations of %zu MiB", size / MIB);
	abd_perf_place_shuffle(&abd_perf_flush_place[SCATTERED].dst, 1);
	for (size_t i = 0; i < 16 * MIB; i++)
		/* never zero, so that a planted byte shows */
		abd_perf_flush_source[i] = (char)(abd_perf_random(&random) | 1);
	for (unsigned i = 0; i < PLACES; i++) {
		abd_perf_flush_place[i].size = size;
		abd_zero(abd_perf_flush_place[i].dst, size);
	}
}

static void abd_perf_flush_memory_free(void)
{
	abd_buf_free(abd_perf_flush_source, 16 * MIB);
	for (unsigned i = 0; i < PLACES; i++)
		abd_free(abd_perf_flush_place[i].dst);
	free(abd_perf_flush_place[LINEAR].linear);
	abd_cache_reap_now();
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static bool abd_perf_flush_wanted(size_t size, const struct abd_perf_options *options)
{
	if (options->record_size != 0)
		return size == options->record_size;
	return !options->quick || size == 64 || size == 4 * KIB || size == 64 * KIB;
}

/*
 * The source's cells are always measured: 512 to 4096 bytes, one writer, memory in one piece, lines
 * not in the cache.
 */
static bool abd_perf_flush_cell_wanted(
	const struct abd_perf_flush_cell *cell, const struct abd_perf_options *options)
{
	bool source = cell->size >= 512 && cell->size <= 4 * KIB && !cell->hot &&
		      cell->place == &abd_perf_flush_place[LINEAR];

	return abd_perf_flush_wanted(cell->size, options) || (source && options->record_size == 0);
}

static int abd_perf_flush_by_size(const struct abd_perf_options *options)
{
	int status = 0;

	for (size_t i = 0; i < sizeof(abd_perf_flush_sizes) / sizeof(abd_perf_flush_sizes[0]); i++)
		for (unsigned j = 0; j < 2 * PLACES && status == 0 && !abd_perf_stop_wanted();
			j++) {
			struct abd_perf_flush_cell cell = {"size", "one copy, one fence",
				&abd_perf_flush_place[j / 2], abd_perf_flush_sizes[i], j % 2 == 1,
				1, 1};

			if (abd_perf_flush_cell_wanted(&cell, options))
				status = abd_perf_flush_cell(&cell, options);
		}
	return status;
}

/* 16 copies per fence, so that fences don't hide the cost of the calls. */
static int abd_perf_flush_by_batch(const struct abd_perf_options *options)
{
	int status = 0;

	for (size_t size = 64; size <= 64 * KIB && status == 0 && !abd_perf_stop_wanted();
		size *= 4) {
		struct abd_perf_flush_cell cell = {"size", "16 copies, one drain",
			&abd_perf_flush_place[LINEAR], size, false, 16, 1};

		if (abd_perf_flush_wanted(size, options)) {
			status = abd_perf_flush_cell(&cell, options);
			abd_perf_flush_drains(size, options);
		}
	}
	return status;
}

static int abd_perf_flush_by_threads(const struct abd_perf_options *options, unsigned threads)
{
	static const struct abd_perf_flush_cell cells[] = {
		{"threads", "sequential lines, a drain per 4 KiB", &abd_perf_flush_place[LINEAR],
			64, false, 64, 0},
		{"threads", "one copy, one fence", &abd_perf_flush_place[LINEAR], KIB, false, 1, 0},
		{"threads", "one copy, one fence", &abd_perf_flush_place[LINEAR], 4 * KIB, false, 1,
			0},
		{"threads", "one copy, one fence", &abd_perf_flush_place[LINEAR], 64 * KIB, false,
			1, 0},
		{"threads", "one copy, one fence", &abd_perf_flush_place[SCATTERED], 64 * KIB,
			false, 1, 0},
		{"threads", "one copy, one fence", &abd_perf_flush_place[LINEAR], MIB, false, 1, 0},
	};
	int status = 0;

	abd_perf_flush_crew = abd_perf_crew_make(threads, options);
	if (abd_perf_flush_crew == NULL)
		abd_perf_say_die(1, "no memory for %u threads", threads);
	for (size_t i = 0;
		i < sizeof(cells) / sizeof(cells[0]) && status == 0 && !abd_perf_stop_wanted();
		i++) {
		struct abd_perf_flush_cell cell = cells[i];

		cell.threads = threads;
		if (options->record_size == 0 || cell.size == options->record_size)
			status = abd_perf_flush_cell(&cell, options);
	}
	abd_perf_crew_end(abd_perf_flush_crew);
	return status;
}

static int abd_perf_flush_run(const struct abd_perf_options *options)
{
	unsigned all = options->cpu_count < ABD_PERF_FLUSH_THREADS_MAX ? options->cpu_count
								       : ABD_PERF_FLUSH_THREADS_MAX;
	int status = 0;

	abd_perf_say_begin("flush", options->quick ? 27 : 74);
	abd_perf_flush_memory(options);
	if (options->threads == 0)
		status = abd_perf_flush_by_size(options);
	if (options->threads == 0 && status == 0)
		status = abd_perf_flush_by_batch(options);
	if (status == 0 && options->threads != 0 && options->threads <= ABD_PERF_FLUSH_THREADS_MAX)
		status = abd_perf_flush_by_threads(options, options->threads);
	for (unsigned threads = 1; status == 0 && options->threads == 0 && threads <= all;
		threads *= 2)
		status = abd_perf_flush_by_threads(options, threads);
	abd_perf_flush_memory_free();
	return status;
}

const struct abd_perf_scenario abd_perf_flush = {
	.name = "flush",
	.summary = "durable copies: every policy by size, destination and writers; AUTO against "
		   "the best of them and libpmem",
	.uses = ABD_PERF_USES_THREADS | ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 17,
	.full_s = 105,
	.run = abd_perf_flush_run,
};
