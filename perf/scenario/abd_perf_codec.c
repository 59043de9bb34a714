/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * codec: decoding lz4 directly from scattered runs, against liblz4 on linear memory and on borrowed
 * memory; other forms of input and output (abd_perf_codec_forms.h); ranges of records; checksums.
 *
 * The buffers are those of arc-read (abd_perf_arc_set.h), so only the decoders differ. Data: fio's,
 * whose long literals suit wide copies; real files; and rows of three compression ratios, whose
 * short matches do not. One thread. Hot: 12 MiB of distinct records, read before. Cold, with
 * --full: payloads of four times the last-level cache for each path, read at random.
 */
#include "abd_perf_arc_set.h"
#include "abd_perf_chase.h"
#include "abd_perf_clock.h"
#include "abd_perf_codec_forms.h"
#include "abd_perf_codec_part.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_MIB ((size_t)1 << 20)

enum { LINEAR, BORROW, MULTI, SINGLE, PATHS };

static const struct abd_perf_codec_way {
	const char *name;
	enum abd_perf_arc_kind kind;
	bool own_decoder;
} abd_perf_codec_ways[PATHS] = {
	{"liblz4, linear", ABD_PERF_ARC_LINEAR, false},
	{"liblz4, borrow", ABD_PERF_ARC_MULTI, false},
	{"ours, runs of 4k", ABD_PERF_ARC_MULTI, true},
	{"ours, one run", ABD_PERF_ARC_ON, true},
};

static const struct abd_perf_rows_kind abd_perf_codec_rows[] = {
	{"rows 1.3", 64, 46, 0},
	{"rows 2.4", 96, 20, 5},
	{"rows 8", 128, 2, 2},
};

struct abd_perf_codec_path {
	const struct abd_perf_arc_set *set;
	const struct abd_perf_codec_way *way;
	char *dst;
	size_t at;
	bool hot;
	unsigned errors;
};

static void abd_perf_codec_read(struct abd_perf_codec_path *path, uint64_t iterations)
{
	const struct abd_perf_arc_visit *visit = path->set->visit[path->way->kind];
	int record_size = (int)path->set->records->record_size;

	for (uint64_t i = 0; i < iterations; i++) {
		path->errors += !abd_perf_arc_decode(
			&visit[path->at], path->way->own_decoder, path->dst, record_size);
		path->at = path->at + 1 < path->set->slots ? path->at + 1 : 0;
	}
}

static double abd_perf_codec_run_path(void *arg, uint64_t iterations)
{
	struct abd_perf_codec_path *path = arg;

	if (path->hot)
		abd_perf_codec_read(path, path->set->slots);

	double start = abd_perf_clock_ns();

	abd_perf_codec_read(path, iterations);
	return abd_perf_clock_ns() - start;
}

static const struct abd_perf_claim abd_perf_codec_claims[] = {
	{MULTI, LINEAR, 1, NULL}, {MULTI, BORROW, 1, NULL}, {SINGLE, LINEAR, 0, NULL}};

static void abd_perf_codec_record(const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_arc_set *set, const char *data,
	bool hot)
{
	char size[24];
	double mean = (double)set->payload_bytes / (double)set->slots;
	struct abd_perf_result *result =
		abd_perf_result_add("codec", hot ? "hot" : "cold", "%s %s, %s", data,
			abd_perf_options_size_text(set->records->record_size, size, sizeof(size)),
			hot ? "hot" : "cold");

	abd_perf_result_text(result, "data", data);
	abd_perf_result_size(result, "record_size", set->records->record_size);
	abd_perf_result_number(result, "compressed_bytes", mean);
	abd_perf_result_number(result, "distinct_bytes",
		(double)((set->slots < set->member_count ? set->slots : set->member_count) *
			 set->records->record_size));
	abd_perf_result_number(result, "set_bytes", (double)set->payload_bytes);
	if (!hot)
		abd_perf_result_number(
			result, "line_ns", abd_perf_chase_ns((size_t)set->payload_bytes));
	abd_perf_result_text(result, "decoder", abd_tuning_get("lz4"));
	abd_perf_result_race(result, race, path, (double)set->records->record_size);
	abd_perf_result_claims(result, race, path, abd_perf_codec_claims,
		sizeof(abd_perf_codec_claims) / sizeof(abd_perf_codec_claims[0]));
}

