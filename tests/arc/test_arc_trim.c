/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that the engine asks back: as much as it wants, as fast as it says, and the cache works
 * on.
 */
#include "abd_arc_reclaim.h"
#include "arc_data.h"

enum {
	CAPACITY = 32 << 20,
	RECORDS = 30000,
	SMALL = 1500,
	LARGE = 200000,
	MIB = 1 << 20,
	HELD = 8
};

static char data[LARGE], got[LARGE];

static size_t size_of(uint64_t n)
{
	return n % 1000 == 0 ? LARGE : SMALL;
}

static abd_arc_t *make(uint32_t hit_batch)
{
	abd_arc_t *arc = arc_make(CAPACITY, hit_batch, 0);

	cr_assert_not_null(arc);
	for (uint64_t n = 0; n < RECORDS; n++) {
		arc_fill(data, size_of(n), n, 0, 64);
		abd_test_check(abd_arc_put(arc, arc_at(n), data, size_of(n)) == 0, "put");
	}
	/* with hit_batch 1 these stay longer: evictions leave slabs half empty */
	for (uint64_t n = 1; n < RECORDS; n += 2)
		(void)abd_arc_read(arc, arc_at(n), got, 0, 8);
	return arc;
}

Test(arc_trim, frees_what_was_asked_for_and_little_more)
{
	for (uint32_t hit_batch = 0; hit_batch < 2; hit_batch++) {
		abd_arc_t *arc = make(hit_batch);

		for (size_t bytes = MIB / 2; bytes <= 8 * MIB; bytes *= 4) {
			struct abd_arc_stats before = arc_stats(arc);
			size_t freed = abd_arc_trim(arc, bytes, UINT64_MAX);
			struct abd_arc_stats after = arc_stats(arc);

			cr_assert_geq(freed, bytes);
			cr_assert_leq(freed, bytes + 3 * MIB, "%zu of %zu", freed, bytes);
			cr_assert_eq(after.used_bytes, before.used_bytes - freed);
			cr_assert_leq(before.stored_bytes - after.stored_bytes, bytes + 3 * MIB);
			cr_assert_lt(after.resident_bytes, before.resident_bytes);
			cr_assert_eq(after.capacity_bytes, CAPACITY);
			cr_assert(arc_contains(arc, RECORDS - 1), "the newest stays");
		}
		abd_arc_destroy(arc);
	}
}

Test(arc_trim, of_everything_ends_and_the_cache_grows_again)
{
	abd_arc_t *arc = make(0);
	uint64_t used = arc_stats(arc).used_bytes, entries = arc_stats(arc).entries;

	cr_assert_gt(abd_arc_trim(arc, SIZE_MAX, UINT64_MAX), used - used / 4);
	cr_assert_eq(arc_stats(arc).entries, 0);
	for (uint64_t n = RECORDS; n < 2 * RECORDS; n++)
		abd_test_check(abd_arc_put(arc, arc_at(n), data, size_of(n)) == 0, "put");
	cr_assert_gt(arc_stats(arc).entries, entries / 2);
	abd_arc_destroy(arc);
}

