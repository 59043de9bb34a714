/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filling, reading and checking. The records' content repeats when the data is smaller than the
 * files; their keys do not.
 */
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_clock.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

const char *const abd_perf_cached_name[CACHED_MODES] = {
	"bare decode", "cache", "scatter", "openzfs's way", "single-chunk", "lines first"};

/* The content of a record. */
static const void *abd_perf_cached_source(
	const struct abd_perf_data *data, size_t record, size_t record_size)
{
	return data->bytes + record % (data->size / record_size) * record_size;
}

/* ---- one record, in each way ----------------------------------------------------------------- */

static bool abd_perf_cached_bare(const struct abd_perf_cached_set *set, size_t record, char *dst)
{
	const abd_t *abd = set->block[record].abd;
	size_t size = set->record_size;

	if (set->block[record].compressed)
		return abd_lz4_decompress_to_buf(dst, abd, size, 0, abd_get_size(abd)) ==
		       (ssize_t)size;
	abd_copy_to_buf_off(dst, abd, 0, size);
	return true;
}

static bool abd_perf_cached_read(
	const struct abd_perf_cached_set *set, abd_arc_t *arc, size_t record, char *dst)
{
	abd_arc_key_t key = abd_perf_cached_key(record);

	return abd_arc_read(arc, &key, dst, 0, set->record_size) == (ssize_t)set->record_size;
}

static void abd_perf_cached_lines(const char *buf, size_t size)
{
	for (size_t at = 0; at < size; at += 64)
		*(const volatile char *)(buf + at);
}

/*
 * As OpenZFS does it: look the record up in the cache, hold it, borrow its buffer, decode, return,
 * release.
 */
static bool abd_perf_cached_borrow(const struct abd_perf_cached_set *set, abd_arc_t *arc,
	size_t record, char *dst, bool lines_first)
{
	abd_arc_key_t key = abd_perf_cached_key(record);
	int size = (int)set->record_size;
	abd_arc_hold_t hold;
	bool good;
	abd_t *abd;

	if (abd_arc_hold(arc, &key, &hold) != 0)
		return false;
	memcpy(&abd, &hold.abd, sizeof(abd)); /* drops const: the borrow is only read */
	char *buf = abd_borrow_buf_copy(abd, hold.stored_size);

	if (lines_first)
		abd_perf_cached_lines(buf, hold.stored_size);
	if (hold.compressed)
		good = LZ4_decompress_safe(buf, dst, (int)hold.stored_size, size) == size;
	else
		good = memcpy(dst, buf, (size_t)size) != NULL;
	abd_return_buf(abd, buf, hold.stored_size);
	abd_arc_release(&hold);
	return good;
}

bool abd_perf_cached_record(
	const struct abd_perf_cached_set *set, unsigned mode, size_t record, char *dst)
{
	switch (mode) {
	case CACHED_BARE:
		return abd_perf_cached_bare(set, record, dst);
	case CACHED_CACHE:
		return abd_perf_cached_read(set, set->packed, record, dst);
	case CACHED_SCATTER:
		return abd_perf_cached_read(set, set->off, record, dst);
	case CACHED_OPENZFS:
		return abd_perf_cached_borrow(set, set->off, record, dst, false);
	default:
		return abd_perf_cached_borrow(set, set->on, record, dst, mode == CACHED_LINES);
	}
}

double abd_perf_cached_walk_run(void *arg, uint64_t iterations)
{
	struct abd_perf_cached_walk *walk = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		walk->errors += !abd_perf_cached_record(walk->set, walk->mode, walk->at, walk->dst);
		walk->at = walk->at + 1 < walk->set->records ? walk->at + 1 : 0;
	}
	return abd_perf_clock_ns() - start;
}

/* ---- filling, and checking every record in every way ----------------------------------------- */

bool abd_perf_cached_put(
	abd_arc_t *arc, const struct abd_perf_data *data, size_t record, size_t record_size)
{
	abd_arc_key_t key = abd_perf_cached_key(record);

	return abd_arc_put(arc, &key, abd_perf_cached_source(data, record, record_size),
		       record_size) == 0;
}

static abd_arc_t *abd_perf_cached_create(size_t records, size_t capacity)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.expected_entries = records};
	abd_arc_t *arc = abd_arc_create(&config);

	if (arc == NULL)
		abd_perf_say_die(1, "no memory for a cache");
	return arc;
}

