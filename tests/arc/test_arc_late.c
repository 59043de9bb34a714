/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Indexes made late: by which reads, for which records, and what becomes of the record that was
 * there.
 */
#include "arc_indexed.h"

#include <abd/operate.h>

#include <pthread.h>

static size_t cost(abd_arc_t *arc, uint64_t n)
{
	abd_arc_hold_t hold;

	cr_assert_eq(abd_arc_hold(arc, arc_at(n), &hold), 0);
	struct abd_arc_hold_slot *slot = hold.entry;
	size_t bytes = atomic_load(&slot->entry)->item.cost;

	abd_arc_release(&hold);
	return bytes;
}

static void read_at(abd_arc_t *arc, uint64_t n, size_t off, unsigned flags)
{
	abd_test_check(abd_arc_read_flags(arc, arc_at(n), got, off, 100, flags) == 100 &&
			       memcmp(got, data + off, 100) == 0,
		"%zu", off);
}

/* Put data, compressed, as a record that came as a block. */
static void put_stored(abd_arc_t *arc, uint64_t n, size_t size, bool good)
{
	abd_t *src = abd_get_from_buf(data, size), *block = abd_alloc(size, false);
	ssize_t stored = abd_lz4_compress_effort(block, src, 0, 0, size, 3);
	abd_t *whole = abd_alloc((size_t)stored, false);

	abd_copy(whole, block, (size_t)stored);
	cr_assert_eq(
		abd_arc_put_abd(arc, arc_at(n), whole, good ? size : size + 1, ABD_ARC_STORED), 0);
	abd_free(block);
	abd_free(src);
}

Test(arc_late, the_second_part_read_makes_the_index_and_the_record_stays_in_its_place)
{
	for (uint32_t flags = 0; flags <= ABD_ARC_ALIGNED; flags += ABD_ARC_ALIGNED) {
		abd_arc_t *arc =
			make(64 * MIB, ABD_ARC_REINDEX | ABD_ARC_CHECKSUM | flags, 32768, 0);

		put(arc, 1, 131072, 20);
		cr_assert_not(is_indexed(arc, 1));
		read_at(arc, 1, 100000, 0);
		cr_assert_not(is_indexed(arc, 1));
		cr_assert_eq(arc_stats(arc).reindexed, 0);
		struct abd_arc_stats was = arc_stats(arc);

		read_at(arc, 1, 1, 0);
		struct abd_arc_stats now = arc_stats(arc);

		cr_assert(is_indexed(arc, 1));
		check(arc, 1, 131072, 20);
		cr_assert_eq(now.reindexed, 1);
		cr_assert_eq(now.puts, was.puts);
		cr_assert_eq(now.entries, 1);
		cr_assert_eq(now.recent_bytes + now.frequent_bytes, cost(arc, 1));
		cr_assert_eq(now.frequent_bytes > 0, was.frequent_bytes > 0);
		abd_arc_destroy(arc);
	}
}

Test(arc_late, blocks_from_elsewhere_get_one_too_and_damaged_ones_none)
{
	abd_arc_t *arc = make(64 * MIB, ABD_ARC_REINDEX, 32768, 0);

	arc_fill(data, 131072, 1, 1, 20);
	put_stored(arc, 1, 131072, true);
	put_stored(arc, 2, 131072, false); /* it says a byte too much */
	for (uint64_t n = 1; n < 3; n++)
		for (unsigned i = 0; i < 4; i++)
			read_at(arc, n, 50000 + i, 0);
	cr_assert(is_indexed(arc, 1));
	cr_assert_not(is_indexed(arc, 2));
	cr_assert_eq(arc_stats(arc).reindexed, 1);
	cr_assert_eq(arc_stats(arc).damaged, 0);
	abd_arc_destroy(arc);
}

/* Whoever finds the bytes wrong that it holds must not be served them again. */
Test(arc_late, what_is_held_is_dropped_though_it_got_its_index_since)
{
	abd_arc_t *arc = make(64 * MIB, ABD_ARC_REINDEX, 32768, 0);
	abd_arc_hold_t held, indexed;

	put(arc, 1, 131072, 20);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &held), 0);
	read_at(arc, 1, 100000, 0);
	read_at(arc, 1, 1, 0);
	cr_assert(is_indexed(arc, 1));
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &indexed), 0);
	cr_assert_eq(abd_arc_hold_drop(arc, &held), 0);
	cr_assert_not(arc_contains(arc, 1));

	put(arc, 1, 131072, 30);
	cr_assert_eq(abd_arc_hold_drop(arc, &held), -ENOENT, "of other bytes");
	cr_assert_eq(abd_arc_hold_drop(arc, &indexed), -ENOENT, "without an index");
	cr_assert(arc_contains(arc, 1));
	abd_arc_release(&indexed);
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

