/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flush: durable copies by policy, size, destination and number of writers; AUTO against the best
 * fixed policy, and libpmem.
 *
 * Source: linux-kernel and dm-devel, "x86: introduce memcpy_flushcache_clflushopt", April 2020: its
 * two tables, sequential writes per number of threads and throughput per block size, on Optane.
 * Here memory is ordinary DRAM: the figures show what it costs the CPU to write past the cache or
 * to flush it, not how fast persistent memory accepts data.
 *
 *   fresh  the threads walk over 512 MiB (128 MiB without --full): lines are no longer in this
 *          core's own caches when they are written
 *   hot    the same bytes are written again and again
 * The source is ordinary memory, which stays in the cache if it fits. libpmem is looked for when
 * the program runs; it chooses its own instructions for this CPU.
 */
#include "abd_perf_crew.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

#define ABD_PERF_FLUSH_THREADS_MAX 64

/* A way to copy: a policy of ours by name, or libpmem. */
struct abd_perf_flush_way {
	const char *name;
	const char *policy; /* value of the tunable "flush"; NULL: libpmem */
	/* libpmem: the caller's loop drains once after all runs; else once after each */
	bool one_drain;
	bool drain_each; /* in a batch: no NODRAIN, so a fence per copy */
};

struct abd_perf_flush_place {
	abd_t *dst;
	char *linear; /* dst's memory, or NULL when dst is in runs */
	size_t size;
};

struct abd_perf_flush_case {
	const struct abd_perf_flush_way *way;
	const struct abd_perf_flush_place *place;
	const char *source;
	size_t size;    /* of one copy */
	unsigned batch; /* copies per iteration; more than 1: NODRAIN, then one drain */
	size_t region;  /* bytes of the place that a thread walks over */
};

/*
 * Where each thread writes next. All ways share one position, so that each gets to every part of
 * the region: the parts' speeds differ by several percent, which would count for a way that stayed
 * in one part.
 */
static struct abd_perf_flush_walk {
	size_t at;
	char apart[56]; /* each thread's position has its own cache line */
} abd_perf_flush_walk[ABD_PERF_FLUSH_THREADS_MAX];

/* ---- copies ---------------------------------------------------------------------------------- */

/* libpmem.h's flags: do not wait until it is durable; past the cache, libpmem's fastest way. */
enum { PMEM_NODRAIN = 1 << 0, PMEM_NONTEMPORAL = 1 << 1 };

static void *(*pmem_copy)(void *dst, const void *src, size_t size, unsigned flags);
static void (*pmem_drain)(void);

/* Whether libpmem is installed on this machine; nothing is copied by it otherwise. */
static bool abd_perf_flush_pmem_here(void)
{
	return abd_perf_env_function(&pmem_copy, "libpmem.so.1", "pmem_memcpy") &&
	       abd_perf_env_function(&pmem_drain, "libpmem.so.1", "pmem_drain");
}

static void abd_perf_flush_pmem_copy(void *dst, const void *src, size_t size, bool drain)
{
	pmem_copy(dst, src, size, PMEM_NONTEMPORAL | (drain ? 0 : PMEM_NODRAIN));
}

static void abd_perf_flush_way_use(const struct abd_perf_flush_way *way)
{
	if (way->policy != NULL)
		abd_perf_place_tune("flush", way->policy);
}

struct abd_perf_flush_piece {
	const char *from;
	bool drain;
};

static int abd_perf_flush_pmem_piece(void *buf, size_t len, void *priv)
{
	struct abd_perf_flush_piece *piece = priv;

	abd_perf_flush_pmem_copy(buf, piece->from, len, piece->drain);
	piece->from += len;
	return 0;
}

/* As a user of libpmem would copy: one call for linear memory, else a loop over the runs. */
static void abd_perf_flush_pmem(const struct abd_perf_flush_case *work, size_t at, bool drain)
{
	const struct abd_perf_flush_place *place = work->place;
	struct abd_perf_flush_piece piece = {work->source, drain && !work->way->one_drain};

	if (place->linear != NULL) {
		abd_perf_flush_pmem_copy(place->linear + at, work->source, work->size, drain);
		return;
	}
	abd_iterate_func(place->dst, at, work->size, abd_perf_flush_pmem_piece, &piece);
	if (drain && work->way->one_drain)
		pmem_drain();
}

static void abd_perf_flush_drain(const struct abd_perf_flush_case *work)
{
	if (work->way->policy != NULL)
		abd_flush_drain();
	else
		pmem_drain();
}

/* One thread's copies: iterations times batch. Returns the ns they took. */
static double abd_perf_flush_member(void *arg, unsigned member, uint64_t iterations)
{
	struct abd_perf_flush_case *work = arg;
	bool drain = work->batch == 1 || work->way->drain_each;
	unsigned flags = drain ? ABD_FLUSH_AUTO : ABD_FLUSH_NODRAIN;
	size_t begin = member * work->region, end = begin + work->region;
	size_t at = begin + (abd_perf_flush_walk[member].at < work->region
					    ? abd_perf_flush_walk[member].at
					    : 0);
	double start = abd_perf_clock_ns();

	for (; iterations > 0; iterations--) {
		for (unsigned i = 0; i < work->batch; i++) {
			at = at <= end - work->size ? at : begin;
			if (work->way->policy != NULL)
				abd_flush_copy_from_buf_off(
					work->place->dst, work->source, at, work->size, flags);
			else
				abd_perf_flush_pmem(work, at, drain);
			at += work->size;
		}
		if (!drain)
			abd_perf_flush_drain(work);
	}
	abd_perf_flush_walk[member].at = at - begin;
	return abd_perf_clock_ns() - start;
}

