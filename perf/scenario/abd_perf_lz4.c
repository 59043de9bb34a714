/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4: writing blocks from scattered memory, and blocks that can be entered in the middle. Four
 * groups of results over the same records: encode, decode (whole records), place (4 KiB by where
 * they lie in the record) and curve (4 KiB anywhere, and bytes, over the size of groups).
 *
 * One thread. Hot: 12 MiB of distinct records in turn (--quick: 4), so that no branch is learnt by
 * heart. Linear records lie side by side, scattered ones and all blocks in single pages at random
 * addresses.
 * A hub is a quarter of a group, as the library has it. For orientation libzstd at level 1 takes
 * part with linear records, where it is installed.
 */
#include "abd_perf_arc_set.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <lz4.h>
#include <lz4hc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_LZ4_RANGE ((size_t)4 << 10)
#define ABD_PERF_LZ4_GROUP ((size_t)16 << 10)
#define ABD_PERF_LZ4_MOST 768 /* records in a set, twice as many as usual */

enum { LINEAR, PAGES, FORMS };
enum { PLAIN, INDEXED, DEEP, BLOCKS };

struct abd_perf_lz4_slot {
	abd_t *record[FORMS];
	abd_t *block[BLOCKS]; /* in pages */
	size_t size[BLOCKS];
	struct abd_lz4_index *index[BLOCKS];
	char *linear[BLOCKS]; /* the same blocks */
	char *zstd;
	size_t zstd_size;
};

struct abd_perf_lz4_set {
	const char *data;
	size_t record_size, group_size, count;
	struct abd_perf_lz4_slot *slot;
	abd_t *out[FORMS]; /* room for a block */
	struct abd_lz4_index *index;
	char *back;
	abd_t *scattered; /* room for a record */
};

/* libzstd, where it is installed: for orientation. */
static struct {
	void *(*make_encoder)(void), *(*make_decoder)(void), *encoder, *decoder;
	size_t (*encode)(
		void *encoder, void *dst, size_t room, const void *src, size_t size, int level);
	size_t (*decode)(void *decoder, void *dst, size_t room, const void *src, size_t size);
} zstd;

static bool abd_perf_lz4_zstd_here(void)
{
	static const char library[] = "libzstd.so.1";

	if (!abd_perf_env_function(&zstd.make_encoder, library, "ZSTD_createCCtx") ||
		!abd_perf_env_function(&zstd.make_decoder, library, "ZSTD_createDCtx") ||
		!abd_perf_env_function(&zstd.encode, library, "ZSTD_compressCCtx") ||
		!abd_perf_env_function(&zstd.decode, library, "ZSTD_decompressDCtx"))
		return false;
	zstd.encoder = zstd.encoder != NULL ? zstd.encoder : zstd.make_encoder();
	zstd.decoder = zstd.decoder != NULL ? zstd.decoder : zstd.make_decoder();
	return zstd.encoder != NULL && zstd.decoder != NULL;
}

struct abd_perf_lz4_path {
	struct abd_perf_lz4_set *set;
	/* Returns the bytes made, or an error. */
	ssize_t (*work)(const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot);
	unsigned form, block; /* of the record or the room; which block */
	bool scattered;       /* decodes into runs */
	int effort;           /* -1: no index */
	size_t place;         /* SIZE_MAX: anywhere */
	size_t from;          /* of a range */
	size_t at, errors;
	uint64_t random;
};

/* ---- the ways -------------------------------------------------------------------------------- */

static ssize_t abd_perf_lz4_liblz4(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	struct abd_perf_lz4_set *set = path->set;
	const char *src = abd_to_buf(slot->record[LINEAR]);
	char *dst = abd_to_buf(set->out[LINEAR]);
	int size = (int)set->record_size, room = (int)abd_get_size(set->out[LINEAR]);

	return path->effort > 0 ? LZ4_compress_HC(src, dst, size, room, path->effort)
				: LZ4_compress_default(src, dst, size, room);
}

