/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One set of hot records in every form. Records and their blocks are linear, or in single pages at
 * random addresses; blocks are also in runs of mixed orders. A group races a few ways to get from
 * one form to another. Invariant: each buffer has the form it is named after, or the program ends.
 * Before a way is timed, its output is compared with the record; compressed output is decoded
 * first.
 */
#include "abd_perf_codec_forms.h"
#include "abd_perf_clock.h"
#include "abd_perf_arc_set.h"
#include "abd_perf_place.h"
#include "abd_perf_race.h"
#include "abd_perf_records.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINEAR, PAGES, MIXED, FORMS };
enum { WAYS_MAX = 5, GROUP_SIZES_MAX = 4 };

/*
 * Bytes that abd_perf_forms_bound() sums again and again: a checksum's cost when its input is in
 * the first-level cache.
 */
#define ABD_PERF_FORMS_PIECE ((size_t)16 << 10)

struct abd_perf_forms_slot {
	abd_t *record[MIXED];
	abd_t *block[FORMS];
	size_t block_size;
};

struct abd_perf_forms {
	size_t record_size;
	size_t slots;
	struct abd_perf_forms_slot *slot;
	abd_t *record[MIXED]; /* to decode into */
	abd_t *block[MIXED];  /* to compress into */
	char *memory;         /* record[LINEAR]'s */
};

/* Returns the bytes made, or an error. */
typedef ssize_t abd_perf_forms_work(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot);

struct abd_perf_forms_way {
	const char *name;
	abd_perf_forms_work *work;
};

struct abd_perf_forms_group {
	const char *name;
	const char *title;
	bool compresses;
	bool small; /* only records whose block fits one page; else only larger ones */
	size_t sizes[GROUP_SIZES_MAX];
	struct abd_perf_forms_way way[WAYS_MAX];
};

/* ---- the ways -------------------------------------------------------------------------------- */

static ssize_t abd_perf_forms_liblz4(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot)
{
	return LZ4_decompress_safe(abd_to_buf(slot->block[LINEAR]), forms->memory,
		(int)slot->block_size, (int)forms->record_size);
}

static ssize_t abd_perf_forms_borrow(const struct abd_perf_forms *forms, abd_t *block, size_t size)
{
	void *buf = abd_borrow_buf_copy(block, size);
	int n = LZ4_decompress_safe(buf, forms->memory, (int)size, (int)forms->record_size);

	abd_return_buf(block, buf, size);
	return n;
}

static ssize_t abd_perf_forms_borrow_pages(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot)
{
	return abd_perf_forms_borrow(forms, slot->block[PAGES], slot->block_size);
}

static ssize_t abd_perf_forms_borrow_mixed(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot)
{
	return abd_perf_forms_borrow(forms, slot->block[MIXED], slot->block_size);
}

/* As OpenZFS's zio_decompress_data() does it for a scattered record. */
static ssize_t abd_perf_forms_borrow_both(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot)
{
	void *from = abd_borrow_buf_copy(slot->block[PAGES], slot->block_size);
	void *to = abd_borrow_buf(forms->record[PAGES], forms->record_size);
	int n = LZ4_decompress_safe(from, to, (int)slot->block_size, (int)forms->record_size);

	abd_return_buf_copy(forms->record[PAGES], to, forms->record_size);
	abd_return_buf(slot->block[PAGES], from, slot->block_size);
	return n;
}

#define ABD_PERF_FORMS_DECODE(suffix, to, from)                                             \
	static ssize_t abd_perf_forms_##suffix(                                             \
		const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot) \
	{                                                                                   \
		return abd_lz4_decompress(forms->record[to], slot->block[from], 0,          \
			forms->record_size, 0, slot->block_size);                           \
	}

