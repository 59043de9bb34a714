/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * codec: decoding lz4 directly from scattered runs, against liblz4 on linear memory and on borrowed
 * memory.
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

	if (!abd_perf_files_load(&data[0], options, bytes))
		return ABD_PERF_LEFT_OUT;
	abd_perf_fio_make(&data[1], options, bytes);
	for (unsigned i = 0; i < 3; i++)
		abd_perf_rows_make(&data[2 + i], options, &abd_perf_codec_rows[i], bytes);
	abd_perf_say_begin("codec", options->quick ? 10 : 40);
	for (unsigned i = 0; i < 5; i++) {
		if (status == 0 && !abd_perf_say_stopped())
			status = abd_perf_arc_study_run(
				&abd_perf_codec_study, &data[i], size, count, options);
		free(data[i].bytes);
	}
	return status;
}

const struct abd_perf_scenario abd_perf_codec = {
	.name = "codec",
	.summary = "decoding lz4 from scattered runs",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 6,
	.full_s = 45,
	.headline = {"codec: .* 128k, hot", 3, 3},
	.run = abd_perf_codec_run,
};