/* Where puts make the index, one more is another record. */
Test(arc_late, an_index_of_a_put_is_of_another_record)
{
	abd_arc_t *arc = make(64 * MIB, 0, 32768, 0);
	abd_arc_hold_t held;

	put(arc, 1, 131072, 64);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &held), 0);
	put(arc, 1, 131072, 20);
	cr_assert(is_indexed(arc, 1));
	cr_assert_eq(abd_arc_hold_drop(arc, &held), -ENOENT);
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

Test(arc_late, other_reads_make_none)
{
	abd_arc_t *late = make(64 * MIB, ABD_ARC_REINDEX, 32768, 0);
	abd_arc_t *never = make(64 * MIB, 0, 0, 0);
	abd_arc_hold_t hold;

	put(never, 1, 131072, 20);
	put(late, 2, 4096, 20);
	put(late, 3, 131072, 64);
	put(late, 1, 131072, 20);
	cr_assert_eq(abd_arc_hold(late, arc_at(1), &hold), 0);
	for (unsigned i = 0; i < 3; i++) {
		read_at(never, 1, 100, 0);
		read_at(late, 1, 100, ABD_ARC_NO_TOUCH);
		read_at(late, 1, 0, 0);
		cr_assert_eq(abd_arc_hold_read(&hold, got, 100, 100), 100);
		cr_assert_eq(abd_arc_read(late, arc_at(2), got, 100, 100), 100);
		cr_assert_eq(abd_arc_read(late, arc_at(3), got, 100, 100), 100);
		cr_assert_eq(abd_arc_read(late, arc_at(1), got, 131072, 100), -EINVAL);
	}
	abd_arc_release(&hold);
	cr_assert_eq(arc_stats(late).reindexed + arc_stats(never).reindexed, 0);
	cr_assert_not(is_indexed(never, 1));
	for (uint64_t n = 1; n < 4; n++)
		cr_assert_not(is_indexed(late, n));
	abd_arc_destroy(never);
	abd_arc_destroy(late);
}

/* The place in which the cache remembers what was tried in vain. */
static bool is_tried(abd_arc_t *arc)
{
	for (unsigned i = 0; i < ABD_ARC_LATE; i++)
		if ((atomic_load(&arc->late[i]) & 0x8000) != 0)
			return true;
	return false;
}

/* How much a block of data takes, with an index or without. */
static size_t block_size(size_t size, size_t group)
{
	static struct abd_lz4_index index[100];
	abd_t *src = abd_get_from_buf(data, size), *dst = abd_get_from_buf(got, sizeof(got));
	ssize_t block = group == 0
				? abd_lz4_compress(dst, src, 0, 0, size)
				: abd_lz4_compress_indexed(dst, src, 0, 0, size, group, 0, index);

	abd_free(dst);
	abd_free(src);
	return (size_t)block + (group == 0 ? 0 : abd_lz4_index_size(size, group));
}

static void check_tried_once(abd_arc_t *arc)
{
	for (unsigned n = 0; n < 5; n++) {
		cr_assert_eq(is_tried(arc), n > 1);
		read_at(arc, 1, 100 + n, 0);
	}
	cr_assert_not(is_indexed(arc, 1));
	cr_assert_eq(arc_stats(arc).reindexed, 0);
	abd_arc_destroy(arc);
}

Test(arc_late, an_index_that_does_not_pay_is_tried_once)
{
	size_t size = 4096;
	unsigned random = 48;

	/* A block that saves an eighth, but not with its index. */
	do {
		random = random < 56 ? random + 1 : 48;
		size += 16;
		cr_assert_lt(size, 65536);
		arc_fill(data, size, 1, 1, random);
	} while (!abd_lz4_pays(size, block_size(size, 0)) ||
		 abd_lz4_pays(size, block_size(size, 1024)));
	abd_arc_t *arc = make(64 * MIB, ABD_ARC_REINDEX, 1024, 1024);

	put(arc, 1, size, random);
	check_tried_once(arc);
}