static ssize_t abd_perf_lz4_zstd(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	abd_t *out = path->set->out[LINEAR];

	return (ssize_t)zstd.encode(zstd.encoder, abd_to_buf(out), abd_get_size(out),
		abd_to_buf(slot->record[LINEAR]), path->set->record_size, 1);
}

static ssize_t abd_perf_lz4_zstd_decode(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	return (ssize_t)zstd.decode(
		zstd.decoder, path->set->back, path->set->record_size, slot->zstd, slot->zstd_size);
}

static ssize_t abd_perf_lz4_encode(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	struct abd_perf_lz4_set *set = path->set;
	abd_t *dst = set->out[path->form], *src = slot->record[path->form];

	return path->effort < 0 ? abd_lz4_compress(dst, src, 0, 0, set->record_size)
				: abd_lz4_compress_indexed(dst, src, 0, 0, set->record_size,
					  set->group_size, path->effort, set->index);
}

static ssize_t abd_perf_lz4_liblz4_decode(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	struct abd_perf_lz4_set *set = path->set;

	return LZ4_decompress_safe(
		slot->linear[PLAIN], set->back, (int)slot->size[PLAIN], (int)set->record_size);
}

static ssize_t abd_perf_lz4_decode(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	struct abd_perf_lz4_set *set = path->set;

	return abd_lz4_decompress_to_buf(
		set->back, slot->block[path->block], set->record_size, 0, slot->size[path->block]);
}

static ssize_t abd_perf_lz4_scatter(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	struct abd_perf_lz4_set *set = path->set;

	return abd_lz4_decompress(
		set->scattered, slot->block[PLAIN], 0, set->record_size, 0, slot->size[PLAIN]);
}

/* As OpenZFS's zio_decompress_data() does it for a scattered record. */
static ssize_t abd_perf_lz4_borrow(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	struct abd_perf_lz4_set *set = path->set;
	void *block = abd_borrow_buf_copy(slot->block[PLAIN], slot->size[PLAIN]);
	void *record = abd_borrow_buf(set->scattered, set->record_size);
	int size =
		LZ4_decompress_safe(block, record, (int)slot->size[PLAIN], (int)set->record_size);

	abd_return_buf_copy(set->scattered, record, set->record_size);
	abd_return_buf(slot->block[PLAIN], block, slot->size[PLAIN]);
	return size;
}

static ssize_t abd_perf_lz4_range(
	const struct abd_perf_lz4_path *path, const struct abd_perf_lz4_slot *slot)
{
	struct abd_perf_lz4_set *set = path->set;
	unsigned block = path->block;

	return block == PLAIN ? abd_lz4_decompress_range_to_buf(set->back, slot->block[block],
					path->from, ABD_PERF_LZ4_RANGE, 0, slot->size[block])
			      : abd_lz4_decompress_indexed_range_to_buf(set->back,
					slot->block[block], path->from, ABD_PERF_LZ4_RANGE, 0,
					slot->size[block], slot->index[block]);
}

static double abd_perf_lz4_time(void *arg, uint64_t iterations)
{
	struct abd_perf_lz4_path *path = arg;
	struct abd_perf_lz4_set *set = path->set;
	size_t places = set->record_size / ABD_PERF_LZ4_RANGE;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		if (path->place == SIZE_MAX)
			path->from = abd_perf_random(&path->random) % places * ABD_PERF_LZ4_RANGE;
		path->errors += path->work(path, &set->slot[path->at]) <= 0;
		path->at = path->at + 1 < set->count ? path->at + 1 : 0;
	}
	return abd_perf_clock_ns() - start;
}

/* ---- the records ----------------------------------------------------------------------------- */

static abd_t *abd_perf_lz4_alloc(size_t size, unsigned form)
{
	abd_t *abd = form == LINEAR ? abd_alloc_linear(size, false) : abd_alloc(size, false);

	if (abd == NULL)
		abd_perf_say_die(1, "no memory for records");
	return abd;
}