static int abd_perf_codec_race(struct abd_perf_arc_set *set, const char *data, bool hot, char *dst,
	const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_codec_path way[PATHS];
	struct abd_perf_path path[PATHS];
	unsigned errors = 0;

	if (!abd_perf_arc_set_check(set))
		return 1;
	for (unsigned i = 0; i < PATHS; i++) {
		way[i] = (struct abd_perf_codec_path){set, &abd_perf_codec_ways[i], dst, 0, hot, 0};
		path[i] =
			(struct abd_perf_path){way[i].way->name, abd_perf_codec_run_path, &way[i]};
	}
	if (abd_perf_race_run(&race, path, PATHS, options))
		abd_perf_codec_record(&race, path, set, data, hot);
	for (unsigned i = 0; i < PATHS; i++)
		errors += way[i].errors;
	return errors == 0 ? 0 : 1;
}

/* Measure the records of one size whose payload needs more than one page, hot or cold. */
static int abd_perf_codec_set(const struct abd_perf_data *data,
	const struct abd_perf_records *records, bool hot, const struct abd_perf_options *options)
{
	struct abd_perf_arc_set set = {.records = records, .kinds = ABD_PERF_ARC_KINDS};
	uint32_t *members = malloc((records->count + 1) * sizeof(*members));
	char *dst = malloc(records->record_size), size[24];
	size_t payload = 0;
	int status = 0;

	if (members == NULL || dst == NULL)
		abd_perf_say_die(1, "no memory for records");
	for (uint32_t i = 0; i < records->count; i++) {
		if (records->record[i].payload_size <= 4096)
			continue;
		members[set.member_count++] = i;
		payload += records->record[i].payload_size;
	}
	abd_perf_say_step("%s %s, %s", data->name,
		abd_perf_options_size_text(records->record_size, size, sizeof(size)),
		hot ? "hot" : "cold");
	if (set.member_count * 10 >= records->count && set.member_count > 0) {
		size_t distinct = ABD_PERF_ARC_HOT / records->record_size;
		size_t slots = hot ? distinct : abd_perf_arc_cold() / (payload / set.member_count);

		if (hot && slots > set.member_count)
			slots = set.member_count;
		set.members = members;
		abd_perf_arc_set_make(&set, slots > 2 ? slots : 2, options->seed);
		status = abd_perf_codec_race(&set, data->name, hot, dst, options);
		abd_perf_arc_set_free(&set);
	}
	free(members);
	free(dst);
	return status;
}

static int abd_perf_codec_data(
	const struct abd_perf_data *data, const struct abd_perf_options *options)
{
	static const size_t all[] = {8 << 10, 16 << 10, 128 << 10, 1 << 20};
	static const size_t few[] = {16 << 10, 128 << 10};
	const size_t *size = options->record_size != 0 ? &options->record_size
			     : options->quick          ? few
						       : all;
	size_t count = options->record_size != 0 ? 1 : options->quick ? 2 : 4;
	int status = 0;

	for (size_t i = 0; i < count && status == 0 && !abd_perf_stop_wanted(); i++) {
		struct abd_perf_records records;

		abd_perf_records_make(&records, data, size[i]);
		status = abd_perf_codec_set(data, &records, true, options);
		if (!options->quick && status == 0 && !abd_perf_stop_wanted())
			status = abd_perf_codec_set(data, &records, false, options);
		abd_perf_records_free(&records);
	}
	if (options->record_size == 0 && status == 0 && !abd_perf_stop_wanted())
		abd_perf_codec_range(data, options);
	return status;
}

static int abd_perf_codec_run(const struct abd_perf_options *options)
{
	size_t bytes = (options->quick ? 16 : 32) * ABD_PERF_MIB;
	struct abd_perf_data data[5];
	unsigned steps = options->quick ? 16 : 46;
	int status = 0;

	abd_perf_files_load(&data[0], options, bytes);
	abd_perf_fio_make(&data[1], options, bytes);
	for (unsigned i = 0; i < 3; i++)
		abd_perf_rows_make(&data[2 + i], options, &abd_perf_codec_rows[i], bytes);
	for (unsigned i = 0; i < 5; i++)
		steps += abd_perf_codec_forms_count(i == 0, options);
	abd_perf_say_begin("codec", steps);
	for (unsigned i = 0; i < 5; i++) {
		if (status == 0 && !abd_perf_stop_wanted())
			status = abd_perf_codec_data(&data[i], options);
		if (status == 0 && !abd_perf_stop_wanted())
			status = abd_perf_codec_forms(&data[i], i == 0, options);
		free(data[i].bytes);
	}
	if (status == 0 && !abd_perf_stop_wanted())
		abd_perf_codec_sums(options);
	return status;
}

const struct abd_perf_scenario abd_perf_codec = {
	.name = "codec",
	.summary = "decoding lz4 from scattered runs, ranges of records, checksums",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 9,
	.full_s = 60,
	.headline = true,
	.run = abd_perf_codec_run,
};
