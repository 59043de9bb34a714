/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * codec: decoding lz4 directly from scattered runs, against liblz4 on linear memory and on borrowed
 * memory; checksums.
 *
 * The buffers are those of arc-read (abd_perf_arc_set.h), so only the decoders differ. Data:
 * fio's, whose long literals suit wide copies; real files; and rows of three compression ratios,
 * whose short matches do not. One thread. Hot: 12 MiB of distinct records, read before. Cold, with
 * --full: payloads of four times the last-level cache for each path, read at random.
 */
#include "abd_perf_arc_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_MIB ((size_t)1 << 20)
#define ABD_PERF_SUMMED ((size_t)128 << 10)

static const struct abd_perf_arc_way abd_perf_codec_ways[] = {
	{"liblz4, linear", ABD_PERF_ARC_LINEAR, false},
	{"liblz4, borrow", ABD_PERF_ARC_MULTI, false},
	{"ours, runs of 4k", ABD_PERF_ARC_MULTI, true},
	{"ours, one run", ABD_PERF_ARC_ON, true},
};
static const struct abd_perf_claim abd_perf_codec_claims[] = {
	{2, 0, 1, NULL}, {2, 1, 1, NULL}, {3, 0, 0, NULL}};
static const struct abd_perf_arc_study abd_perf_codec_study = {
	"codec", abd_perf_codec_ways, abd_perf_codec_claims, 4, 3, false};

static const struct abd_perf_rows_kind abd_perf_codec_rows[] = {
	{"rows 1.3", 64, 46, 0},
	{"rows 2.4", 96, 20, 5},
	{"rows 8", 128, 2, 2},
};

/* ---- checksums ------------------------------------------------------------------------------- */

static uint64_t sums[4];

static int sum_piece(void *buf, size_t len, void *priv)
{
	const uint64_t *word = buf;
	uint64_t *sum = priv;

	for (size_t i = 0; i < len / sizeof(*word); i++)
		*sum += word[i];
	return 0;
}

#define SUMMED o, 0, ABD_PERF_SUMMED
ABD_PERF_LOOP(abd_t, sum_plain, abd_iterate_func(SUMMED, sum_piece, sums))
ABD_PERF_LOOP(abd_t, sum_fletcher, (abd_fletcher_4(SUMMED, sums), 0))
ABD_PERF_LOOP(abd_t, sum_crc32c, abd_crc32c(SUMMED, 0))
ABD_PERF_LOOP(abd_t, sum_xxh3, (long)abd_xxh3(SUMMED, 0))

static void abd_perf_codec_sums(const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	uint64_t random = options->seed;
	abd_t *abds[8];

	abd_perf_say_step("checksums of 128k");
	abd_perf_place_tune("max_order", "0");
	for (unsigned i = 0; i < 8; i++) {
		abds[i] = abd_alloc(ABD_PERF_SUMMED, false);
		if (abds[i] == NULL)
			abd_perf_say_die(1, "no memory for a buffer");
	}
	abd_perf_place_tune("max_order", "10");
	abd_perf_place_shuffle(abds, 8);
	for (size_t off = 0; off < ABD_PERF_SUMMED; off += sizeof(uint64_t)) {
		uint64_t word = abd_perf_random(&random);

		abd_copy_from_buf_off(abds[0], &word, off, sizeof(word));
	}

	const struct abd_perf_path path[] = {
		{"plain sum", sum_plain, abds[0]},
		{"fletcher_4", sum_fletcher, abds[0]},
		{"crc32c", sum_crc32c, abds[0]},
		{"xxh3", sum_xxh3, abds[0]},
	};

	if (abd_perf_race_run(&race, path, 4, options)) {
		json_t *result =
			abd_perf_result_add("codec", "sums", "checksums of 128k, 4 KiB runs");

		abd_perf_result_race(result, &race, path, ABD_PERF_SUMMED);
		abd_perf_result_claims(result, &race, path,
			(const struct abd_perf_claim[]){
				{1, 0, 0, NULL}, {2, 0, 0, NULL}, {3, 0, 0, NULL}},
			3);
	}
	for (unsigned i = 0; i < 8; i++)
		abd_free(abds[i]);
}

static int abd_perf_codec_run(const struct abd_perf_options *options)
{
	static const size_t all[] = {8 << 10, 16 << 10, 128 << 10, 1 << 20};
	static const size_t few[] = {16 << 10, 128 << 10};
	const size_t *size = options->record_size != 0 ? &options->record_size
			     : options->quick          ? few
						       : all;
	size_t count = options->record_size != 0 ? 1 : options->quick ? 2 : 4;
	size_t bytes = (options->quick ? 16 : 32) * ABD_PERF_MIB;
	struct abd_perf_data data[5];
	int status = 0;

	abd_perf_files_load(&data[0], options, bytes);
	abd_perf_fio_make(&data[1], options, bytes);
	for (unsigned i = 0; i < 3; i++)
		abd_perf_rows_make(&data[2 + i], options, &abd_perf_codec_rows[i], bytes);
	abd_perf_say_begin("codec", options->quick ? 11 : 41);
	for (unsigned i = 0; i < 5; i++) {
		if (status == 0 && !abd_perf_say_stopped())
			status = abd_perf_arc_study_run(
				&abd_perf_codec_study, &data[i], size, count, options);
		free(data[i].bytes);
	}
	if (status == 0 && !abd_perf_say_stopped())
		abd_perf_codec_sums(options);
	return status;
}

const struct abd_perf_scenario abd_perf_codec = {
	.name = "codec",
	.summary = "decoding lz4 from scattered runs, checksums",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 7,
	.full_s = 45,
	.headline = true,
	.run = abd_perf_codec_run,
};
