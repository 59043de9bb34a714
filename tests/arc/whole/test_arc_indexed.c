/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records whose blocks have an index: ranges come back, what they cost is counted, and they move
 * and end as others do.
 */
#include "abd_arc_compact.h"
#include "abd_arc_hold.h"
#include "arc_data.h"

#define MIB ((size_t)1 << 20)

static char data[2 << 20], got[2 << 20];

static abd_arc_t *make(size_t capacity, uint32_t flags, uint32_t least, uint32_t group)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.hit_batch = 1,
		.flags = flags,
		.lz4_index_min = least,
		.lz4_index_group = group};

	return abd_arc_create(&config);
}

static void put(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	arc_fill(data, size, n, 1, random);
	abd_test_check(abd_arc_put(arc, arc_at(n), data, size) == 0, "put of %zu", size);
}

static bool is_indexed(abd_arc_t *arc, uint64_t n)
{
	abd_arc_hold_t hold;

	abd_test_check(abd_arc_hold(arc, arc_at(n), &hold) == 0, "hold");
	struct abd_arc_hold_slot *slot = hold.entry;
	struct abd_arc_entry *entry = atomic_load(&slot->entry);
	bool indexed = entry->item.indexed;

	if (indexed)
		abd_test_check(abd_lz4_index_check(abd_arc_entry_index(arc, entry),
				       abd_arc_entry_index_size(arc, entry), hold.stored_size) == 0,
			"the index");
	abd_arc_release(&hold);
	return indexed;
}

/* Whole, the ends, and places at random. */
static void check(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	uint64_t seed = n;

	arc_fill(data, size, n, 1, random);
	for (int i = 0; i < 12; i++) {
		size_t off = i == 0 ? 0 : i == 1 ? size - 1 : abd_test_random_below(&seed, size);
		size_t part = i == 0 ? size : 1 + abd_test_random_below(&seed, size - off);

		part = i % 2 == 1 && part > 4096 ? 4096 : part;
		abd_test_check(abd_arc_read(arc, arc_at(n), got, off, part) == (ssize_t)part,
			"%zu +%zu of %zu", off, part, size);
		abd_test_check(
			memcmp(got, data + off, part) == 0, "%zu +%zu: other bytes", off, part);
	}
}

Test(arc_indexed, ranges_come_back_in_slots_and_in_buffers)
{
	static const size_t sizes[] = {32768, 32769, 65536, 131072, 200001, MIB};

	for (uint32_t flags = 0; flags <= ABD_ARC_CHECKSUM; flags += ABD_ARC_CHECKSUM)
		for (unsigned large = 0; large < 2; large++) {
			abd_arc_t *arc = make((large ? 256 : 8) * MIB, flags, 32768, 0);

			for (unsigned i = 0; i < 6; i++) {
				put(arc, i, sizes[i], 20);
				check(arc, i, sizes[i], 20);
				cr_assert(is_indexed(arc, i), "%zu", sizes[i]);
			}
			abd_arc_destroy(arc);
		}
}

Test(arc_indexed, what_is_small_or_large_or_would_not_save_an_eighth_has_none)
{
	abd_arc_t *arc = make(64 * MIB, 0, 4096, 1024);

	put(arc, 1, 4095, 20);
	put(arc, 2, 4096, 20);
	put(arc, 3, 65536, 20);
	put(arc, 4, 65537, 20);
	put(arc, 5, 65536, 64);
	put(arc, 6, 32768, 64); /* small enough to be tried */
	cr_assert_not(is_indexed(arc, 1));
	cr_assert(is_indexed(arc, 2));
	cr_assert(is_indexed(arc, 3));
	cr_assert_not(is_indexed(arc, 4));
	cr_assert_not(is_indexed(arc, 5));
	cr_assert_not(is_indexed(arc, 6));
	check(arc, 4, 65537, 20);
	check(arc, 5, 65536, 64);
	abd_arc_destroy(arc);
	arc = make(64 * MIB, 0, 1, 1024);
	put(arc, 6, 1, 0);
	put(arc, 7, 100, 8);
	put(arc, 8, 1024, 8);
	put(arc, 9, 1025, 8);
	cr_assert_not(is_indexed(arc, 6));
	cr_assert_not(is_indexed(arc, 7));
	cr_assert_not(is_indexed(arc, 8));
	cr_assert(is_indexed(arc, 9));
	abd_arc_destroy(arc);
	arc = arc_make(64 * MIB, 0, 0);
	put(arc, 3, 65536, 20);
	cr_assert_not(is_indexed(arc, 3));
	abd_arc_destroy(arc);
}

