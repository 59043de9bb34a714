/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-cached-read: OpenZFS's sequential_reads_arc_cached over our own cache: files of 8 KiB records, compressed by lz4, read in
 * pieces of 128 KiB (16 records), a file to a thread.
 *
 * The rule by which it is scaled: the cache gets a quarter of the memory there is, at most 4 GiB (--quick: 256 MiB); the files take half
 * of that before compression, as there; there are as many as threads.
 *
 *   bare decode    the cached lz4 blocks decoded one after another, without the cache: the limit
 *   cache          abd_arc_read(): look-up, decode inside the read-side section
 *   scatter        the same from buffers made with the single-chunk rule off, decoded where they lie
 *   openzfs's way  look-up, hold, borrow by a copy (rule off), liblz4, return, release
 *   single-chunk   the same calls with the rule on: the borrow copies nothing
 * OpenZFS: tests/zfs-tests/tests/perf/regression/sequential_reads_arc_cached.ksh; PR 8580 found about 5 % between the last two.
 */
#include "abd_perf_clock.h"
#include "abd_perf_crew.h"
#include "abd_perf_data.h"
#include "abd_perf_env.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"
#include "abd_perf_table.h"

#include <abd/abd.h>
#include <lz4.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_CACHED_MIB ((size_t)1 << 20)
#define ABD_PERF_CACHED_READ ((size_t)128 << 10)
#define ABD_PERF_CACHED_THREADS 128

enum { CACHED_BARE, CACHED_CACHE, CACHED_SCATTER, CACHED_OPENZFS, CACHED_SINGLE, CACHED_PATHS };

static const char *const abd_perf_cached_name[CACHED_PATHS] = {
	"bare decode", "cache", "scatter", "openzfs's way", "single-chunk"};

/* A record as it lies in the cache, for bare decoding. Nothing is evicted while measuring. */
struct abd_perf_cached_block {
	const abd_t *abd;
	bool compressed;
};

struct abd_perf_cached {
	const struct abd_perf_options *options;
	const struct abd_perf_data *data;
	size_t record_size, records;         /* records of all files */
	abd_arc_t *on, *off;                 /* caches filled with the rule on, and off */
	struct abd_perf_cached_block *block; /* of on */
	unsigned threads;
	struct abd_perf_crew *crew;
	char *dst[ABD_PERF_CACHED_THREADS];
	size_t at[CACHED_PATHS][ABD_PERF_CACHED_THREADS]; /* the next record of each member */
	atomic_uint errors;
};

struct abd_perf_cached_path {
	struct abd_perf_cached *cached;
	unsigned path;
};

static abd_arc_key_t abd_perf_cached_key(size_t record)
{
	return (abd_arc_key_t){1, {record * 8, record / 16}, 1 + record % 7};
}

static const void *abd_perf_cached_source(const struct abd_perf_cached *cached, size_t record)
{
	return cached->data->bytes +
	       record % (cached->data->size / cached->record_size) * cached->record_size;
}

/* ---- one record, in each way ----------------------------------------------------------------------------------------- */

static bool abd_perf_cached_bare(const struct abd_perf_cached *cached, size_t record, char *dst)
{
	const abd_t *abd = cached->block[record].abd;
	size_t size = cached->record_size;

	if (cached->block[record].compressed)
		return abd_lz4_decompress_to_buf(dst, abd, size, 0, abd_get_size(abd)) ==
		       (ssize_t)size;
	abd_copy_to_buf_off(dst, abd, 0, size);
	return true;
}

static bool abd_perf_cached_read(
	const struct abd_perf_cached *cached, abd_arc_t *arc, size_t record, char *dst)
{
	abd_arc_key_t key = abd_perf_cached_key(record);

	return abd_arc_read(arc, &key, dst, 0, cached->record_size) == (ssize_t)cached->record_size;
}

/* As an engine of OpenZFS's make does it: the cache knows the record, the reader borrows and decodes. */
static bool abd_perf_cached_borrow(
	const struct abd_perf_cached *cached, abd_arc_t *arc, size_t record, char *dst)
{
	abd_arc_key_t key = abd_perf_cached_key(record);
	int size = (int)cached->record_size;
	abd_arc_hold_t hold;
	bool good;
	abd_t *abd;

	if (abd_arc_hold(arc, &key, &hold) != 0)
		return false;
	memcpy(&abd, &hold.abd, sizeof(abd)); /* borrowed to be read */
	char *buf = abd_borrow_buf_copy(abd, hold.stored_size);

	if (hold.compressed)
		good = LZ4_decompress_safe(buf, dst, (int)hold.stored_size, size) == size;
	else
		good = memcpy(dst, buf, (size_t)size) != NULL;
	abd_return_buf(abd, buf, hold.stored_size);
	abd_arc_release(&hold);
	return good;
}