ABD_PERF_FORMS_DECODE(linear, LINEAR, LINEAR)
ABD_PERF_FORMS_DECODE(pages, LINEAR, PAGES)
ABD_PERF_FORMS_DECODE(mixed, LINEAR, MIXED)
ABD_PERF_FORMS_DECODE(pages_to_pages, PAGES, PAGES)
ABD_PERF_FORMS_DECODE(linear_to_pages, PAGES, LINEAR)

static ssize_t abd_perf_forms_liblz4_compress(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot)
{
	return LZ4_compress_default(abd_to_buf(slot->record[LINEAR]),
		abd_to_buf(forms->block[LINEAR]), (int)forms->record_size,
		(int)abd_get_size(forms->block[LINEAR]));
}

#define ABD_PERF_FORMS_COMPRESS(suffix, to, from)                                           \
	static ssize_t abd_perf_forms_compress_##suffix(                                    \
		const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot) \
	{                                                                                   \
		return abd_lz4_compress(                                                    \
			forms->block[to], slot->record[from], 0, 0, forms->record_size);    \
	}

ABD_PERF_FORMS_COMPRESS(linear, LINEAR, LINEAR)
ABD_PERF_FORMS_COMPRESS(from_pages, LINEAR, PAGES)
ABD_PERF_FORMS_COMPRESS(to_pages, PAGES, LINEAR)
ABD_PERF_FORMS_COMPRESS(both, PAGES, PAGES)

/* Decode, then sum all of it: two passes over the output. */
static ssize_t abd_perf_forms_two_passes(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot)
{
	ssize_t n = abd_perf_forms_pages(forms, slot);
	uint64_t sum[4];

	abd_fletcher_4(forms->record[LINEAR], 0, forms->record_size, sum);
	abd_perf_keep(sum);
	return n;
}

/* As many bytes summed, but always the same piece in cache: no order of work can be faster. */
static ssize_t abd_perf_forms_bound(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_slot *slot)
{
	ssize_t n = abd_perf_forms_pages(forms, slot);
	uint64_t sum[4];

	for (size_t done = 0; done < forms->record_size; done += ABD_PERF_FORMS_PIECE) {
		abd_fletcher_4(forms->record[LINEAR], 0, ABD_PERF_FORMS_PIECE, sum);
		abd_perf_keep(sum);
	}
	return n;
}

static const struct abd_perf_forms_group abd_perf_forms_groups[] = {
	{"output", "decoding into scattered output, 4 KiB runs on both sides", false, false,
		{16 << 10, 128 << 10, 1 << 20},
		{{"liblz4, linear", abd_perf_forms_liblz4},
			{"liblz4, both borrowed", abd_perf_forms_borrow_both},
			{"ours, linear output", abd_perf_forms_pages},
			{"ours, scattered output", abd_perf_forms_pages_to_pages},
			{"ours, linear to scattered", abd_perf_forms_linear_to_pages}}},
	{"mixed", "decoding from runs of mixed orders: the largest that fit the block", false,
		false, {16 << 10, 128 << 10, 1 << 20},
		{{"liblz4, linear", abd_perf_forms_liblz4},
			{"liblz4, mixed borrowed", abd_perf_forms_borrow_mixed},
			{"ours, mixed runs", abd_perf_forms_mixed},
			{"ours, runs of 4k", abd_perf_forms_pages}}},
	{"page", "records whose block fits one page", false, true, {4 << 10, 8 << 10},
		{{"liblz4, linear", abd_perf_forms_liblz4},
			{"liblz4, page borrowed", abd_perf_forms_borrow_pages},
			{"ours, one page", abd_perf_forms_pages},
			{"ours, linear", abd_perf_forms_linear}}},
	{"compress", "compressing, by liblz4 in all", true, false, {16 << 10, 128 << 10, 1 << 20},
		{{"liblz4, linear", abd_perf_forms_liblz4_compress},
			{"linear to linear", abd_perf_forms_compress_linear},
			{"scattered to linear", abd_perf_forms_compress_from_pages},
			{"linear to scattered", abd_perf_forms_compress_to_pages},
			{"scattered to scattered", abd_perf_forms_compress_both}}},
	{"check", "decoding and fletcher_4 of the record", false, false,
		{16 << 10, 128 << 10, 1 << 20},
		{{"decode", abd_perf_forms_pages}, {"decode, then sum", abd_perf_forms_two_passes},
			{"sum from L1", abd_perf_forms_bound}}},
};