Test(arc_indexed, a_cache_without_slots_for_it_stores_the_block_alone)
{
	abd_arc_t *arc = make(128 << 10, 0, 1024, 1024);

	put(arc, 1, 60000, 8);
	check(arc, 1, 60000, 8);
	cr_assert_not(is_indexed(arc, 1));
	abd_arc_destroy(arc);
}

Test(arc_indexed, its_bytes_are_counted_and_end_with_the_record)
{
	abd_arc_t *arc = make(64 * MIB, 0, 32768, 0);
	uint64_t before;

	put(arc, 1, 131072, 20);
	cr_assert(is_indexed(arc, 1));
	before = arc_stats(arc).index_bytes;
	put(arc, 2, 131072, 20);
	cr_assert_geq(
		arc_stats(arc).index_bytes, before + sizeof(struct abd_arc_entry) + 16 + 8 * 8);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	cr_assert_eq(arc_stats(arc).index_bytes, before);
	abd_arc_destroy(arc);
}

Test(arc_indexed, a_record_that_moves_takes_it_along)
{
	abd_arc_t *arc = make(256 * MIB, ABD_ARC_CHECKSUM, 4096, 1024);

	for (uint64_t n = 0; n < 200; n++)
		put(arc, n, 20000, 20);
	for (uint64_t n = 0; n < 200; n++) {
		if (n % 8 != 0)
			cr_assert_eq(abd_arc_remove(arc, arc_at(n)), 0);
	}
	abd_arc_reclaim(arc);
	pthread_mutex_lock(&arc->lock);
	abd_arc_compact_some(arc, 64 * MIB);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_reclaim(arc);
	cr_assert_gt(arc_stats(arc).moves, 0);
	for (uint64_t n = 0; n < 200; n += 8) {
		cr_assert(is_indexed(arc, n));
		check(arc, n, 20000, 20);
	}
	abd_arc_destroy(arc);
}

Test(arc_indexed, a_block_that_is_damaged_is_dropped)
{
	abd_arc_t *arc = make(64 * MIB, 0, 32768, 0);
	abd_arc_hold_t hold;

	put(arc, 1, 131072, 20);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	struct abd_arc_hold_slot *slot = hold.entry;
	struct abd_arc_entry *entry = atomic_load(&slot->entry);

	for (uint32_t i = 1; i < 8; i++)
		abd_arc_entry_index(arc, entry)->points[i].stored = UINT32_MAX;
	abd_arc_release(&hold);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 100000, 100), -EBADMSG);
	cr_assert_eq(arc_stats(arc).damaged, 1);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 100000, 100), -ENOENT);
	abd_arc_destroy(arc);
}

Test(arc_indexed, groups_are_1_to_64_kib_in_powers_of_two_and_no_others_make_a_cache)
{
	static const uint32_t can[] = {0, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
	static const uint32_t wrong[] = {1, 512, 1000, 1023, 1025, 3072, 65537, 131072, UINT32_MAX};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		errno = 0;
		cr_assert_null(make(MIB, 0, i % 2 * 32768, wrong[i]), "%u", wrong[i]);
		cr_assert_eq(errno, EINVAL);
	}
	for (unsigned i = 0; i < sizeof(can) / sizeof(can[0]); i++) {
		abd_arc_t *arc = make(4 * MIB, 0, 32768, can[i]);

		cr_assert_not_null(arc, "%u", can[i]);
		put(arc, 1, 32768, 20);
		cr_assert_eq(is_indexed(arc, 1), can[i] < 32768, "%u", can[i]);
		abd_arc_destroy(arc);
	}
}