static bool abd_perf_cached_record(
	struct abd_perf_cached *cached, unsigned path, size_t record, char *dst)
{
	switch (path) {
	case CACHED_BARE:
		return abd_perf_cached_bare(cached, record, dst);
	case CACHED_CACHE:
		return abd_perf_cached_read(cached, cached->on, record, dst);
	case CACHED_SCATTER:
		return abd_perf_cached_read(cached, cached->off, record, dst);
	case CACHED_OPENZFS:
		return abd_perf_cached_borrow(cached, cached->off, record, dst);
	default:
		return abd_perf_cached_borrow(cached, cached->on, record, dst);
	}
}

/* An iteration is a read of 128 KiB, the next one of the member's file. */
static double abd_perf_cached_member(void *arg, unsigned member, uint64_t iterations)
{
	const struct abd_perf_cached_path *path = arg;
	struct abd_perf_cached *cached = path->cached;
	size_t per_read = ABD_PERF_CACHED_READ / cached->record_size;
	size_t file = cached->records / cached->threads / per_read * per_read;
	size_t first = file * member, at = cached->at[path->path][member];
	char *dst = cached->dst[member];
	unsigned errors = 0;
	double start = abd_perf_clock_ns();

	for (uint64_t n = 0; n < iterations; n++) {
		for (size_t i = 0; i < per_read; i++)
			errors += !abd_perf_cached_record(
				cached, path->path, first + at + i, dst + i * cached->record_size);
		at = at + per_read < file ? at + per_read : 0;
	}

	double ns = abd_perf_clock_ns() - start;

	cached->at[path->path][member] = at;
	if (errors != 0)
		atomic_fetch_add(&cached->errors, errors);
	return ns;
}

static double abd_perf_cached_run_path(void *arg, uint64_t iterations)
{
	const struct abd_perf_cached_path *path = arg;

	return abd_perf_crew_run(path->cached->crew, abd_perf_cached_member, arg, iterations);
}

/* ---- filling, and checking every record in every way -------------------------------------------------------------------- */

static size_t abd_perf_cached_capacity(const struct abd_perf_options *options)
{
	size_t most = (options->quick ? 256 : 4096) * ABD_PERF_CACHED_MIB,
	       memory = abd_perf_env_memory() / 4;

	return memory < most ? memory : most;
}

static abd_arc_t *abd_perf_cached_fill(
	const struct abd_perf_cached *cached, const char *linear_page)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = abd_perf_cached_capacity(cached->options),
		.expected_entries = cached->records};
	abd_arc_t *arc = abd_arc_create(&config);

	if (arc == NULL)
		abd_perf_say_die(1, "no memory for a cache");
	abd_tuning_set("linear_page", linear_page);
	for (size_t i = 0; i < cached->records; i++) {
		abd_arc_key_t key = abd_perf_cached_key(i);

		if (abd_arc_put(
			    arc, &key, abd_perf_cached_source(cached, i), cached->record_size) != 0)
			abd_perf_say_die(1, "no memory for the records");
	}
	abd_tuning_set("linear_page", "1");
	return arc;
}

static void abd_perf_cached_look(struct abd_perf_cached *cached)
{
	cached->block = malloc(cached->records * sizeof(*cached->block));
	if (cached->block == NULL)
		abd_perf_say_die(1, "no memory for the list of records");
	for (size_t i = 0; i < cached->records; i++) {
		abd_arc_key_t key = abd_perf_cached_key(i);
		abd_arc_hold_t hold;

		if (abd_arc_hold(cached->on, &key, &hold) != 0)
			abd_perf_say_die(
				1, "record %zu of %zu is not in the cache", i, cached->records);
		cached->block[i] = (struct abd_perf_cached_block){hold.abd, hold.compressed};
		abd_arc_release(&hold);
	}
}

static bool abd_perf_cached_check(struct abd_perf_cached *cached)
{
	char *dst = cached->dst[0];

	for (unsigned path = 0; path < CACHED_PATHS; path++) {
		for (size_t i = 0; i < cached->records; i++) {
			memset(dst, 0x5a, cached->record_size);
			if (!abd_perf_cached_record(cached, path, i, dst))
				return false;
			if (cached->options->plant && i == cached->records / 2)
				dst[0] = (char)(dst[0] + 1);
			if (memcmp(dst, abd_perf_cached_source(cached, i), cached->record_size) !=
				0)
				return false;
		}
	}
	return true;
}