enum { GROUPS = sizeof(abd_perf_forms_groups) / sizeof(*abd_perf_forms_groups) };

/* ---- the set --------------------------------------------------------------------------------- */

static abd_t *abd_perf_forms_alloc(unsigned form, size_t size)
{
	abd_t *abd;

	abd_perf_place_tune("max_order", form == MIXED ? "10" : "0");
	abd = form == LINEAR ? abd_alloc_linear(size, false) : abd_alloc(size, false);
	abd_perf_place_tune("max_order", "10");
	if (abd == NULL)
		abd_perf_say_die(1, "no memory for records");
	if (form == PAGES && size > 4096 && (abd->abd_flags & ABD_FLAG_MULTI_CHUNK) == 0)
		abd_perf_say_die(
			1, "a buffer of %zu bytes in single pages came out as one run", size);
	return abd;
}

/* Exchange the single pages of all buffers that have them. */
static void abd_perf_forms_shuffle(struct abd_perf_forms *forms)
{
	abd_t **buffers = malloc((2 * forms->slots + 2) * sizeof(*buffers));
	size_t count = 0;

	if (buffers == NULL)
		abd_perf_say_die(1, "no memory for records");
	for (size_t i = 0; i < forms->slots; i++) {
		buffers[count++] = forms->slot[i].record[PAGES];
		buffers[count++] = forms->slot[i].block[PAGES];
	}
	buffers[count++] = forms->record[PAGES];
	buffers[count++] = forms->block[PAGES];
	abd_perf_place_shuffle(buffers, count);
	free(buffers);
}

static void abd_perf_forms_alloc_all(struct abd_perf_forms *forms)
{
	size_t bound = (size_t)LZ4_compressBound((int)forms->record_size);

	for (unsigned form = 0; form < MIXED; form++) {
		forms->record[form] = abd_perf_forms_alloc(form, forms->record_size);
		forms->block[form] = abd_perf_forms_alloc(form, bound);
	}
	forms->memory = abd_to_buf(forms->record[LINEAR]);
	for (size_t i = 0; i < forms->slots; i++) {
		struct abd_perf_forms_slot *slot = &forms->slot[i];

		for (unsigned form = 0; form < FORMS; form++)
			slot->block[form] = abd_perf_forms_alloc(form, slot->block_size);
		for (unsigned form = 0; form < MIXED; form++)
			slot->record[form] = abd_perf_forms_alloc(form, forms->record_size);
	}
}

/*
 * Choose records whose blocks fit one page (group->small) or don't, as many as are not learnt by
 * heart, and make their buffers. Returns whether such records are common in the data.
 */
static bool abd_perf_forms_make(struct abd_perf_forms *forms,
	const struct abd_perf_records *records, const struct abd_perf_forms_group *group)
{
	size_t used = 0, at = 0;
	const struct abd_perf_record **chosen = malloc((records->count + 1) * sizeof(*chosen));

	forms->record_size = records->record_size;
	forms->slots = 0;
	for (; at < records->count && used < ABD_PERF_ARC_HOT / 4; at++) {
		const struct abd_perf_record *record = &records->record[at];

		if ((record->payload_size <= 4096) != group->small)
			continue;
		used += records->record_size;
		chosen[forms->slots++] = record;
	}
	forms->slot = calloc(forms->slots + 1, sizeof(*forms->slot));
	if (chosen == NULL || forms->slot == NULL)
		abd_perf_say_die(1, "no memory for records");
	for (size_t i = 0; i < forms->slots; i++)
		forms->slot[i].block_size = chosen[i]->payload_size;
	abd_perf_forms_alloc_all(forms);
	abd_perf_forms_shuffle(forms);
	for (size_t i = 0; i < forms->slots; i++) {
		for (unsigned form = 0; form < FORMS; form++)
			abd_copy_from_buf(forms->slot[i].block[form], chosen[i]->payload,
				forms->slot[i].block_size);
		for (unsigned form = 0; form < MIXED; form++)
			abd_copy_from_buf(
				forms->slot[i].record[form], chosen[i]->source, forms->record_size);
	}
	/* A few records of a rare kind would not be representative. */
	bool typical = forms->slots >= 2 && forms->slots * 10 >= at;

	free(chosen);
	return typical;
}

