/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-scale: how the cache's costs change as it grows.
 *
 *   hit      one record of 8 bytes, by number of records (1e3 to 1e7), keys at random. The next key
 *            depends on the data read, so no two look-ups overlap. Measured beside it is a line:
 *            the same walk over single cache lines on huge pages, one per record. A hit reads at
 *            least one such line.
 *   many     the same records, by size of batches, with single calls beside them. All paths draw a
 *            batch of keys first, and then hold and release, or read, each record. The keys are
 *            known beforehand either way, so the CPU may overlap single look-ups too.
 *   on top   whole cached reads of 8 KiB, compared with decoding the same blocks
 *   puts     records of 4 KiB into a full cache, by one thread and by two, by number of shards
 *
 * Memory: sizes that need more than a quarter of the available memory are left out.
 */
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_arc_wake.h"
#include "abd_perf_crew.h"
#include "abd_perf_scenario.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ABD_PERF_SCALE_HUGE ((size_t)2 << 20)

/* A cache of many small records, and an array of cache lines, one per record. */
struct abd_perf_scale_set {
	abd_arc_t *arc;
	size_t records;
	uint64_t random;
	uint64_t *line; /* 8 words per record, all 0, on huge pages; or NULL */
	size_t errors;
};

/* The next record's number. value is always 0 (or 8, a size), but the CPU has to wait for it. */
static inline size_t abd_perf_scale_next(struct abd_perf_scale_set *set, uint64_t value)
{
	/* The product's upper half is a random number below records, without a slow division. */
	uint64_t random = abd_perf_random(&set->random) + (value & 1);

	return (size_t)((unsigned __int128)random * set->records >> 64);
}

static void abd_perf_scale_set_make(
	struct abd_perf_scale_set *set, size_t records, const struct abd_perf_options *options)
{
	unsigned char zero[sizeof(uint64_t)] = {0};
	const struct abd_perf_data data = {.bytes = zero, .size = sizeof(zero)};

	*set = (struct abd_perf_scale_set){.records = records, .random = options->seed};
	set->arc = abd_perf_cached_fill(
		&data, records, sizeof(zero), ((size_t)1 << 20) + records * (400 + sizeof(zero)));
}

static void abd_perf_scale_lines_make(struct abd_perf_scale_set *set)
{
	size_t bytes = set->records * 64;

	set->line = aligned_alloc(ABD_PERF_SCALE_HUGE,
		(bytes + ABD_PERF_SCALE_HUGE - 1) / ABD_PERF_SCALE_HUGE * ABD_PERF_SCALE_HUGE);
	if (set->line == NULL)
		abd_perf_say_die(1, "no memory for %zu cache lines", set->records);
	madvise(set->line, bytes, MADV_HUGEPAGE);
	memset(set->line, 0, bytes);
}

/* Returns an exit status. */
static int abd_perf_scale_set_end(struct abd_perf_scale_set *set)
{
	if (set->errors > 0)
		abd_perf_say_warn("%zu of the records were not in the cache", set->errors);
	free(set->line);
	abd_arc_destroy(set->arc);
	return set->errors > 0;
}

/* ---- one hit, by the number of records ------------------------------------------------------- */

static double abd_perf_scale_run_read(void *arg, uint64_t iterations)
{
	struct abd_perf_scale_set *set = arg;
	double start = abd_perf_clock_ns();
	uint64_t value = 0;

	for (uint64_t i = 0; i < iterations; i++) {
		abd_arc_key_t key = abd_perf_cached_key(abd_perf_scale_next(set, value));

		if (abd_arc_read(set->arc, &key, &value, 0, sizeof(value)) != sizeof(value))
			set->errors++;
	}
	return abd_perf_clock_ns() - start;
}

static double abd_perf_scale_run_hold(void *arg, uint64_t iterations)
{
	struct abd_perf_scale_set *set = arg;
	double start = abd_perf_clock_ns();
	uint64_t value = 0;

	for (uint64_t i = 0; i < iterations; i++) {
		abd_arc_key_t key = abd_perf_cached_key(abd_perf_scale_next(set, value));
		abd_arc_hold_t hold;

		if (abd_arc_hold(set->arc, &key, &hold) != 0) {
			set->errors++;
			continue;
		}
		value = hold.logical_size;
		abd_arc_release(&hold);
	}
	return abd_perf_clock_ns() - start;
}