/* ---- measuring -------------------------------------------------------------------------------------------------------- */

static void abd_perf_cached_add(
	const struct abd_perf_cached *cached, const struct abd_perf_race *race)
{
	char size[24];
	struct abd_perf_result *result = abd_perf_result_add("arc-cached-read", "cached",
		"%s %s, %u thread%s", cached->data->name,
		abd_perf_options_size_text(cached->record_size, size, sizeof(size)),
		cached->threads, cached->threads > 1 ? "s" : "");
	const char *const *name = abd_perf_cached_name;
	struct abd_arc_stats stats;

	abd_arc_stats_get(cached->on, &stats, sizeof(stats));
	abd_perf_result_text(result, "data", cached->data->name);
	abd_perf_result_size(result, "record_size", cached->record_size);
	abd_perf_result_number(result, "threads", cached->threads);
	abd_perf_result_number(
		result, "files_bytes", (double)(cached->records * cached->record_size));
	abd_perf_result_number(result, "capacity_bytes", (double)stats.capacity_bytes);
	abd_perf_result_number(
		result, "compressed_bytes", (double)stats.stored_bytes / (double)stats.entries);
	abd_perf_result_number(result, "index_bytes_per_record",
		(double)stats.index_bytes / (double)stats.entries);
	for (unsigned path = 0; path < CACHED_PATHS; path++)
		abd_perf_result_figure(result, name[path], "GB/s",
			abd_perf_race_rate(race, path, (double)ABD_PERF_CACHED_READ));
	abd_perf_result_ratio(result, name[CACHED_CACHE], name[CACHED_BARE],
		abd_perf_race_ratio(race, CACHED_CACHE, CACHED_BARE))
		->target = 1 / 1.03;
	abd_perf_result_ratio(result, name[CACHED_CACHE], name[CACHED_OPENZFS],
		abd_perf_race_ratio(race, CACHED_CACHE, CACHED_OPENZFS));
	abd_perf_result_ratio(result, name[CACHED_SINGLE], name[CACHED_OPENZFS],
		abd_perf_race_ratio(race, CACHED_SINGLE, CACHED_OPENZFS))
		->source = "about 5 % (OpenZFS PR 8580)";
}

static void abd_perf_cached_race(struct abd_perf_cached *cached, unsigned threads)
{
	static struct abd_perf_race race;
	struct abd_perf_cached_path arg[CACHED_PATHS];
	struct abd_perf_path path[CACHED_PATHS];

	abd_perf_say_step("%s, %u thread%s", cached->data->name, threads, threads > 1 ? "s" : "");
	for (unsigned i = 0; i < CACHED_PATHS; i++) {
		arg[i] = (struct abd_perf_cached_path){cached, i};
		path[i] = (struct abd_perf_path){
			abd_perf_cached_name[i], abd_perf_cached_run_path, &arg[i]};
	}
	memset(cached->at, 0, sizeof(cached->at));
	cached->threads = threads;
	cached->crew = abd_perf_crew_make(threads, cached->options);
	if (cached->crew == NULL)
		abd_perf_say_die(1, "%u threads can't be started", threads);
	if (abd_perf_race_run(&race, path, CACHED_PATHS, cached->options))
		abd_perf_cached_add(cached, &race);
	abd_perf_crew_end(cached->crew);
}

/* The threads of each comparison: those asked for, or 1, as many as CPUs, and OpenZFS's 64 and 128. */
static unsigned abd_perf_cached_threads(const struct abd_perf_options *options, unsigned threads[4])
{
	unsigned count = 1;

	threads[0] = options->threads != 0 ? options->threads : 1;
	if (options->threads != 0)
		return 1;
	if (options->cpu_count > 1)
		threads[count++] = options->cpu_count;
	if (!options->quick) {
		threads[count++] = 64;
		threads[count++] = 128;
	}
	return count;
}