static void *abd_perf_lz4_keep(void *old, const void *from, size_t size)
{
	void *copy = realloc(old, size);

	if (copy == NULL)
		abd_perf_say_die(1, "no memory for records");
	return memcpy(copy, from, size);
}

/* Make each record's block of one kind, and its index. */
static void abd_perf_lz4_blocks(struct abd_perf_lz4_set *set, unsigned block)
{
	static const int effort[BLOCKS] = {-1, 0, 3};
	struct abd_perf_lz4_path path = {.set = set, .form = LINEAR, .effort = effort[block]};
	abd_t *blocks[ABD_PERF_LZ4_MOST];

	for (size_t i = 0; i < set->count; i++) {
		struct abd_perf_lz4_slot *slot = &set->slot[i];
		ssize_t size = abd_perf_lz4_encode(&path, slot);

		if (size <= 0)
			abd_perf_say_die(1, "a record could not be compressed");
		slot->size[block] = (size_t)size;
		slot->linear[block] = abd_perf_lz4_keep(
			slot->linear[block], abd_to_buf(set->out[LINEAR]), (size_t)size);
		slot->index[block] = abd_perf_lz4_keep(slot->index[block], set->index,
			abd_lz4_index_size(set->record_size, set->group_size));
		if (slot->block[block] != NULL)
			abd_free(slot->block[block]);
		slot->block[block] = blocks[i] = abd_perf_lz4_alloc((size_t)size, PAGES);
	}
	abd_perf_place_shuffle(blocks, set->count);
	for (size_t i = 0; i < set->count; i++)
		abd_copy_from_buf(blocks[i], set->slot[i].linear[block], set->slot[i].size[block]);
}

static void abd_perf_lz4_set_make(
	struct abd_perf_lz4_set *set, const struct abd_perf_data *data, size_t record_size)
{
	size_t bound = (size_t)LZ4_compressBound((int)record_size);
	abd_t *pages[ABD_PERF_LZ4_MOST];

	*set = (struct abd_perf_lz4_set){.data = data->name,
		.record_size = record_size,
		.group_size = ABD_PERF_LZ4_GROUP,
		.count = data->size / record_size};
	if (set->count == 0)
		abd_perf_say_die(1, "%s has less than one record", data->name);
	set->slot = calloc(set->count, sizeof(*set->slot));
	set->back = malloc(record_size);
	/* Room for the smallest groups. */
	set->index = calloc(1, abd_lz4_index_size(record_size, 1024));
	abd_perf_place_tune("max_order", "0");
	for (unsigned form = 0; form < FORMS; form++)
		set->out[form] = abd_perf_lz4_alloc(bound, form);
	set->scattered = abd_perf_lz4_alloc(record_size, PAGES);
	if (set->slot == NULL || set->back == NULL || set->index == NULL)
		abd_perf_say_die(1, "no memory for records");
	for (size_t i = 0; i < set->count; i++) {
		for (unsigned form = 0; form < FORMS; form++)
			set->slot[i].record[form] = abd_perf_lz4_alloc(record_size, form);
		pages[i] = set->slot[i].record[PAGES];
	}
	abd_perf_place_shuffle(pages, set->count);
	for (size_t i = 0; i < set->count * FORMS; i++)
		abd_copy_from_buf(set->slot[i / FORMS].record[i % FORMS],
			data->bytes + i / FORMS * record_size, record_size);
	for (unsigned block = 0; block < BLOCKS; block++)
		abd_perf_lz4_blocks(set, block);
	for (size_t i = 0; i < set->count && abd_perf_lz4_zstd_here(); i++) {
		struct abd_perf_lz4_slot *slot = &set->slot[i];

		slot->zstd_size =
			(size_t)abd_perf_lz4_zstd(&(struct abd_perf_lz4_path){.set = set}, slot);
		slot->zstd = abd_perf_lz4_keep(NULL, abd_to_buf(set->out[LINEAR]), slot->zstd_size);
	}
}