Test(arc_trim, without_time_frees_only_what_waits)
{
	abd_arc_t *arc = make(0);
	uint64_t removed = 0;

	abd_arc_reclaim(arc);
	for (uint64_t n = RECORDS - 100; n < RECORDS; n++)
		removed += abd_arc_remove(arc, arc_at(n)) == 0;
	cr_assert_eq(removed, 100);
	uint64_t entries = arc_stats(arc).entries;

	cr_assert_gt(arc_stats(arc).evicted_bytes, 0);
	(void)abd_arc_trim(arc, 8 * MIB, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	cr_assert_eq(arc_stats(arc).entries, entries);
	abd_arc_destroy(arc);
}

Test(arc_trim, what_is_held_stays_valid_and_frees_nothing_yet)
{
	abd_arc_t *arc = make(0);
	abd_arc_hold_t held[HELD];

	for (uint64_t i = 0; i < HELD; i++)
		cr_assert_eq(abd_arc_hold(arc, arc_at(RECORDS - HELD + i), &held[i]), 0);
	(void)abd_arc_trim(arc, SIZE_MAX, UINT64_MAX);
	cr_assert_eq(arc_stats(arc).entries, 0);
	for (uint64_t i = 0; i < HELD; i++) {
		uint64_t n = RECORDS - HELD + i;

		arc_fill(data, SMALL, n, 0, 64);
		cr_assert_eq(abd_arc_hold_read(&held[i], got, 0, SMALL), SMALL);
		cr_assert_arr_eq(got, data, SMALL);
		abd_arc_release(&held[i]);
	}
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	abd_arc_destroy(arc);
}

Test(arc_trim, goes_on_past_what_is_held)
{
	enum { COUNT = 200, SIZE = 64 << 10 };
	abd_arc_hold_t held[COUNT / 2]; /* the oldest, which are evicted first */
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	for (uint64_t n = 0; n < COUNT; n++) {
		arc_fill(data, SIZE, n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
		if (n < COUNT / 2)
			cr_assert_eq(abd_arc_hold(arc, arc_at(n), &held[n]), 0);
	}
	cr_assert_geq(abd_arc_trim(arc, 2 * MIB, UINT64_MAX), 2 * MIB);
	cr_assert_geq(arc_stats(arc).evicted_bytes, COUNT / 2 * SIZE);
	cr_assert(arc_contains(arc, COUNT - 1), "the newest stays");
	for (uint64_t n = 0; n < COUNT / 2; n++)
		abd_arc_release(&held[n]);
	abd_arc_destroy(arc);
}

/* Each of them leaves a ghost, which takes memory. */
Test(arc_trim, of_held_records_does_not_make_the_cache_larger)
{
	enum { COUNT = 20000 };
	static abd_arc_hold_t held[COUNT];
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	for (uint64_t n = 0; n < COUNT; n++) {
		abd_test_check(abd_arc_put(arc, arc_at(n), data, 64) == 0, "put");
		abd_test_check(abd_arc_hold(arc, arc_at(n), &held[n]) == 0, "hold");
	}

	uint64_t used = arc_stats(arc).used_bytes;

	cr_assert_eq(abd_arc_trim(arc, MIB, UINT64_MAX), 0);
	cr_assert_gt(arc_stats(arc).evictions, 4096);
	/* a page of ghosts, and one of their table */
	cr_assert_leq(arc_stats(arc).used_bytes, used + 8192);
	for (uint64_t n = 0; n < COUNT; n++)
		abd_arc_release(&held[n]);
	abd_arc_destroy(arc);
}

/* How many shards have fewer entries than before. */
static unsigned shrunk(const struct abd_arc *arc, const size_t *entries)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < arc->shards; i++)
		count += abd_arc_entries(&arc[i]) < entries[i];
	return count;
}

/* The limit holds between shards too: of 64, a trim does not come to all; the next to others. */
Test(arc_trim, the_time_is_looked_at_between_shards)
{
	enum { SHARDS = 64, EACH = 20000 };
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = (size_t)SHARDS * EACH * 256,
		.shards = SHARDS};
	abd_arc_t *arc = abd_arc_create(&config);
	size_t entries[SHARDS];
	char record[64];

	cr_assert_not_null(arc);
	arc_fill(record, sizeof(record), 1, 1, 64);
	for (uint64_t n = 0; n < SHARDS * EACH / 8; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
	for (uint32_t i = 0; i < SHARDS; i++)
		entries[i] = abd_arc_entries(&arc[i]);
	/* On a busy machine the time may be up before the first shard's turn. */
	uint64_t limit = 200000;

	while (abd_arc_trim(arc, SIZE_MAX, limit) == 0)
		limit *= 2;
	unsigned once = shrunk(arc, entries);

	cr_assert_leq(once, SHARDS / 2);
	for (unsigned i = 0; i < 5; i++)
		(void)abd_arc_trim(arc, SIZE_MAX, limit);
	cr_assert_gt(shrunk(arc, entries), once);
	abd_arc_destroy(arc);
}
