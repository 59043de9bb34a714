/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records in parts: behind a header, before room that was not needed, with the index and checksum
 * that a file had.
 */
#include "abd_arc_hold.h"
#include "abd_arc_record.h"
#include "arc_data.h"

#include <abd/codec.h>
#include <abd/io.h>

enum { SIZE = 131072, HEADER = 512, GROUP = 8192 };

static char data[1 << 20], got[1 << 20], block[1 << 20];
static char index_room[4096];
static struct abd_lz4_index *const block_index = (void *)index_room;

/* The cache itself makes no index. */
static abd_arc_t *make(uint32_t flags)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 16 << 20, .flags = flags};

	return abd_arc_create(&config);
}

/* Record n, in data, and its block, in block. Returns the block's size. */
static size_t make_block(uint64_t n, size_t size, size_t group)
{
	abd_t from, to;

	arc_fill(data, size, n, 0, 24);
	abd_get_from_buf_struct(&from, data, size);
	abd_get_from_buf_struct(&to, block, sizeof(block));
	ssize_t stored = abd_lz4_compress_indexed(&to, &from, 0, 0, size, group, 0, block_index);

	cr_assert(stored > 0 && (size_t)stored < size);
	abd_free(&from);
	abd_free(&to);
	return (size_t)stored;
}

/* The whole record, and parts of it. */
static void expect_record(abd_arc_t *arc, uint64_t n, size_t size)
{
	uint64_t seed = n;

	for (int i = 0; i < 12; i++) {
		size_t off = i == 0 ? 0 : abd_test_random_below(&seed, size);
		size_t part = i == 0 ? size : 1 + abd_test_random_below(&seed, size - off);

		cr_assert_eq(abd_arc_read(arc, arc_at(n), got, off, part), (ssize_t)part);
		cr_assert_arr_eq(got, data + off, part, "%zu +%zu of %zu", off, part, size);
	}
}

static struct abd_arc_entry *entry_of(abd_arc_t *arc, uint64_t n)
{
	struct abd_arc_entry *entry = abd_arc_find(arc, abd_arc_hash(arc, arc_at(n)), arc_at(n));

	cr_assert_not_null(entry);
	return entry;
}

static const void *first_byte(const abd_t *abd)
{
	struct iovec iov;
	size_t covered;

	cr_assert_eq(abd_to_iov(abd, 0, 1, &iov, 1, &covered), 1);
	return iov.iov_base;
}

/* Fill a buffer of room bytes, the record from off on, and end it. *moved: in other memory. */
static int fill_in(abd_arc_t *arc, uint64_t n, const void *bytes, size_t room,
	const abd_arc_record_t *record, bool *moved)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(n), room, 0, &hold, &fill), 1);
	const void *memory = first_byte(fill.abd);

	if (record->off < room)
		abd_copy_from_buf_off(fill.abd, bytes, record->off,
			record->stored_size < room - record->off ? record->stored_size
								 : room - record->off);
	int error = abd_arc_fill_commit_record(&fill, record, &hold);

	cr_assert_null(fill.entry);
	cr_assert_eq(error != 0, hold.entry == NULL);
	if (error == 0) {
		*moved = first_byte(hold.abd) != memory;
		cr_assert_eq(hold.stored_size, abd_get_size(hold.abd));
		cr_assert_eq(hold.logical_size, record->logical_size);
		cr_assert(record->flags == 0 || hold.stored_size == record->stored_size);
		abd_arc_release(&hold);
	}
	cr_assert_eq(arc->policy.reserved, 0);
	return error;
}

/* The same of a buffer that is put. After an error it is the caller's, and unchanged. */
static int put_in(abd_arc_t *arc, uint64_t n, const void *bytes, size_t room,
	const abd_arc_record_t *record, bool *moved)
{
	abd_t *abd = abd_alloc(room, false);
	const void *memory = first_byte(abd);
	abd_arc_hold_t hold;

	abd_zero(abd, room);
	if (record->off < room)
		abd_copy_from_buf_off(abd, bytes, record->off,
			record->stored_size < room - record->off ? record->stored_size
								 : room - record->off);
	int error = abd_arc_put_record(arc, arc_at(n), abd, record);

	if (error != 0) {
		cr_assert_eq(abd_get_size(abd), room);
		abd_free(abd);
		return error;
	}
	cr_assert_eq(abd_arc_hold(arc, arc_at(n), &hold), 0);
	*moved = first_byte(hold.abd) != memory;
	cr_assert_eq(hold.stored_size, abd_get_size(hold.abd));
	abd_arc_release(&hold);
	return 0;
}