static void abd_perf_lz4_set_free(struct abd_perf_lz4_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		for (unsigned form = 0; form < FORMS; form++)
			abd_free(set->slot[i].record[form]);
		free(set->slot[i].zstd);
		for (unsigned block = 0; block < BLOCKS; block++) {
			abd_free(set->slot[i].block[block]);
			free(set->slot[i].index[block]);
			free(set->slot[i].linear[block]);
		}
	}
	for (unsigned form = 0; form < FORMS; form++)
		abd_free(set->out[form]);
	abd_free(set->scattered);
	abd_perf_place_tune("max_order", "10");
	free(set->slot);
	free(set->index);
	free(set->back);
}

/* ---- the races ------------------------------------------------------------------------------- */

/* Whether what a path made of the first record is right. What it compressed is decoded. */
static bool abd_perf_lz4_right(const struct abd_perf_lz4_path *path, bool plant)
{
	struct abd_perf_lz4_set *set = path->set;
	const struct abd_perf_lz4_slot *slot = &set->slot[0];
	ssize_t size = path->work(path, slot);
	bool range = path->work == abd_perf_lz4_range;

	if (path->work == abd_perf_lz4_liblz4 || path->work == abd_perf_lz4_encode)
		size = size > 0 ? abd_lz4_decompress_to_buf(set->back, set->out[path->form],
					  set->record_size, 0, (size_t)size)
				: size;
	if (path->work == abd_perf_lz4_zstd)
		size = (ssize_t)zstd.decode(zstd.decoder, set->back, set->record_size,
			abd_to_buf(set->out[LINEAR]), (size_t)size);
	if (path->scattered)
		abd_copy_to_buf(set->back, set->scattered, set->record_size);
	if (plant)
		set->back[0] = (char)(set->back[0] + 1);
	return size == (ssize_t)(range ? ABD_PERF_LZ4_RANGE : set->record_size) &&
	       abd_cmp_buf_off(
		       slot->record[LINEAR], set->back, range ? path->from : 0, (size_t)size) == 0;
}

struct abd_perf_lz4_group {
	const char *name;
	const char *const *names;
	const struct abd_perf_lz4_path *paths;
	const struct abd_perf_claim *claims;
	unsigned count, claim_count;
	bool whole; /* GB/s of records; else ns. The last path is libzstd's, and so is the last
		       claim */
};

static int abd_perf_lz4_race(struct abd_perf_lz4_set *set, const struct abd_perf_lz4_group *group,
	size_t place, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	static const char *const bytes[BLOCKS] = {"plain_bytes", "indexed_bytes", "deep_bytes"};
	struct abd_perf_lz4_path ways[ABD_PERF_PATHS_MAX];
	struct abd_perf_path path[ABD_PERF_PATHS_MAX];
	unsigned without = group->whole && !abd_perf_lz4_zstd_here(),
		 count = group->count - without;
	json_t *result;
	char text[40], size[24];
	size_t errors = 0;

	abd_perf_options_size_text(set->record_size, size, sizeof(size));
	if (place != SIZE_MAX)
		snprintf(text, sizeof(text), "at %zuk", place >> 10);
	else
		snprintf(text, sizeof(text), "groups of %zuk", set->group_size >> 10);
	abd_perf_say_step("%s, %s of %s, %s", group->name, size, set->data, text);
	for (unsigned i = 0; i < count; i++) {
		ways[i] = group->paths[i];
		ways[i].set = set;
		ways[i].place = place;
		ways[i].from = place != SIZE_MAX ? place : 0;
		ways[i].random = options->seed;
		path[i] = (struct abd_perf_path){group->names[i], abd_perf_lz4_time, &ways[i]};
		if (!abd_perf_lz4_right(&ways[i], options->plant))
			return 1;
	}
	if (!abd_perf_race_run(&race, path, count, options))
		return 0;
	result = abd_perf_result_add("lz4", group->name, "%s of %s, %s", size, set->data, text);
	abd_perf_result_text(result, "data", set->data);
	abd_perf_result_size(result, "record_size", set->record_size);
	abd_perf_result_size(result, "group_size", set->group_size);
	if (place != SIZE_MAX)
		abd_perf_result_number(result, "place", (double)place);
	for (unsigned block = 0; block < BLOCKS; block++) {
		double sum = 0;

		for (size_t i = 0; i < set->count; i++)
			sum += (double)set->slot[i].size[block];
		if (block != PLAIN)
			sum += (double)(set->count *
					abd_lz4_index_size(set->record_size, set->group_size));
		abd_perf_result_number(result, bytes[block], sum / (double)set->count);
	}
	abd_perf_result_race(result, &race, path, group->whole ? (double)set->record_size : 0);
	abd_perf_result_claims(result, &race, path, group->claims, group->claim_count - without);
	for (unsigned i = 0; i < count; i++)
		errors += ways[i].errors;
	return errors == 0 ? 0 : 1;
}