static double abd_perf_scale_run_line(void *arg, uint64_t iterations)
{
	struct abd_perf_scale_set *set = arg;
	double start = abd_perf_clock_ns();
	uint64_t value = 0;

	for (uint64_t i = 0; i < iterations; i++)
		value = set->line[abd_perf_scale_next(set, value) * 8];
	abd_perf_keep(&value);
	return abd_perf_clock_ns() - start;
}

static void abd_perf_scale_add_hit(const struct abd_perf_scale_set *set,
	const struct abd_perf_race *race, const struct abd_perf_path *path)
{
	json_t *result = abd_perf_result_add("arc-scale", "hit", "%zu records", set->records);
	struct abd_arc_stats stats;

	abd_arc_stats_get(set->arc, &stats, sizeof(stats));
	abd_perf_result_number(result, "records", (double)set->records);
	abd_perf_result_number(result, "bytes", (double)(stats.index_bytes / stats.entries));
	abd_perf_result_race(result, race, path, 0);
	abd_perf_result_claims(result, race, path, &(struct abd_perf_claim){0, 2, 0, NULL}, 1);
}

static int abd_perf_scale_hit(const struct abd_perf_options *options, size_t records)
{
	static struct abd_perf_race race;
	struct abd_perf_scale_set set;

	abd_perf_say_step("a hit among %zu records", records);
	abd_perf_scale_set_make(&set, records, options);
	abd_perf_scale_lines_make(&set);

	const struct abd_perf_path path[] = {{"read", abd_perf_scale_run_read, &set},
		{"hold", abd_perf_scale_run_hold, &set}, {"a line", abd_perf_scale_run_line, &set}};

	if (abd_perf_race_run(&race, path, 3, options))
		abd_perf_scale_add_hit(&set, &race, path);
	return abd_perf_scale_set_end(&set);
}

/* ---- look-ups in batches --------------------------------------------------------------------- */

#define ABD_PERF_MANY_MAX 64

enum { MANY_HOLD, MANY_HOLD_BATCH, MANY_READ, MANY_READ_BATCH, MANY_PATHS };

/* Each path has its own keys; an iteration is one key. */
struct abd_perf_many {
	struct abd_perf_scale_set set;
	size_t n; /* keys in a batch */
	unsigned way;
};

static void abd_perf_many_hold(struct abd_perf_many *many, const abd_arc_key_t *key)
{
	abd_arc_hold_t hold[ABD_PERF_MANY_MAX];
	int result[ABD_PERF_MANY_MAX];

	if (many->way == MANY_HOLD_BATCH)
		abd_arc_hold_many(many->set.arc, key, hold, result, many->n);
	for (size_t i = 0; i < many->n; i++) {
		if (many->way == MANY_HOLD)
			result[i] = abd_arc_hold(many->set.arc, &key[i], &hold[i]);
		if (result[i] == 0)
			abd_arc_release(&hold[i]);
		else
			many->set.errors++;
	}
}

static void abd_perf_many_read(struct abd_perf_many *many, const abd_arc_key_t *key)
{
	abd_arc_io_t io[ABD_PERF_MANY_MAX];
	uint64_t value[ABD_PERF_MANY_MAX];
	size_t done = 0;

	for (size_t i = 0; i < many->n; i++) {
		io[i].key = key[i];
		io[i].dst = &value[i];
		io[i].off = 0;
		io[i].size = sizeof(value[i]);
	}
	if (many->way == MANY_READ_BATCH)
		done = abd_arc_read_many(many->set.arc, io, many->n);
	for (size_t i = 0; i < many->n && many->way == MANY_READ; i++)
		done += abd_arc_read(many->set.arc, &io[i].key, io[i].dst, 0, io[i].size) > 0;
	many->set.errors += many->n - done;
}

static double abd_perf_many_run(void *arg, uint64_t iterations)
{
	struct abd_perf_many *many = arg;
	uint64_t batches = (iterations + many->n - 1) / many->n;
	abd_arc_key_t key[ABD_PERF_MANY_MAX];
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < batches; i++) {
		for (size_t j = 0; j < many->n; j++)
			key[j] = abd_perf_cached_key(
				abd_perf_random_below(&many->set.random, many->set.records));
		if (many->way <= MANY_HOLD_BATCH)
			abd_perf_many_hold(many, key);
		else
			abd_perf_many_read(many, key);
	}
	return (abd_perf_clock_ns() - start) * (double)iterations / (double)(batches * many->n);
}