static int (*const ways[])(abd_arc_t *, uint64_t, const void *, size_t, const abd_arc_record_t *,
	bool *) = {fill_in, put_in};

/* In slots, in buffers of pages and in small ones; compressed here, compressed before, plain. */
Test(arc_parts, a_record_behind_a_header_is_stored_without_it)
{
	static const size_t sizes[] = {9, 700, 1500, 5000, 40000, SIZE};
	static const unsigned flags[] = {0, ABD_ARC_PLAIN, ABD_ARC_STORED};
	struct abd_stats before = abd_test_stats(), after;
	abd_arc_t *arc = make(ABD_ARC_CHECKSUM);
	bool moved;

	for (uint64_t n = 0; n < 36; n++) {
		size_t size = sizes[n / 6];
		abd_arc_record_t record = {.off = n % 4 == 0 ? HEADER : 3,
			.stored_size = size,
			.logical_size = size,
			.flags = flags[n / 2 % 3]};

		if (record.flags == ABD_ARC_STORED && size < 100)
			continue;
		size_t stored = size >= 100 ? make_block(n, size, GROUP) : 0;

		if (record.flags == ABD_ARC_STORED)
			record.stored_size = stored;
		else
			arc_fill(data, size, n, 0, 24);
		cr_assert_eq(ways[n % 2](arc, n, record.flags == ABD_ARC_STORED ? block : data,
				     record.off + record.stored_size + n % 5, &record, &moved),
			0);
		expect_record(arc, n, size);
	}
	abd_arc_destroy(arc);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after), "something leaks");
}

/* What was cut off still counts: it is the record's memory. */
Test(arc_parts, a_buffer_with_little_room_left_is_kept_without_a_copy)
{
	static const struct {
		size_t room, size;
		bool stays;
	} cases[] = {
		{4096, 4096, true}, {8192, 8000, true}, {8192, 7000, false}, {8192, 4096, false},
		{12288, 12000, true},    /* runs of 2 and 1 pages */
		{12288, 8192, false},    /* would end with the first run */
		{SIZE, SIZE - 1, true},  /* one run */
		{SIZE, 124000, true},    /* and a whole page is lost */
		{SIZE, 120000, false},   /* more than a 16th */
		{184320, 181000, true},  /* runs of 32, 8, 4 and 1 pages */
		{184320, 180000, false}, /* more than the last run */
		{1500, 1500, false},     /* lies in a page with others */
	};
	struct abd_stats before = abd_test_stats(), after;

	for (uint64_t n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); n++) {
		abd_arc_t *arc = make(0);
		size_t room = cases[n / 2].room, size = cases[n / 2].size;
		const abd_arc_record_t record = {
			.stored_size = size, .logical_size = size, .flags = ABD_ARC_PLAIN};
		bool moved, is_fill = n % 2 == 0;

		arc_fill(data, size, n, 0, 64);
		cr_assert_eq(ways[n % 2](arc, n, data, room, &record, &moved), 0);
		/* A full buffer that is put stays, however small. */
		cr_assert_eq(moved, !cases[n / 2].stays && (is_fill || size < room),
			"%zu of %zu, %s", size, room, is_fill ? "filled" : "put");
		if (cases[n / 2].stays)
			cr_assert_geq(entry_of(arc, n)->item.cost, room);
		expect_record(arc, n, size);
		abd_arc_destroy(arc);
	}
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after), "something leaks");
}

/* Linear memory goes back by its size. */
Test(arc_parts, a_linear_buffer_with_room_left_is_copied)
{
	abd_arc_t *arc = make(0);
	abd_t *abd = abd_alloc_linear(SIZE, false);
	const abd_arc_record_t record = {
		.stored_size = SIZE - 5, .logical_size = SIZE - 5, .flags = ABD_ARC_PLAIN};

	arc_fill(data, SIZE, 1, 0, 64);
	abd_copy_from_buf(abd, data, SIZE);
	cr_assert_eq(abd_arc_put_record(arc, arc_at(1), abd, &record), 0);
	expect_record(arc, 1, SIZE - 5);
	abd_arc_destroy(arc);
}

/* ---- index and checksum ---------------------------------------------------------------------- */