static void abd_perf_forms_free(struct abd_perf_forms *forms)
{
	for (size_t i = 0; i < forms->slots; i++) {
		for (unsigned form = 0; form < FORMS; form++)
			abd_free(forms->slot[i].block[form]);
		for (unsigned form = 0; form < MIXED; form++)
			abd_free(forms->slot[i].record[form]);
	}
	for (unsigned form = 0; form < MIXED; form++) {
		abd_free(forms->record[form]);
		abd_free(forms->block[form]);
	}
	free(forms->slot);
	abd_cache_reap_now();
}

/* ---- the race -------------------------------------------------------------------------------- */

struct abd_perf_forms_path {
	const struct abd_perf_forms *forms;
	const struct abd_perf_forms_way *way;
};

static double abd_perf_forms_run(void *arg, uint64_t iterations)
{
	const struct abd_perf_forms_path *path = arg;
	const struct abd_perf_forms *forms = path->forms;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0, at = 0; i < iterations; i++) {
		path->way->work(forms, &forms->slot[at]);
		abd_perf_keep(forms->memory);
		at = at + 1 < forms->slots ? at + 1 : 0;
	}
	return abd_perf_clock_ns() - start;
}

/*
 * One of the two outputs, linear or scattered, must now be the record; the way decides which. An
 * earlier way's output must not be taken for it.
 */
static bool abd_perf_forms_right(const struct abd_perf_forms *forms,
	const struct abd_perf_forms_slot *slot, const struct abd_perf_forms_group *group,
	ssize_t made)
{
	const abd_t *record = slot->record[LINEAR];

	for (unsigned form = 0; form < MIXED; form++) {
		if (group->compresses &&
			abd_lz4_decompress(forms->record[LINEAR], forms->block[form], 0,
				forms->record_size, 0, (size_t)made) != (ssize_t)forms->record_size)
			continue;
		if (abd_equal(forms->record[group->compresses ? LINEAR : form], record))
			return true;
	}
	return false;
}

static bool abd_perf_forms_check(
	const struct abd_perf_forms *forms, const struct abd_perf_forms_group *group)
{
	for (unsigned i = 0; i < WAYS_MAX && group->way[i].name != NULL; i++) {
		for (size_t j = 0; j < forms->slots; j++) {
			const struct abd_perf_forms_slot *slot = &forms->slot[j];
			ssize_t made;

			for (unsigned form = 0; form < MIXED; form++) {
				abd_zero(forms->record[form], forms->record_size);
				abd_zero(forms->block[form], abd_get_size(forms->block[form]));
			}
			made = group->way[i].work(forms, slot);
			if (made > 0 && abd_perf_forms_right(forms, slot, group, made))
				continue;
			abd_perf_say_warn("%s, %s: a record of %zu bytes came out wrong",
				group->name, group->way[i].name, forms->record_size);
			return false;
		}
	}
	return true;
}