abd_arc_t *abd_perf_cached_fill(
	const struct abd_perf_data *data, size_t records, size_t record_size, size_t capacity)
{
	abd_arc_t *arc = abd_perf_cached_create(records, capacity);

	for (size_t i = 0; i < records; i++) {
		if (!abd_perf_cached_put(arc, data, i, record_size))
			abd_perf_say_die(1, "no memory for %zu records", records);
	}
	return arc;
}

/* A cache of the blocks that packed has, each in a buffer of its own: the rule is as it is set. */
static abd_arc_t *abd_perf_cached_apart(const struct abd_perf_cached_set *set)
{
	abd_arc_t *arc = abd_perf_cached_create(set->records, set->capacity);

	for (size_t i = 0; i < set->records; i++) {
		abd_arc_key_t key = abd_perf_cached_key(i);
		abd_arc_hold_t hold;
		abd_t *abd;

		if (abd_arc_hold(set->packed, &key, &hold) != 0 ||
			(abd = abd_alloc(hold.stored_size, false)) == NULL)
			abd_perf_say_die(1, "no memory for %zu records", set->records);
		abd_copy(abd, hold.abd, hold.stored_size);
		if (abd_arc_put_abd(arc, &key, abd, set->record_size,
			    hold.compressed ? ABD_ARC_STORED : ABD_ARC_PLAIN) != 0)
			abd_perf_say_die(1, "no memory for %zu records", set->records);
		abd_arc_release(&hold);
	}
	return arc;
}

static void abd_perf_cached_look(struct abd_perf_cached_set *set)
{
	set->block = malloc(set->records * sizeof(*set->block));
	if (set->block == NULL)
		abd_perf_say_die(1, "no memory for the list of records");
	for (size_t i = 0; i < set->records; i++) {
		abd_arc_key_t key = abd_perf_cached_key(i);
		abd_arc_hold_t hold;

		if (abd_arc_hold(set->packed, &key, &hold) != 0)
			abd_perf_say_die(
				1, "record %zu of %zu is not in the cache", i, set->records);
		set->block[i] = (struct abd_perf_cached_block){hold.abd, hold.compressed};
		abd_arc_release(&hold);
	}
}

void abd_perf_cached_set_make(struct abd_perf_cached_set *set)
{
	set->packed =
		abd_perf_cached_fill(set->data, set->records, set->record_size, set->capacity);
	set->on = abd_perf_cached_apart(set);
	abd_perf_place_tune("linear_page", "0");
	set->off = abd_perf_cached_apart(set);
	abd_perf_place_tune("linear_page", "1");
	abd_perf_cached_look(set);
}

void abd_perf_cached_set_free(struct abd_perf_cached_set *set)
{
	free(set->block);
	abd_arc_destroy(set->packed);
	abd_arc_destroy(set->on);
	abd_arc_destroy(set->off);
}

/* Whether the rule decides what it should: with it alone blocks of 1.5 to 4 KiB are linear. */
static bool abd_perf_cached_ruled(const struct abd_perf_cached_set *set, size_t record)
{
	abd_arc_key_t key = abd_perf_cached_key(record);
	abd_arc_t *const arc[] = {set->off, set->on};
	bool good = true;

	for (unsigned on = 0; on < 2 && good; on++) {
		abd_arc_hold_t hold;

		good = abd_arc_hold(arc[on], &key, &hold) == 0;
		if (!good)
			continue;
		good = hold.stored_size < 1536 || hold.stored_size > 4096 ||
		       abd_is_linear(hold.abd) == (on == 1);
		abd_arc_release(&hold);
	}
	return good;
}

bool abd_perf_cached_set_check(const struct abd_perf_cached_set *set)
{
	char *dst = malloc(set->record_size);
	bool good = dst != NULL;

	for (size_t i = 0; good && i < set->records; i++)
		good = abd_perf_cached_ruled(set, i);
	for (unsigned mode = 0; good && mode < CACHED_MODES; mode++) {
		for (size_t i = 0; good && i < set->records; i++) {
			memset(dst, 0x5a, set->record_size);
			good = abd_perf_cached_record(set, mode, i, dst);
			if (set->options->plant && i == set->records / 2)
				dst[0] = (char)(dst[0] + 1);
			good = good &&
			       memcmp(dst, abd_perf_cached_source(set->data, i, set->record_size),
				       set->record_size) == 0;
		}
	}
	free(dst);
	return good;
}