static int abd_perf_cached_data(struct abd_perf_cached *cached)
{
	unsigned threads[4], count = abd_perf_cached_threads(cached->options, threads);
	int status = 0;

	cached->records = abd_perf_cached_capacity(cached->options) / 2 / cached->record_size;
	cached->on = abd_perf_cached_fill(cached, "1");
	cached->off = abd_perf_cached_fill(cached, "0");
	abd_perf_cached_look(cached);
	if (!abd_perf_cached_check(cached)) {
		abd_perf_say_warn("a record was not what it should be");
		status = 1;
	}
	for (unsigned i = 0; i < count && status == 0 && !abd_perf_stop_wanted(); i++)
		abd_perf_cached_race(cached, threads[i] < ABD_PERF_CACHED_THREADS
						     ? threads[i]
						     : ABD_PERF_CACHED_THREADS);
	if (atomic_load(&cached->errors) != 0) {
		abd_perf_say_warn("%u reads failed while measuring", atomic_load(&cached->errors));
		status = 1;
	}
	free(cached->block);
	abd_arc_destroy(cached->on);
	abd_arc_destroy(cached->off);
	return status;
}

static int abd_perf_cached_run(const struct abd_perf_options *options)
{
	static struct abd_perf_cached cached;
	struct abd_perf_data data[2];
	unsigned threads[4];
	int status = 0;

	cached.options = options;
	cached.record_size = options->record_size != 0 ? options->record_size : 8192;
	if (cached.record_size > ABD_PERF_CACHED_READ ||
		ABD_PERF_CACHED_READ % cached.record_size != 0)
		abd_perf_say_die(2, "arc-cached-read reads 128k at a time: no records of %zu",
			cached.record_size);
	for (unsigned i = 0; i < ABD_PERF_CACHED_THREADS; i++) {
		cached.dst[i] = aligned_alloc(4096, ABD_PERF_CACHED_READ);
		if (cached.dst[i] == NULL)
			abd_perf_say_die(1, "no memory to decode into");
	}
	abd_perf_fio_make(&data[0], options, 64 * ABD_PERF_CACHED_MIB);
	abd_perf_files_load(&data[1], options, 64 * ABD_PERF_CACHED_MIB);
	abd_perf_say_begin("arc-cached-read", 2 * abd_perf_cached_threads(options, threads));
	for (unsigned i = 0; i < 2 && status == 0 && !abd_perf_stop_wanted(); i++) {
		cached.data = &data[i];
		status = abd_perf_cached_data(&cached);
	}
	for (unsigned i = 0; i < 2; i++)
		free(data[i].bytes);
	for (unsigned i = 0; i < ABD_PERF_CACHED_THREADS; i++)
		free(cached.dst[i]);
	return status;
}

static void abd_perf_cached_print(void)
{
	const char *const *name = abd_perf_cached_name;
	struct abd_perf_table *table = abd_perf_table_make(
		"<data|record|threads|bare decode|cache|scatter|openzfs's way|single-chunk|cache / bare decode|cache / openzfs's way|"
		"single-chunk / openzfs's way");

	printf("\narc-cached-read: GB/s of decoded bytes, all threads together; ratios of speeds [95 %% interval]\n");
	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (strcmp(result->scenario, "arc-cached-read") != 0)
			continue;
		abd_perf_table_cell(table, "%s", abd_perf_result_find(result, "data")->text);
		abd_perf_table_cell(table, "%s", abd_perf_result_find(result, "record_size")->text);
		abd_perf_table_cell(table, "%.0f", abd_perf_result_find(result, "threads")->number);
		for (unsigned path = 0; path < CACHED_PATHS; path++)
			abd_perf_table_figure(
				table, abd_perf_result_find_figure(result, name[path]));
		abd_perf_table_ratio(table,
			abd_perf_result_find_ratio(result, name[CACHED_CACHE], name[CACHED_BARE]));
		abd_perf_table_ratio(table, abd_perf_result_find_ratio(result, name[CACHED_CACHE],
						    name[CACHED_OPENZFS]));
		abd_perf_table_ratio(table, abd_perf_result_find_ratio(result, name[CACHED_SINGLE],
						    name[CACHED_OPENZFS]));
	}
	abd_perf_table_print(table);
	printf("Reads of 128 KiB from a file to each thread, all of it in the cache. Published for the last column: about 5 %% (OpenZFS PR 8580).\n");
}

const struct abd_perf_scenario abd_perf_arc_cached_read = {
	.name = "arc-cached-read",
	.summary =
		"sequential reads out of the cache: ours, OpenZFS's way, and bare decoding as the limit",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_THREADS | ABD_PERF_USES_RECORD_SIZE,
	.run = abd_perf_cached_run,
	.print = abd_perf_cached_print,
};
