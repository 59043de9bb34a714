/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranges and checksums.
 * The source's request: reading 4 KiB of a cached 128 KiB record without decompressing all of it
 * (openzfs PR 19107).
 */
#include "abd_perf_codec_part.h"
#include "abd_perf_clock.h"
#include "abd_perf_place.h"
#include "abd_perf_race.h"
#include "abd_perf_records.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

#define ABD_PERF_RECORD ((size_t)128 << 10)
#define ABD_PERF_RANGE ((size_t)4 << 10)
/* different records, so that the branch predictor can't learn a single one */
#define ABD_PERF_BLOCKS 16

struct abd_perf_blocks {
	abd_t *block[ABD_PERF_BLOCKS];
	size_t size[ABD_PERF_BLOCKS];
	size_t count;
	char *dst;
};

static double abd_perf_range_all(void *arg, uint64_t iterations)
{
	const struct abd_perf_blocks *blocks = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		size_t n = i % blocks->count;

		abd_lz4_decompress_to_buf(
			blocks->dst, blocks->block[n], ABD_PERF_RECORD, 0, blocks->size[n]);
		abd_perf_keep(blocks->dst);
	}
	return abd_perf_clock_ns() - start;
}

static double abd_perf_range_some(
	const struct abd_perf_blocks *blocks, uint64_t iterations, size_t positions)
{
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		/* 7 has no factor in common with 32, so every position is visited. */
		size_t n = i % blocks->count, off = i * 7 % positions * ABD_PERF_RANGE;

		abd_lz4_decompress_range_to_buf(
			blocks->dst, blocks->block[n], off, ABD_PERF_RANGE, 0, blocks->size[n]);
		abd_perf_keep(blocks->dst);
	}
	return abd_perf_clock_ns() - start;
}

static double abd_perf_range_first(void *arg, uint64_t iterations)
{
	return abd_perf_range_some(arg, iterations, 1);
}

static double abd_perf_range_any(void *arg, uint64_t iterations)
{
	return abd_perf_range_some(arg, iterations, ABD_PERF_RECORD / ABD_PERF_RANGE);
}

static void abd_perf_blocks_make(
	struct abd_perf_blocks *blocks, const struct abd_perf_records *records)
{
	blocks->dst = malloc(ABD_PERF_RECORD);
	blocks->count = records->count < ABD_PERF_BLOCKS ? records->count : ABD_PERF_BLOCKS;
	abd_perf_place_tune("max_order", "0");
	for (size_t i = 0; i < blocks->count; i++) {
		const struct abd_perf_record *record =
			&records->record[i * records->count / blocks->count];

		blocks->size[i] = record->payload_size;
		blocks->block[i] = abd_alloc(record->payload_size, false);
		if (blocks->block[i] == NULL || blocks->dst == NULL)
			abd_perf_say_die(1, "no memory for records");
		abd_copy_from_buf(blocks->block[i], record->payload, record->payload_size);
	}
	abd_perf_place_tune("max_order", "10");
}

void abd_perf_codec_range(const struct abd_perf_data *data, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_records records;
	struct abd_perf_blocks blocks;
	const struct abd_perf_path path[] = {
		{"all", abd_perf_range_all, &blocks},
		{"first 4k", abd_perf_range_first, &blocks},
		{"any 4k", abd_perf_range_any, &blocks},
	};

	abd_perf_say_step("4k out of 128k, %s", data->name);
	abd_perf_records_make(&records, data, ABD_PERF_RECORD);
	abd_perf_blocks_make(&blocks, &records);
	if (blocks.count > 0 && abd_perf_race_run(&race, path, 3, options)) {
		struct abd_perf_result *result =
			abd_perf_result_add("codec", "range", "4k out of 128k, %s", data->name);

		abd_perf_result_text(result, "data", data->name);
		abd_perf_result_race(result, &race, path, 0);
		abd_perf_result_claims(result, &race, path,
			(const struct abd_perf_claim[]){{1, 0, 8, NULL}, {2, 0, 1.8, NULL}}, 2);
	}
	for (size_t i = 0; i < blocks.count; i++)
		abd_free(blocks.block[i]);
	free(blocks.dst);
	abd_perf_records_free(&records);
}

/* ---- checksums ------------------------------------------------------------------------------- */

static int abd_perf_sum_piece(void *buf, size_t len, void *priv)
{
	const uint64_t *word = buf;
	uint64_t *sum = priv;

	for (size_t i = 0; i < len / sizeof(*word); i++)
		*sum += word[i];
	return 0;
}

#define ABD_PERF_SUM_LOOP(name, statement)                  \
	static double name(void *arg, uint64_t iterations)  \
	{                                                   \
		abd_t *abd = arg;                           \
		uint64_t sum[4] = {0};                      \
		double start = abd_perf_clock_ns();         \
                                                            \
		for (uint64_t i = 0; i < iterations; i++) { \
			statement;                          \
			abd_perf_keep(sum);                 \
		}                                           \
		return abd_perf_clock_ns() - start;         \
	}

ABD_PERF_SUM_LOOP(
	abd_perf_sum_plain, abd_iterate_func(abd, 0, ABD_PERF_RECORD, abd_perf_sum_piece, sum))
ABD_PERF_SUM_LOOP(abd_perf_sum_fletcher, abd_fletcher_4(abd, 0, ABD_PERF_RECORD, sum))
ABD_PERF_SUM_LOOP(abd_perf_sum_crc32c, sum[0] += abd_crc32c(abd, 0, ABD_PERF_RECORD, 0))
ABD_PERF_SUM_LOOP(abd_perf_sum_xxh3, sum[0] += abd_xxh3(abd, 0, ABD_PERF_RECORD, 0))

void abd_perf_codec_sums(const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	uint64_t random = options->seed;
	abd_t *abds[8];

	abd_perf_say_step("checksums of 128k");
	abd_perf_place_tune("max_order", "0");
	for (unsigned i = 0; i < 8; i++) {
		abds[i] = abd_alloc(ABD_PERF_RECORD, false);
		if (abds[i] == NULL)
			abd_perf_say_die(1, "no memory for a buffer");
	}
	abd_perf_place_tune("max_order", "10");
	abd_perf_place_shuffle(abds, 8);
	for (size_t off = 0; off < ABD_PERF_RECORD; off += sizeof(uint64_t)) {
		uint64_t word = abd_perf_random(&random);

		abd_copy_from_buf_off(abds[0], &word, off, sizeof(word));
	}

	const struct abd_perf_path path[] = {
		{"plain sum", abd_perf_sum_plain, abds[0]},
		{"fletcher_4", abd_perf_sum_fletcher, abds[0]},
		{"crc32c", abd_perf_sum_crc32c, abds[0]},
		{"xxh3", abd_perf_sum_xxh3, abds[0]},
	};

	if (abd_perf_race_run(&race, path, 4, options)) {
		struct abd_perf_result *result =
			abd_perf_result_add("codec", "sums", "checksums of 128k, 4 KiB runs");

		abd_perf_result_race(result, &race, path, ABD_PERF_RECORD);
		abd_perf_result_claims(result, &race, path,
			(const struct abd_perf_claim[]){
				{1, 0, 0, NULL}, {2, 0, 0, NULL}, {3, 0, 0, NULL}},
			3);
	}
	for (unsigned i = 0; i < 8; i++)
		abd_free(abds[i]);
}