static double abd_perf_flush_alone(void *arg, uint64_t iterations)
{
	struct abd_perf_flush_case *work = arg;

	abd_perf_flush_way_use(work->way);
	return abd_perf_flush_member(work, 0, iterations);
}

/* ---- cells ----------------------------------------------------------------------------------- */

enum { LINEAR, SCATTERED, PLACES };

static const char *const abd_perf_flush_place_name[] = {"linear", "scattered"};

static const size_t abd_perf_flush_sizes[] = {
	64, 256, 512, KIB, 2 * KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB};

/*
 * Policies, the most interesting first. Those that this CPU has are raced, up to the number of
 * paths that a race takes, without --full the first five. The last ones can be left out: nt-sse2
 * copies as nt-avx2 does, and clflush, which flushes one line at a time, can't win.
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

/*
 * AUTO first, then the fixed policies, then libpmem. Of drains: copies with NODRAIN and one drain,
 * and copies with a fence each. Returns how many.
 */
static unsigned abd_perf_flush_ways(
	struct abd_perf_flush_way *ways, const struct abd_perf_flush_cell *cell, bool quick)
{
	bool runs = cell->place->linear == NULL && cell->size > 4 * KIB;
	const char *found = abd_perf_place_found("flush");
	unsigned count = 0, pmem = abd_perf_flush_pmem_here() ? (runs ? 2 : 1) : 0;

	if (strcmp(cell->group, "drain") == 0) {
		ways[0] = (struct abd_perf_flush_way){"NODRAIN, one drain", found, false, false};
		ways[1] = (struct abd_perf_flush_way){"ordered", found, false, true};
		return 2;
	}
	ways[count++] = (struct abd_perf_flush_way){"AUTO", found, false, false};
	for (unsigned i = 0; abd_perf_flush_policies[i] != NULL &&
			     count + pmem < (quick ? 6 + pmem : ABD_PERF_PATHS_MAX);
		i++) {
		const char *policy = abd_perf_flush_policies[i];

		if (abd_tuning_set("flush", policy) == 0)
			ways[count++] = (struct abd_perf_flush_way){policy, policy, false, false};
	}
	abd_perf_place_restore("flush");
	if (pmem > 0)
		ways[count++] = (struct abd_perf_flush_way){"libpmem", NULL, false, false};
	if (pmem > 1)
		ways[count++] = (struct abd_perf_flush_way){"libpmem, own loop", NULL, true, false};
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

static void abd_perf_flush_record(const struct abd_perf_flush_cell *cell,
	const struct abd_perf_race *race, const struct abd_perf_path *path,
	const struct abd_perf_flush_way *ways)
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
	if (strcmp(cell->group, "drain") == 0)
		abd_perf_result_claims(
			result, race, path, &(struct abd_perf_claim){0, 1, 0, NULL}, 1);
	else
		abd_perf_flush_compare(result, race, ways);
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
	unsigned count = abd_perf_flush_ways(ways, cell, options->quick);
	size_t region = cell->place->size / cell->threads & ~(size_t)4095;

	abd_perf_say_step("%s, %s, %zu bytes, %u threads%s",
		abd_perf_flush_place_name[cell->place - abd_perf_flush_place],
		cell->hot ? "hot" : "fresh", cell->size, cell->threads,
		strcmp(cell->group, "drain") == 0 ? ", 16 copies and one drain" : "");
	for (unsigned i = 0; i < count; i++) {
		work[i] = (struct abd_perf_flush_case){.way = &ways[i],
			.place = cell->place,
			.source = abd_perf_flush_source,
			.size = cell->size,
			.batch = cell->batch,
			.region = cell->hot ? cell->size : region};
		path[i] = (struct abd_perf_path){ways[i].name,
			cell->threads > 1 ? abd_perf_flush_together : abd_perf_flush_alone,
			&work[i]};
	}
	if (!abd_perf_flush_check(work, count, options->plant))
		return 1;
	memset(abd_perf_flush_walk, 0, sizeof(abd_perf_flush_walk));
	if (abd_perf_race_run(&race, path, count, options))
		abd_perf_flush_record(cell, &race, path, ways);
	abd_perf_place_restore("flush");
	return 0;
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
		for (unsigned j = 0; j < 2 * PLACES && status == 0 && !abd_perf_say_stopped();
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

	for (size_t size = 64; size <= 64 * KIB && status == 0 && !abd_perf_say_stopped();
		size *= 4) {
		struct abd_perf_flush_cell cell = {"size", "16 copies, one drain",
			&abd_perf_flush_place[LINEAR], size, false, 16, 1};

		if (!abd_perf_flush_wanted(size, options))
			continue;
		status = abd_perf_flush_cell(&cell, options);
		cell.group = "drain";
		cell.what = "16 copies";
		if (status == 0)
			status = abd_perf_flush_cell(&cell, options);
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
		i < sizeof(cells) / sizeof(cells[0]) && status == 0 && !abd_perf_say_stopped();
		i++) {
		struct abd_perf_flush_cell cell = cells[i];

		/* Of one thread the copies of by_size are the same. */
		if (threads == 1 && options->threads == 0 && cell.batch == 1)
			continue;
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

	abd_perf_say_begin("flush", options->quick ? 28 : 74);
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
	.normal_s = 16,
	.full_s = 105,
	.run = abd_perf_flush_run,
};