static void abd_perf_forms_record(const struct abd_perf_race *race,
	const struct abd_perf_forms *forms, const struct abd_perf_forms_group *group,
	const char *data)
{
	char size[24];
	double blocks = 0;
	struct abd_perf_result *result = abd_perf_result_add("codec", group->name, "%s %s, %s",
		data, abd_perf_options_size_text(forms->record_size, size, sizeof(size)),
		group->name);

	for (size_t i = 0; i < forms->slots; i++)
		blocks += (double)forms->slot[i].block_size;
	abd_perf_result_text(result, "data", data);
	abd_perf_result_size(result, "record_size", forms->record_size);
	abd_perf_result_number(result, "compressed_bytes", blocks / (double)forms->slots);
	abd_perf_result_text(result, "decoder", abd_tuning_get("lz4"));
	for (unsigned i = 0; i < race->paths; i++) {
		abd_perf_result_figure(result, group->way[i].name, "GB/s",
			abd_perf_race_rate(race, i, (double)forms->record_size));
		if (i > 0)
			abd_perf_result_ratio(result, group->way[i].name, group->way[0].name,
				abd_perf_race_ratio(race, i, 0));
	}
}

static int abd_perf_forms_race(const struct abd_perf_forms *forms,
	const struct abd_perf_forms_group *group, const char *data,
	const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_forms_path arg[WAYS_MAX];
	struct abd_perf_path path[WAYS_MAX];
	unsigned ways = 0;

	if (!abd_perf_forms_check(forms, group))
		return 1;
	for (; ways < WAYS_MAX && group->way[ways].name != NULL; ways++) {
		arg[ways] = (struct abd_perf_forms_path){forms, &group->way[ways]};
		path[ways] = (struct abd_perf_path){
			group->way[ways].name, abd_perf_forms_run, &arg[ways]};
	}
	if (abd_perf_race_run(&race, path, ways, options))
		abd_perf_forms_record(&race, forms, group, data);
	return 0;
}

static int abd_perf_forms_one(const struct abd_perf_data *data,
	const struct abd_perf_forms_group *group, size_t record_size,
	const struct abd_perf_options *options)
{
	struct abd_perf_records records;
	struct abd_perf_forms forms;
	char size[24];
	int status = 0;

	abd_perf_say_step("%s, %s %s", group->name, data->name,
		abd_perf_options_size_text(record_size, size, sizeof(size)));
	abd_perf_records_make(&records, data, record_size);
	if (abd_perf_forms_make(&forms, &records, group))
		status = abd_perf_forms_race(&forms, group, data->name, options);
	abd_perf_forms_free(&forms);
	abd_perf_records_free(&records);
	return status;
}

/* The size asked for; else one size without --full, and all with it. */
static bool abd_perf_forms_wanted(const struct abd_perf_forms_group *group, unsigned n,
	const struct abd_perf_options *options)
{
	if (group->sizes[n] == 0)
		return false;
	if (options->record_size != 0)
		return group->sizes[n] == options->record_size;
	return !options->quick || n == (group->small ? 0 : 1);
}

unsigned abd_perf_codec_forms_count(bool first, const struct abd_perf_options *options)
{
	unsigned count = 0;

	for (unsigned i = 0; i < GROUPS && (first || !options->quick); i++)
		for (unsigned n = 0; n < GROUP_SIZES_MAX; n++)
			count += abd_perf_forms_wanted(&abd_perf_forms_groups[i], n, options);
	return count;
}

int abd_perf_codec_forms(
	const struct abd_perf_data *data, bool first, const struct abd_perf_options *options)
{
	int status = 0;

	for (unsigned i = 0; i < GROUPS && (first || !options->quick); i++)
		for (unsigned n = 0; n < GROUP_SIZES_MAX; n++)
			if (status == 0 && !abd_perf_stop_wanted() &&
				abd_perf_forms_wanted(&abd_perf_forms_groups[i], n, options))
				status = abd_perf_forms_one(data, &abd_perf_forms_groups[i],
					abd_perf_forms_groups[i].sizes[n], options);
	return status;
}
