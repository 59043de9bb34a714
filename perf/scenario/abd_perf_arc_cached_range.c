/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-cached-range: reading 4 KiB and 8 KiB at random places of cached records of 128 KiB and 1
 * MiB, as fio's 8k-of-128k does, from a cache that stores lz4 blocks with an index (lz4_index_min)
 * and from one that doesn't; and what a put into each costs.
 *
 * One thread; 12 MiB of distinct records (--quick: 4), all in both caches, read in random order.
 * OpenZFS decodes the whole record for each such read unless it keeps it decoded (openzfs PR
 * 19107).
 */
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_scenario.h"

#include <stdlib.h>
#include <string.h>

#define ABD_PERF_RANGED_BYTES ((size_t)12 << 20)

enum { PLAIN, INDEXED, CACHES };

static const char *const abd_perf_ranged_name[CACHES] = {"no index", "indexed"};

struct abd_perf_ranged {
	const struct abd_perf_data *data;
	abd_arc_t *arc;
	size_t record_size, records, io_size, at, errors;
	uint64_t random;
	char *dst;
};

static double abd_perf_ranged_read(void *arg, uint64_t iterations)
{
	struct abd_perf_ranged *path = arg;
	size_t places = path->record_size / path->io_size;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		abd_arc_key_t key =
			abd_perf_cached_key(abd_perf_random_below(&path->random, path->records));
		size_t off = abd_perf_random_below(&path->random, places) * path->io_size;

		path->errors += abd_arc_read(path->arc, &key, path->dst, off, path->io_size) !=
				(ssize_t)path->io_size;
	}
	return abd_perf_clock_ns() - start;
}

static double abd_perf_ranged_put(void *arg, uint64_t iterations)
{
	struct abd_perf_ranged *path = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		path->errors +=
			!abd_perf_cached_put(path->arc, path->data, path->at, path->record_size);
		path->at = path->at + 1 < path->records ? path->at + 1 : 0;
	}
	return abd_perf_clock_ns() - start;
}

/* Every piece of every record, once. */
static bool abd_perf_ranged_right(const struct abd_perf_ranged *path, bool plant)
{
	for (size_t off = 0; off < path->records * path->record_size; off += path->io_size) {
		abd_arc_key_t key = abd_perf_cached_key(off / path->record_size);
		ssize_t size = abd_arc_read(
			path->arc, &key, path->dst, off % path->record_size, path->io_size);

		if (plant)
			path->dst[0] = (char)(path->dst[0] + 1);
		if (size != (ssize_t)path->io_size ||
			memcmp(path->dst, path->data->bytes + off, path->io_size) != 0)
			return false;
	}
	return true;
}

/* Race the two caches, by puts or by reads of io_size. */
static int abd_perf_ranged_race(
	struct abd_perf_ranged way[CACHES], bool put, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_path path[CACHES];
	json_t *result;
	char record[24], io[24];

	abd_perf_options_size_text(way->record_size, record, sizeof(record));
	abd_perf_options_size_text(way->io_size, io, sizeof(io));
	abd_perf_say_step("%s of %s, %s", put ? "put" : io, record, way->data->name);
	for (unsigned i = 0; i < CACHES; i++) {
		if (!put && !abd_perf_ranged_right(&way[i], options->plant))
			return 1;
		path[i] = (struct abd_perf_path){abd_perf_ranged_name[i],
			put ? abd_perf_ranged_put : abd_perf_ranged_read, &way[i]};
	}
	if (!abd_perf_race_run(&race, path, CACHES, options))
		return 0;
	result = abd_perf_result_add("arc-cached-range", put ? "put" : "read", "%s of %s, %s",
		put ? "put" : io, record, way->data->name);
	abd_perf_result_text(result, "data", way->data->name);
	abd_perf_result_size(result, "record_size", way->record_size);
	if (!put)
		abd_perf_result_size(result, "io_size", way->io_size);
	for (unsigned i = 0; i < CACHES; i++) {
		struct abd_arc_stats stats;

		abd_arc_stats_get(way[i].arc, &stats, sizeof(stats));
		abd_perf_result_number(result, i == PLAIN ? "plain_bytes" : "indexed_bytes",
			(double)stats.stored_bytes / (double)stats.entries);
	}
	abd_perf_result_race(result, &race, path, 0);
	abd_perf_result_claims(
		result, &race, path, (const struct abd_perf_claim[]){{INDEXED, PLAIN, 0, NULL}}, 1);
	return way[PLAIN].errors + way[INDEXED].errors == 0 ? 0 : 1;
}

static int abd_perf_ranged_size(const struct abd_perf_data *data, size_t record_size,
	const struct abd_perf_options *options)
{
	struct abd_perf_ranged way[CACHES];
	int status = 0;

	if (data->size < record_size)
		abd_perf_say_die(1, "%s has less than one record", data->name);
	for (unsigned i = 0; i < CACHES; i++) {
		way[i] = (struct abd_perf_ranged){.data = data,
			.arc = abd_perf_cached_fill(data, data->size / record_size, record_size,
				8 * ABD_PERF_RANGED_BYTES, i == INDEXED ? 32 << 10 : 0),
			.record_size = record_size,
			.records = data->size / record_size,
			.random = options->seed,
			.dst = malloc(16 << 10)};
		if (way[i].dst == NULL)
			abd_perf_say_die(1, "no memory to read into");
	}
	for (size_t io = 4 << 10; io <= 8 << 10 && status == 0 && !abd_perf_say_stopped();
		io *= 2) {
		way[PLAIN].io_size = way[INDEXED].io_size = io;
		status = abd_perf_ranged_race(way, false, options);
	}
	if (status == 0 && !abd_perf_say_stopped())
		status = abd_perf_ranged_race(way, true, options);
	for (unsigned i = 0; i < CACHES; i++) {
		abd_arc_destroy(way[i].arc);
		free(way[i].dst);
	}
	return status;
}

static int abd_perf_ranged_run(const struct abd_perf_options *options)
{
	static const struct abd_perf_rows_kind rows = {"rows 2.4", 96, 20, 5};
	static const size_t sizes[] = {128 << 10, 1 << 20};
	size_t bytes = ABD_PERF_RANGED_BYTES / (options->mode == ABD_PERF_QUICK ? 3 : 1);
	struct abd_perf_data data[3];
	int status = 0;

	if (!abd_perf_files_load(&data[0], options, bytes))
		return ABD_PERF_LEFT_OUT;
	abd_perf_fio_make(&data[1], options, bytes);
	abd_perf_rows_make(&data[2], options, &rows, bytes);
	abd_perf_say_begin("arc-cached-range", 18);
	for (unsigned i = 0; i < 6 && status == 0 && !abd_perf_say_stopped(); i++)
		status = abd_perf_ranged_size(&data[i / 2], sizes[i % 2], options);
	if (status != 0)
		abd_perf_say_warn("a record was not what it should be");
	for (unsigned i = 0; i < 3; i++)
		free(data[i].bytes);
	return status;
}

const struct abd_perf_scenario abd_perf_arc_cached_range = {
	.name = "arc-cached-range",
	.summary = "4k and 8k of cached records of 128k and 1m, with and without an lz4 index",
	.uses = ABD_PERF_USES_INPUT,
	.normal_s = 4,
	.full_s = 12,
	.run = abd_perf_ranged_run,
};