static void abd_perf_many_race(
	struct abd_perf_scale_set *set, size_t n, const struct abd_perf_options *options)
{
	static const char *const name[MANY_PATHS] = {"hold", "hold_many", "read", "read_many"};
	static struct abd_perf_race race;
	struct abd_perf_many many[MANY_PATHS];
	struct abd_perf_path path[MANY_PATHS];
	const struct abd_perf_claim claim[] = {
		{MANY_HOLD_BATCH, MANY_HOLD, n == 16 && set->records == 1000000 ? 2.5 : 0, NULL},
		{MANY_READ_BATCH, MANY_READ, 0, NULL}};

	abd_perf_say_step("batches of %zu among %zu records", n, set->records);
	for (unsigned i = 0; i < MANY_PATHS; i++) {
		many[i] = (struct abd_perf_many){*set, n, i};
		many[i].set.random = options->seed + i;
		path[i] = (struct abd_perf_path){name[i], abd_perf_many_run, &many[i]};
	}
	if (abd_perf_race_run(&race, path, MANY_PATHS, options)) {
		json_t *result = abd_perf_result_add(
			"arc-scale", "many", "%zu records, batches of %zu", set->records, n);

		abd_perf_result_number(result, "records", (double)set->records);
		abd_perf_result_number(result, "batch", (double)n);
		abd_perf_result_race(result, &race, path, 0);
		abd_perf_result_claims(result, &race, path, claim, 2);
	}
	for (unsigned i = 0; i < MANY_PATHS; i++)
		set->errors += many[i].set.errors;
}

static int abd_perf_scale_many(const struct abd_perf_options *options, size_t records)
{
	static const size_t size[] = {1, 2, 4, 8, 16, ABD_PERF_MANY_MAX};
	struct abd_perf_scale_set set;

	abd_perf_scale_set_make(&set, records, options);
	for (unsigned i = 0; i < sizeof(size) / sizeof(size[0]) && !abd_perf_say_stopped(); i++)
		abd_perf_many_race(&set, size[i], options);
	return abd_perf_scale_set_end(&set);
}

/* ---- what a whole cached read costs on top of decoding the block ----------------------------- */

static void abd_perf_scale_top_add(
	size_t records, const struct abd_perf_race *race, const struct abd_perf_path *path)
{
	json_t *result = abd_perf_result_add("arc-scale", "on top", "%zu records", records);
	double ns[ABD_PERF_ROUNDS_MAX];

	for (unsigned i = 0; i < race->rounds; i++)
		ns[i] = race->ns[1][i] - race->ns[0][i];
	abd_perf_result_number(result, "records", (double)records);
	abd_perf_result_race(result, race, path, 0);
	abd_perf_result_figure(result, "on top", "ns", abd_perf_stat(ns, race->rounds));
	abd_perf_result_claims(
		result, race, path, &(struct abd_perf_claim){1, 0, 1 / 1.03, NULL}, 1);
}

static int abd_perf_scale_top(const struct abd_perf_options *options, size_t records)
{
	static struct abd_perf_race race;
	struct abd_perf_data data;
	struct abd_perf_cached_set set = {.options = options,
		.data = &data,
		.record_size = 8192,
		.records = records,
		.capacity = ((size_t)4 << 20) + records * 8192,
		.files = 1};
	char *dst = aligned_alloc(4096, set.record_size);
	struct abd_perf_cached_walk bare = {&set, CACHED_BARE, dst, 0, 0},
				    cache = {&set, CACHED_CACHE, dst, 0, 0};
	const struct abd_perf_path path[] = {{"bare decode", abd_perf_cached_walk_run, &bare},
		{"cache", abd_perf_cached_walk_run, &cache}};

	if (dst == NULL)
		abd_perf_say_die(1, "no memory to decode into");
	abd_perf_say_step("a cached read of %zu records", records);
	abd_perf_fio_make(&data, options, 64 * ABD_PERF_CACHED_MIB);
	abd_perf_cached_set_make(&set);
	if (abd_perf_race_run(&race, path, 2, options))
		abd_perf_scale_top_add(records, &race, path);
	abd_perf_cached_set_free(&set);
	free(data.bytes);
	free(dst);
	return bare.errors + cache.errors > 0;
}

/* ---- puts, by number of shards --------------------------------------------------------------- */

/* Many more keys than records fit, so most puts evict. */
enum { PUTS_KEYS = 65536, PUTS_SIZE = 4096, PUTS_CAPACITY = 64 << 20 };

struct abd_perf_puts {
	abd_arc_t *arc;
	const struct abd_perf_data *data;
	struct abd_perf_crew *crew;
	uint64_t random[2];
};