Test(arc_parts, a_blocks_own_index_is_kept_and_used)
{
	static const size_t groups[] = {1024, 2048, 16384, 65536};

	for (uint64_t n = 0; n < 16; n++) {
		abd_arc_t *arc = make(n % 4 < 2 ? 0 : ABD_ARC_CHECKSUM);
		size_t size = n < 8 ? 65000 : SIZE, group = groups[n / 2 % 4];
		bool fits = (size + group - 1) / group <= 64, moved;
		abd_arc_record_t record = {.off = n % 3 == 0 ? HEADER : 0,
			.stored_size = make_block(n, size, group),
			.logical_size = size,
			.flags = n % 5 == 0 ? ABD_ARC_STORED : ABD_ARC_STORED | ABD_ARC_VERIFY,
			.index = block_index};

		cr_assert_eq(ways[n % 2](arc, n, block, record.off + record.stored_size, &record,
				     &moved),
			0);
		struct abd_arc_entry *entry = entry_of(arc, n);

		cr_assert_eq(entry->item.indexed, fits);
		if (fits) {
			cr_assert_eq(abd_arc_entry_index_size(arc, entry),
				abd_lz4_index_size(size, group));
			cr_assert_arr_eq(abd_arc_entry_index(arc, entry), block_index,
				abd_lz4_index_size(size, group));
			cr_assert_geq(arc_stats(arc).index_bytes, abd_lz4_index_size(size, group));
		}
		memset(index_room, 0xff, sizeof(index_room));
		expect_record(arc, n, size);
		abd_arc_destroy(arc);
	}
}

Test(arc_parts, an_index_that_does_not_fit_is_an_error)
{
	abd_arc_t *arc = make(0);
	size_t size = make_block(1, SIZE, GROUP);
	abd_arc_record_t record = {.stored_size = size,
		.logical_size = SIZE,
		.flags = ABD_ARC_STORED,
		.index = block_index};
	char good[sizeof(index_room)];
	bool moved;

	memcpy(good, index_room, sizeof(good));
	for (unsigned i = 0; i < 10; i++) {
		abd_arc_record_t wrong = record;

		memcpy(index_room, good, sizeof(good));
		if (i == 0)
			block_index->count++;
		else if (i == 1)
			block_index->count--;
		else if (i == 2)
			block_index->group_size = 0;
		else if (i == 3)
			block_index->group_size *= 2;
		else if (i == 4)
			block_index->points[2].stored = UINT32_MAX;
		else if (i == 5)
			block_index->points[2].logical = 0;
		else if (i == 6)
			wrong.logical_size += GROUP;
		else if (i == 7)
			block_index->reserved = 1;
		else /* of another block: only seen when it is verified */
			block_index->points[3].stored--;
		if (i == 9)
			wrong.flags |= ABD_ARC_VERIFY;
		cr_assert_eq(ways[i % 2](arc, i, block, size, &wrong, &moved),
			i == 8 ? 0 : -EBADMSG, "case %u", i);
	}
	/* Such an index is harmless: a read is refused, or gives bytes of the block. */
	(void)abd_arc_read(arc, arc_at(8), got, 3 * GROUP, GROUP);
	memcpy(index_room, good, sizeof(good));
	record.flags = ABD_ARC_PLAIN;
	record.logical_size = record.stored_size;
	cr_assert_eq(fill_in(arc, 20, block, size, &record, &moved), -EINVAL);
	record.flags = 0;
	cr_assert_eq(fill_in(arc, 20, block, size, &record, &moved), -EINVAL);
	abd_arc_destroy(arc);
}

/* Change point i of the index, or the hub, by so many bytes. */
static void change_index(unsigned kind, uint32_t i, unsigned by)
{
	if (kind == 0)
		block_index->points[i].stored += by;
	else if (kind == 1)
		block_index->points[i].logical += by;
	else if (kind == 2)
		block_index->points[i] = block_index->points[i + 1];
	else
		block_index->hub_size += by;
}

/* A record with words that come again at any distance: many matches lie in the hub. */
static size_t make_words(size_t size, size_t group, int effort)
{
	abd_t from, to;

	for (size_t i = 0; i < size; i++)
		data[i] = "abcdefghijklmnop"[(i / 9 * i) >> 6 & 15];
	abd_get_from_buf_struct(&from, data, size);
	abd_get_from_buf_struct(&to, block, sizeof(block));
	ssize_t stored =
		abd_lz4_compress_indexed(&to, &from, 0, 0, size, group, effort, block_index);

	cr_assert(stored > 0 && (size_t)stored < size);
	abd_free(&from);
	abd_free(&to);
	return (size_t)stored;
}