enum { E_LIBLZ4, E_HC, E_LINEAR, E_PAGES, E_INDEXED, E_INDEXED_PAGES, E_DEEP, E_ZSTD };

static const struct abd_perf_lz4_group abd_perf_lz4_groups[] = {
	{"encode",
		(const char *const[]){"liblz4, linear", "liblz4 HC 3, linear", "plain, linear",
			"plain, scattered", "indexed, linear", "indexed, scattered",
			"indexed at 3, scattered", "ZSTD 1, linear"},
		(const struct abd_perf_lz4_path[]){{.work = abd_perf_lz4_liblz4},
			{.work = abd_perf_lz4_liblz4, .effort = 3},
			{.work = abd_perf_lz4_encode, .effort = -1},
			{.work = abd_perf_lz4_encode, .effort = -1, .form = PAGES},
			{.work = abd_perf_lz4_encode}, {.work = abd_perf_lz4_encode, .form = PAGES},
			{.work = abd_perf_lz4_encode, .form = PAGES, .effort = 3},
			{.work = abd_perf_lz4_zstd}},
		(const struct abd_perf_claim[]){{E_PAGES, E_LIBLZ4, 1, NULL},
			{E_LINEAR, E_LIBLZ4, 0, NULL}, {E_INDEXED, E_LIBLZ4, 0, NULL},
			{E_INDEXED_PAGES, E_LIBLZ4, 0, NULL}, {E_DEEP, E_HC, 1, NULL},
			{E_PAGES, E_ZSTD, 0, NULL}},
		8, 6, true},
	{"decode",
		(const char *const[]){"liblz4, linear", "plain", "indexed", "indexed at 3",
			"plain, to scattered", "liblz4, both borrowed", "ZSTD 1, linear"},
		(const struct abd_perf_lz4_path[]){{.work = abd_perf_lz4_liblz4_decode},
			{.work = abd_perf_lz4_decode},
			{.work = abd_perf_lz4_decode, .block = INDEXED},
			{.work = abd_perf_lz4_decode, .block = DEEP},
			{.work = abd_perf_lz4_scatter, .scattered = true},
			{.work = abd_perf_lz4_borrow, .scattered = true},
			{.work = abd_perf_lz4_zstd_decode}},
		(const struct abd_perf_claim[]){{1, 0, 1, NULL}, {2, 1, 1, NULL}, {3, 1, 1, NULL},
			{4, 0, 0, NULL}, {4, 5, 1, NULL}, {1, 6, 0, NULL}},
		7, 6, true},
#define ABD_PERF_LZ4_RANGES(name)                                                          \
	{                                                                                  \
		name, (const char *const[]){"no index", "indexed", "indexed at 3", "all"}, \
			(const struct abd_perf_lz4_path[]){{.work = abd_perf_lz4_range},   \
				{.work = abd_perf_lz4_range, .block = INDEXED},            \
				{.work = abd_perf_lz4_range, .block = DEEP},               \
				{.work = abd_perf_lz4_decode}},                            \
			(const struct abd_perf_claim[]){{0, 3, 0, NULL}, {1, 0, 0, NULL},  \
				{1, 3, 0, NULL}, {2, 0, 0, NULL}, {2, 3, 0, NULL}},        \
			4, 5, false                                                        \
	}
	ABD_PERF_LZ4_RANGES("place"),
	ABD_PERF_LZ4_RANGES("curve"),
};
enum { ENCODE, DECODE, PLACE, CURVE };