static double abd_perf_puts_member(void *arg, unsigned member, uint64_t iterations)
{
	struct abd_perf_puts *puts = arg;
	uint64_t random = puts->random[member];
	double start = abd_perf_clock_wall_ns();

	for (uint64_t i = 0; i < iterations; i++)
		if (!abd_perf_cached_put(puts->arc, puts->data,
			    abd_perf_random_below(&random, PUTS_KEYS), PUTS_SIZE))
			abd_perf_say_die(1, "a put failed");
	start = abd_perf_clock_wall_ns() - start;
	puts->random[member] = random;
	return start;
}

static double abd_perf_puts_run(void *arg, uint64_t iterations)
{
	struct abd_perf_puts *puts = arg;

	return abd_perf_crew_run(puts->crew, abd_perf_puts_member, puts, iterations);
}

static void abd_perf_scale_puts(
	const struct abd_perf_options *options, const struct abd_perf_data *data, size_t shards)
{
	static struct abd_perf_race race;
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = PUTS_CAPACITY, .shards = shards};
	struct abd_perf_puts one = {abd_arc_create(&config), data, abd_perf_crew_make(1, options),
				     {options->seed, 0}},
			     two = {one.arc, data, abd_perf_crew_make(2, options),
				     {options->seed + 1, options->seed + 2}};
	const struct abd_perf_path path[] = {
		{"one thread", abd_perf_puts_run, &one}, {"two threads", abd_perf_puts_run, &two}};

	if (one.arc == NULL || one.crew == NULL || two.crew == NULL)
		abd_perf_say_die(1, "no memory for a cache and its threads");
	abd_perf_say_step("puts, shards: %zu", shards);
	(void)abd_perf_puts_member(&one, 0, PUTS_KEYS);
	if (abd_perf_race_run(&race, path, 2, options)) {
		json_t *result = abd_perf_result_add(
			"arc-scale", "puts", "%zu shard%s", shards, shards > 1 ? "s" : "");

		abd_perf_result_number(result, "shards", (double)shards);
		abd_perf_result_race(result, &race, path, 0);
		abd_perf_result_claims(result, &race, path,
			&(struct abd_perf_claim){1, 0, shards > 1 ? 1.8 : 0, NULL}, 1);
	}
	abd_perf_crew_end(two.crew);
	abd_perf_crew_end(one.crew);
	abd_arc_destroy(one.arc);
}

/* ---- the scenario ---------------------------------------------------------------------------- */

/* 480 bytes per record is generous: its 8 bytes, at most 240 of the cache's own, and a line. */
static bool abd_perf_scale_fits(const struct abd_perf_options *options, size_t records)
{
	if (options->quick)
		return records <= 100000;
	return records * 480 <= abd_perf_env_memory() / 4;
}

static int abd_perf_scale_run(const struct abd_perf_options *options)
{
	static const size_t records[] = {1000, 10000, 100000, 1000000, 10000000};
	static const size_t top[] = {100, 400, 20000}, batched[] = {10000, 1000000, 10000000};
	int status = 0;

	struct abd_perf_data data;

	abd_perf_say_begin("arc-scale", 31);
	for (unsigned i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		if (status == 0 && abd_perf_scale_fits(options, records[i]) &&
			!abd_perf_say_stopped())
			status = abd_perf_scale_hit(options, records[i]);
	for (unsigned i = 0; i < 3; i++)
		if (status == 0 && abd_perf_scale_fits(options, batched[i]) &&
			!abd_perf_say_stopped())
			status = abd_perf_scale_many(options, batched[i]);
	for (unsigned i = 0; i < 3; i++)
		if (status == 0 && !abd_perf_say_stopped())
			status = abd_perf_scale_top(options, top[i]);
	abd_perf_fio_make(&data, options, 16 * ABD_PERF_CACHED_MIB);
	for (size_t shards = 1; shards <= 4; shards *= 4)
		if (status == 0 && !abd_perf_say_stopped())
			abd_perf_scale_puts(options, &data, shards);
	free(data.bytes);
	for (unsigned threads = 2; threads <= 64 && status == 0 && !abd_perf_say_stopped();
		threads *= threads == 2 ? 4 : 8)
		abd_perf_scale_wake(options, threads);
	return status;
}

const struct abd_perf_scenario abd_perf_arc_scale = {
	.name = "arc-scale",
	.summary = "the cache's costs by number of records",
	.uses = 0,
	.normal_s = 4,
	.full_s = 100,
	.run = abd_perf_scale_run,
};