/* All that the index can be entered for, a few bytes each, and up to behind the next hub. */
static void expect_ranges(abd_arc_t *arc, uint64_t n, size_t size)
{
	static const size_t parts[] = {1, 700, 70000};

	for (size_t off = 0; off < size; off += 1 + off % 61)
		for (unsigned i = 0; i < 3; i++) {
			size_t part = parts[i] < size - off ? parts[i] : size - off;

			cr_assert_eq(abd_arc_read(arc, arc_at(n), got, off, part), (ssize_t)part);
			cr_assert_arr_eq(got, data + off, part, "%zu +%zu", off, part);
		}
}

Test(arc_parts, a_verified_index_is_right_for_every_range)
{
	static const size_t sizes[] = {9000, 28000, 66000, 150000};
	static const unsigned by[] = {1, 2, 3, -1U, -2U, -3U};
	abd_arc_t *arc = make(0);
	char good[sizeof(index_room)];
	bool moved;

	for (unsigned n = 0; n < 16; n++) {
		size_t size = sizes[n / 4], group = (size_t)1024 << n % 4;
		size_t stored = make_words(size, group, n % 3 == 0 ? 9 : 0);
		const abd_arc_record_t record = {.stored_size = stored,
			.logical_size = size,
			.flags = ABD_ARC_STORED | ABD_ARC_VERIFY,
			.index = block_index};
		uint32_t count = block_index->count;

		memcpy(good, index_room, sizeof(good));
		cr_assert_eq(ways[n % 2](arc, n, block, stored, &record, &moved), 0);
		expect_ranges(arc, n, size);
		abd_arc_remove(arc, arc_at(n));
		for (uint32_t i = 0; i < 3 * count * 6; i++) {
			uint32_t point = i / 6 % count;
			unsigned kind = i / 6 / count;

			memcpy(index_room, good, sizeof(good));
			if (kind == 2 && point + 1 == count)
				continue;
			change_index(kind, point, by[i % 6]);
			if (memcmp(index_room, good, sizeof(good)) == 0)
				continue;
			cr_assert_eq(ways[i % 2](arc, n, block, stored, &record, &moved), -EBADMSG,
				"%zu by %zu: point %u, kind %u", size, group, point, kind);
		}
		/* Matches need not reach as far as they may. */
		for (unsigned change = 1; change < group; change = change * 5 / 4 + 1) {
			memcpy(index_room, good, sizeof(good));
			change_index(3, 0, -change);
			if (block_index->hub_size > group)
				break;
			int error = ways[n % 2](arc, n, block, stored, &record, &moved);

			cr_assert(error == 0 || error == -EBADMSG, "%d", error);
			if (error == 0)
				expect_ranges(arc, n, size);
			abd_arc_remove(arc, arc_at(n));
		}
	}
	abd_arc_destroy(arc);
}

Test(arc_parts, an_index_that_lies_in_the_block_is_an_error)
{
	abd_arc_t *arc = make(0);
	size_t size = make_block(1, SIZE, GROUP), index_size = abd_lz4_index_size(SIZE, GROUP);
	size_t off = (index_size + 15) & ~(size_t)15;
	abd_t *abd = abd_alloc(off + size + index_size, false);
	char *memory = (char *)(uintptr_t)first_byte(abd);
	abd_arc_record_t record = {
		.off = off, .stored_size = size, .logical_size = SIZE, .flags = ABD_ARC_STORED};

	abd_copy_from_buf_off(abd, index_room, 0, index_size);
	abd_copy_from_buf_off(abd, block, off, size);
	record.index = (void *)(memory + 8);
	memcpy(memory + 8, index_room, index_size);
	if (8 + index_size > off)
		cr_assert_eq(abd_arc_put_record(arc, arc_at(1), abd, &record), -EINVAL);
	memcpy(memory + off, index_room, index_size);
	record.index = (void *)(memory + off);
	cr_assert_eq(abd_arc_put_record(arc, arc_at(1), abd, &record), -EINVAL);
	/* In front of the block, in the same buffer, as a file may have it. */
	abd_copy_from_buf_off(abd, index_room, 0, index_size);
	abd_copy_from_buf_off(abd, block, off, size);
	record.index = (void *)memory;
	cr_assert_eq(abd_arc_put_record(arc, arc_at(1), abd, &record), 0);
	cr_assert(entry_of(arc, 1)->item.indexed);
	expect_record(arc, 1, SIZE);
	abd_arc_destroy(arc);
}