/*
 * Without --full: places in real files alone, which the page draws, and every second size of
 * groups.
 */
static int abd_perf_lz4_ranges(struct abd_perf_lz4_set *set, const struct abd_perf_options *options)
{
	size_t step = set->record_size / (options->quick ? 4 : 16);
	bool places = !options->quick || strcmp(set->data, "files") == 0;
	int status = 0;

	for (size_t place = 0; places && place <= set->record_size && status == 0; place += step) {
		size_t last = set->record_size - ABD_PERF_LZ4_RANGE;

		if (!abd_perf_say_stopped())
			status = abd_perf_lz4_race(set, &abd_perf_lz4_groups[PLACE],
				place < last ? place : last, options);
	}
	for (size_t group = 4 << 10; group <= 64 << 10 && status == 0;
		group *= options->quick ? 4 : 2) {
		if (abd_perf_say_stopped())
			break;
		set->group_size = group;
		abd_perf_lz4_blocks(set, INDEXED);
		abd_perf_lz4_blocks(set, DEEP);
		status = abd_perf_lz4_race(set, &abd_perf_lz4_groups[CURVE], SIZE_MAX, options);
	}
	return status;
}

static int abd_perf_lz4_data(
	const struct abd_perf_data *data, const struct abd_perf_options *options)
{
	static const size_t all[] = {128 << 10, 32 << 10, 1 << 20};
	const size_t *size = options->record_size != 0 ? &options->record_size : all;
	unsigned count = options->record_size != 0 || options->quick ? 1 : 3;
	int status = 0;

	for (unsigned i = 0; i < count && status == 0 && !abd_perf_say_stopped(); i++) {
		struct abd_perf_lz4_set set;

		abd_perf_lz4_set_make(&set, data, size[i]);
		for (unsigned group = ENCODE; group <= DECODE && status == 0; group++)
			status = abd_perf_lz4_race(
				&set, &abd_perf_lz4_groups[group], SIZE_MAX, options);
		if (status == 0)
			status = abd_perf_lz4_ranges(&set, options);
		abd_perf_lz4_set_free(&set);
	}
	if (status != 0)
		abd_perf_say_warn("a record was not what it should be");
	return status;
}

static int abd_perf_lz4_run(const struct abd_perf_options *options)
{
	static const struct abd_perf_rows_kind rows = {"rows 2.4", 96, 20, 5};
	size_t bytes = options->mode == ABD_PERF_QUICK ? ABD_PERF_ARC_HOT / 3 : ABD_PERF_ARC_HOT;
	struct abd_perf_data data[3];
	int status = 0;

	if (options->record_size != 0 &&
		(options->record_size < 32 << 10 || options->record_size > 2 << 20 ||
			options->record_size % (32 << 10) != 0))
		abd_perf_say_die(2, "lz4 takes records of 32k to 2m, multiples of 32k");
	if (!abd_perf_files_load(&data[0], options, bytes))
		return ABD_PERF_LEFT_OUT;
	abd_perf_fio_make(&data[1], options, bytes);
	abd_perf_rows_make(&data[2], options, &rows, bytes);
	abd_perf_say_begin("lz4", options->quick ? 20 : options->record_size != 0 ? 72 : 216);
	for (unsigned i = 0; i < 3; i++) {
		if (status == 0 && !abd_perf_say_stopped())
			status = abd_perf_lz4_data(&data[i], options);
		free(data[i].bytes);
	}
	return status;
}

const struct abd_perf_scenario abd_perf_lz4 = {
	.name = "lz4",
	.summary = "writing lz4 from scattered runs, and blocks that can be entered in the middle",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 9,
	.full_s = 120,
	.run = abd_perf_lz4_run,
};