Test(arc_late, an_index_that_no_slot_is_large_enough_for_is_tried_once)
{
	abd_arc_t *arc = make(128 << 10, ABD_ARC_REINDEX, 1024, 1024);

	put(arc, 1, 60000, 8);
	check_tried_once(arc);
}

/* As if part of this record had been read twice, whatever it is by now. */
static void note_twice(abd_arc_t *arc, uint64_t n, bool has_block)
{
	struct abd_arc_reader *reader = has_block ? abd_arc_reader_get(arc) : NULL;

	for (unsigned i = 0; i < 2; i++)
		abd_arc_late_note(arc, reader, abd_arc_hash(arc, arc_at(n)), arc_at(n));
}

Test(arc_late, what_is_gone_or_indexed_or_plain_or_damaged_by_now_is_left_alone)
{
	abd_arc_t *arc = make(64 * MIB, ABD_ARC_REINDEX | ABD_ARC_CHECKSUM, 32768, 0);
	abd_arc_hold_t hold;
	uint8_t byte;

	put(arc, 1, 131072, 64);
	note_twice(arc, 1, true);
	put(arc, 2, 131072, 20);
	note_twice(arc, 2, false);
	cr_assert_eq(arc_stats(arc).reindexed, 0);
	note_twice(arc, 2, true);
	note_twice(arc, 2, true);
	note_twice(arc, 3, true);
	cr_assert_eq(arc_stats(arc).reindexed, 1);
	cr_assert_not(is_tried(arc));
	put(arc, 4, 131072, 20);
	cr_assert_eq(abd_arc_hold(arc, arc_at(4), &hold), 0);
	abd_copy_to_buf_off(&byte, hold.abd, 1000, 1);
	byte ^= 1;
	abd_copy_from_buf_off((abd_t *)(uintptr_t)hold.abd, &byte, 1000, 1);
	abd_arc_release(&hold);
	note_twice(arc, 4, true);
	cr_assert_eq(arc_stats(arc).reindexed, 1);
	cr_assert(is_tried(arc));
	cr_assert_eq(abd_arc_read(arc, arc_at(4), got, 1, 100), -EBADMSG);
	abd_arc_destroy(arc);
}

Test(arc_late, a_record_that_leaves_meanwhile_gets_none)
{
	/* There is room for one entry of it, so the new one evicts the old one. */
	abd_arc_t *arc = make(5 * MIB / 2, ABD_ARC_REINDEX, 32768, 65536);

	put(arc, 1, 2 * MIB, 40);
	read_at(arc, 1, 100, 0);
	read_at(arc, 1, 100, 0);
	cr_assert_eq(arc_stats(arc).reindexed, 0);
	cr_assert_eq(arc_stats(arc).evictions, 1);
	cr_assert_not(is_tried(arc));
	abd_arc_destroy(arc);
}

static void *read_parts(void *arg)
{
	abd_arc_t *arc = arg;
	uint64_t seed = (uintptr_t)&seed;
	static _Thread_local char part[100], whole[65536];

	for (unsigned i = 0; i < 1500; i++) {
		uint64_t n = abd_test_random_below(&seed, 20);
		size_t off = 1 + abd_test_random_below(&seed, 60000);

		arc_fill(whole, 65536, n, 1, 20);
		if (i % 50 == 49)
			abd_test_check(
				abd_arc_put(arc, arc_at(n), whole, 65536) == 0, "put of %d", 65536);
		if (abd_arc_read(arc, arc_at(n), part, off, 100) != -ENOENT)
			abd_test_check(memcmp(part, whole + off, 100) == 0, "other bytes");
	}
	return NULL;
}

Test(arc_late, threads_that_read_parts_and_put_see_the_records_bytes)
{
	abd_arc_t *arc = make(600000, ABD_ARC_REINDEX, 32768, 0);
	pthread_t thread[2];

	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, read_parts, arc), 0);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	struct abd_arc_stats now = arc_stats(arc);

	cr_assert_gt(now.reindexed, 0);
	cr_assert_eq(now.puts, now.entries + now.replaces + now.removes + now.evictions);
	cr_assert_leq(now.used_bytes, now.capacity_bytes);
	abd_arc_destroy(arc);
}