Test(arc_parts, a_known_checksum_is_taken_over)
{
	abd_arc_t *arc = make(ABD_ARC_CHECKSUM);
	uint64_t checksum[4];
	abd_t from;
	bool moved;

	for (uint64_t n = 0; n < 8; n++) {
		bool is_wrong = n % 2 == 1, plain = n / 2 % 2 == 1, verify = n >= 4 && !plain;
		size_t size = make_block(n, SIZE, GROUP);
		abd_arc_record_t record = {.stored_size = plain ? SIZE : size,
			.logical_size = SIZE,
			.flags = plain ? ABD_ARC_PLAIN : ABD_ARC_STORED,
			.checksum = checksum};

		record.flags |= verify ? ABD_ARC_VERIFY : 0;
		abd_get_from_buf_struct(&from, plain ? data : block, record.stored_size);
		abd_fletcher_4(&from, 0, record.stored_size, checksum);
		abd_free(&from);
		checksum[2] += is_wrong;
		/* A hold would verify it. */
		abd_t *abd = abd_alloc(record.stored_size, false);

		abd_copy_from_buf(abd, plain ? data : block, record.stored_size);
		int error = abd_arc_put_record(arc, arc_at(n), abd, &record);

		if (verify && is_wrong) {
			cr_assert_eq(error, -EBADMSG);
			abd_free(abd);
			continue;
		}
		cr_assert_eq(error, 0);
		if (is_wrong)
			cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, SIZE), -EBADMSG);
		else
			expect_record(arc, n, SIZE);
	}
	/* It may lie behind the record, in the room of a buffer that becomes the record's. */
	abd_t *abd = abd_alloc(SIZE, false);
	uint64_t *behind = (uint64_t *)((uintptr_t)first_byte(abd) + SIZE - sizeof(checksum));
	size_t size = SIZE - sizeof(checksum);
	const abd_arc_record_t record = {.stored_size = size,
		.logical_size = size,
		.flags = ABD_ARC_PLAIN,
		.checksum = behind};

	arc_fill(data, size, 10, 0, 64);
	abd_copy_from_buf(abd, data, size);
	abd_fletcher_4(abd, 0, size, checksum);
	memcpy(behind, checksum, sizeof(checksum));
	cr_assert_eq(abd_arc_put_record(arc, arc_at(10), abd, &record), 0);
	expect_record(arc, 10, size);
	arc_fill(data, SIZE, 9, 0, 24);
	cr_assert_eq(
		fill_in(arc, 9, data, SIZE,
			&(abd_arc_record_t){
				.stored_size = SIZE, .logical_size = SIZE, .checksum = checksum},
			&moved),
		-EINVAL, "of what is compressed here nothing is known");
	abd_arc_destroy(arc);
}

/* ---- what does not fit ----------------------------------------------------------------------- */

Test(arc_parts, parts_that_pass_the_end_and_wrong_sizes_are_errors)
{
	static const abd_arc_record_t wrong[] = {
		{.off = 1, .stored_size = 8192, .logical_size = 8192, .flags = ABD_ARC_PLAIN},
		{.off = 8192, .stored_size = 1, .logical_size = 1},
		{.off = 8193, .stored_size = 1, .logical_size = 1},
		{.off = SIZE_MAX, .stored_size = 2, .logical_size = 2},
		{.off = 1, .stored_size = SIZE_MAX, .logical_size = SIZE_MAX},
		{.stored_size = 8193, .logical_size = 8193},
		{.stored_size = 0, .logical_size = 0},
		{.stored_size = 100, .logical_size = 100, .flags = ABD_ARC_STORED},
		{.stored_size = 100, .logical_size = 101, .flags = ABD_ARC_PLAIN},
		{.stored_size = 100, .logical_size = 100, .flags = ABD_ARC_METADATA},
		{.stored_size = 100, .logical_size = 100, .flags = ABD_ARC_VERIFY},
		{.stored_size = 100,
			.logical_size = ABD_ARC_RECORD_MAX + 1,
			.flags = ABD_ARC_STORED},
	};
	abd_arc_t *arc = make(0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	bool moved;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (unsigned way = 0; way < 2; way++)
			cr_assert_eq(ways[way](arc, 1, data, 8192, &wrong[i], &moved), -EINVAL,
				"case %zu", i);
	cr_assert_eq(arc_stats(arc).entries, 0);
	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(1), 8192, 0, &hold, &fill), 1);
	abd_test_breaks(abd_arc_fill_commit_record, &fill, NULL, NULL);
	abd_test_breaks(abd_arc_put_record, arc, arc_at(1), fill.abd, NULL);
	abd_arc_fill_abandon(&fill);
	abd_test_breaks(abd_arc_fill_commit_record, &fill, &wrong[0], NULL);
	abd_test_breaks(abd_arc_fill_commit_record, NULL, &wrong[0], NULL);
	abd_arc_destroy(arc);
}
