/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metadata's quota: what others put does not take it below its minimum, it stays below its maximum,
 * and memory comes before both. That the rest is ARC, record by record, is test_arc_policy.c's.
 */
#include "abd_arc_reclaim.h"
#include "arc_data.h"

#include <unistd.h>

enum { CAPACITY = 8 << 20, MIB = 1 << 20, SIZE = 4000, HOT = 500 };

static char data[5 * MIB];

static abd_arc_t *make(uint32_t hit_batch, size_t metadata_min, size_t metadata_max)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = CAPACITY,
		.hit_batch = hit_batch,
		.metadata_min_bytes = metadata_min,
		.metadata_max_bytes = metadata_max};

	arc_fill(data, sizeof(data), 1, 1, 64);
	return abd_arc_create(&config);
}

static abd_arc_key_t key_of(uint64_t pool, uint64_t n)
{
	return (abd_arc_key_t){pool, {n, 0}, 1};
}

static int put(abd_arc_t *arc, uint64_t pool, uint64_t n, size_t size, unsigned flags)
{
	abd_arc_key_t key = key_of(pool, n);

	return abd_arc_put_flags(arc, &key, data, size, flags);
}

static void put_many(abd_arc_t *arc, uint64_t pool, uint64_t count, unsigned flags)
{
	for (uint64_t n = 0; n < count; n++)
		cr_assert_eq(put(arc, pool, n, SIZE, flags), 0);
}

/* How many of the first count records of a pool are read. */
static size_t hits(abd_arc_t *arc, uint64_t pool, uint64_t count)
{
	size_t found = 0;
	char byte;

	for (uint64_t n = 0; n < count; n++) {
		abd_arc_key_t key = key_of(pool, n);

		found += abd_arc_read(arc, &key, &byte, 0, 1) == 1;
	}
	return found;
}

Test(arc_quota, a_scan_leaves_metadata_that_has_a_minimum)
{
	for (uint32_t hit_batch = 0; hit_batch < 2; hit_batch++) {
		for (int kept = 0; kept < 2; kept++) {
			abd_arc_t *arc = make(hit_batch, kept == 1 ? 3 * MIB : 0, 0);

			put_many(arc, 1, HOT, ABD_ARC_METADATA);
			cr_assert_eq(hits(arc, 1, HOT / 2), HOT / 2);
			cr_assert_eq(arc_stats(arc).metadata_bytes > HOT * SIZE, kept > 0);
			put_many(arc, 2, 5 * HOT, 0);
			put_many(arc, 2, 5 * HOT, 0); /* so T2 is full of it too */
			(void)hits(arc, 2, 5 * HOT);
			put_many(arc, 3, 5 * HOT, 0);
			size_t hit = hits(arc, 1, HOT);

			if (kept > 0)
				cr_assert_eq(hit, HOT);
			else
				cr_assert_lt(hit, HOT / 2 + HOT / 10);
			abd_arc_destroy(arc);
		}
	}
}

/* ---- any calls in any order ------------------------------------------------------------------ */

enum { POOLS = 4, KEYS = 3000, STEPS = 20000 };

static const size_t min = MIB, max = 3 * MIB / 2;

static void step(abd_arc_t *arc, uint64_t *seed)
{
	/* Long stretches in which one pool has most of the puts; the first has metadata. */
	unsigned pool =
		(unsigned)(abd_test_random(seed) % 8 == 0 ? *seed >> 40 : *seed >> 60) % POOLS;
	unsigned what = (unsigned)(abd_test_random(seed) % 64);
	uint64_t n = abd_test_random(seed) % KEYS;
	abd_arc_key_t key = key_of(pool, n);
	char byte;

	if (what == 0)
		abd_arc_remove(arc, &key);
	else if (what < 32)
		(void)abd_arc_read(arc, &key, &byte, 0, 1);
	else
		cr_assert_eq(put(arc, pool, n, 1 + n * n % (what == 32 ? 90000 : 9000),
				     pool == 1 ? ABD_ARC_METADATA : 0),
			0);
}

Test(arc_quota, others_do_not_take_metadata_below_its_minimum_and_it_keeps_its_maximum)
{
	for (uint32_t hit_batch = 0; hit_batch < 2; hit_batch++) {
		abd_arc_t *arc = make(hit_batch, min, max);
		size_t below = 0, most = 0;
		uint64_t seed = 42 + hit_batch;

		for (unsigned i = 0; i < STEPS; i++) {
			struct abd_arc_stats before = arc_stats(arc);

			step(arc, &seed);

			struct abd_arc_stats stats = arc_stats(arc);

			cr_assert(stats.metadata_bytes >= before.metadata_bytes ||
					  stats.metadata_bytes >= min ||
					  stats.removes > before.removes ||
					  stats.replaces > before.replaces,
				"step %u: %zu, was %zu", i, (size_t)stats.metadata_bytes,
				(size_t)before.metadata_bytes);
			below += stats.metadata_bytes < min;
			cr_assert_leq(stats.metadata_bytes, max);
			cr_assert_leq(stats.used_bytes, stats.capacity_bytes);
			most = most > stats.metadata_bytes ? most : stats.metadata_bytes;
		}
		cr_assert_gt(most, max - 90000);
		cr_assert(arc_stats(arc).metadata_bytes >= min && below < STEPS / 2);
		abd_arc_destroy(arc);
	}
}

/* ---- beginnings and ends --------------------------------------------------------------------- */

Test(arc_quota, the_minimum_is_half_of_the_capacity_at_most)
{
	static const struct {
		size_t min, max;
		int error;
	} metadata[] = {{CAPACITY / 2 + 1, 0, EINVAL}, {MIB, MIB - 1, EINVAL}, {0, 1, 0},
		{MIB, MIB, 0}, {CAPACITY / 2, 0, 0}};
	abd_arc_t *arc;

	for (size_t i = 0; i < sizeof(metadata) / sizeof(metadata[0]); i++) {
		errno = 0;
		arc = make(0, metadata[i].min, metadata[i].max);
		cr_assert(errno == metadata[i].error && (arc != NULL) == (errno == 0), "%zu", i);
		abd_arc_destroy(arc);
	}
	arc = make(0, MIB, 0);
	cr_assert_eq(abd_arc_resize(arc, 2 * MIB - 1), -ENOSPC);
	cr_assert_eq(arc_stats(arc).capacity_bytes, CAPACITY);
	cr_assert_eq(abd_arc_resize(arc, 2 * MIB), 0);
	abd_arc_destroy(arc);
}

/* Its buffer is freed, and its slot is not: the slab has others. */
Test(arc_quota, a_record_that_left_before_its_hit_is_reported_has_none)
{
	abd_arc_t *arc = make(0, MIB, 0);
	abd_arc_key_t key = key_of(1, HOT);
	char byte;

	put_many(arc, 2, HOT, 0);
	cr_assert_eq(put(arc, 1, HOT, 300001, 0), 0);
	cr_assert_eq(put(arc, 1, HOT + 1, 300001, 0), 0);
	atomic_fetch_add(&arc->policy.shared.hurry_us, 100000000);
	cr_assert_eq(abd_arc_read(arc, &key, &byte, 0, 1), 1);
	cr_assert_eq(abd_arc_remove(arc, &key), 0);
	abd_arc_reclaim(arc);
	abd_cache_reap_now();
	put_many(arc, 2, 1, 0);
	cr_assert_eq(arc_stats(arc).hits_told, 1);
	cr_assert_eq(arc_stats(arc).frequent_bytes, 0);
	abd_arc_destroy(arc);
}

Test(arc_quota, what_can_not_fit_beside_the_minimum_is_refused)
{
	abd_arc_t *arc = make(0, 4 * MIB, 9 * MIB / 2);
	abd_arc_key_t key = key_of(2, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	put_many(arc, 1, HOT, ABD_ARC_METADATA);
	cr_assert_eq(put(arc, 2, 0, 4 * MIB, 0), -ENOSPC);
	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, 4 * MIB, 0, &hold, &fill), -ENOSPC);
	cr_assert_eq(put(arc, 2, 0, 3 * MIB, 0), 0);
	cr_assert_eq(hits(arc, 1, HOT), HOT);
	cr_assert_eq(put(arc, 2, 1, 9 * MIB / 2, ABD_ARC_METADATA), -ENOSPC);
	cr_assert_eq(put(arc, 2, 1, 9 * MIB / 2 - 9000, ABD_ARC_METADATA), 0);
	abd_arc_destroy(arc);
}

Test(arc_quota, memory_comes_first_and_takes_what_is_protected_last)
{
	abd_arc_t *arc = make(0, 3 * MIB, 0);

	put_many(arc, 1, HOT, ABD_ARC_METADATA);
	put_many(arc, 2, 10 * HOT, 0);
	(void)abd_arc_trim(arc, arc_stats(arc).used_bytes - 3 * MIB, UINT64_MAX);
	cr_assert_eq(hits(arc, 1, HOT), HOT);
	cr_assert_lt(arc_stats(arc).used_bytes, 3 * MIB + MIB / 2);
	(void)abd_arc_trim(arc, SIZE_MAX, UINT64_MAX);
	cr_assert_eq(arc_stats(arc).entries, 0);
	put_many(arc, 1, HOT, ABD_ARC_METADATA);
	abd_arc_destroy(arc);
}

/* Put metadata until some was evicted, and use each record so often that it is in T2. */
static void use_all(abd_arc_t *arc)
{
	for (uint64_t n = 0; arc_stats(arc).evictions == 0; n++)
		cr_assert_eq(put(arc, 1, n, SIZE, ABD_ARC_METADATA), 0);
	usleep(70000); /* what is young has not been used more often */
	for (unsigned i = 0; i < 100; i++)
		(void)hits(arc, 1, 1000);
	cr_assert_eq(arc_stats(arc).recent_bytes, 0);
}

/* All other metadata was used more often: it is not the new record that goes. */
Test(arc_quota, new_metadata_is_there_when_its_put_returns)
{
	for (unsigned i = 0; i < 4; i++) {
		struct abd_arc_config config = {.config_size = sizeof(config),
			.capacity_bytes = CAPACITY,
			.hit_batch = i % 2,
			.flags = i / 2 == 1 ? ABD_ARC_NO_GHOSTS : 0,
			.metadata_max_bytes = MIB};
		abd_arc_t *arc = abd_arc_create(&config);
		abd_arc_key_t key;
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;

		arc_fill(data, sizeof(data), 1, 1, 64);
		use_all(arc);
		for (uint64_t n = 1000; n < 2000; n++) {
			size_t size = n % 100 == 99 ? MIB / 2 : 100 + n * 17 % 8000;

			key = key_of(1, n % 7 == 0 ? 1000 : n);
			cr_assert_eq(put(arc, 1, key.dva[0], size, ABD_ARC_METADATA), 0);
			cr_assert(abd_arc_contains(arc, &key), "way %u, record %zu", i, (size_t)n);
			cr_assert_leq(arc_stats(arc).metadata_bytes, MIB);
		}
		key = key_of(1, 3000);
		cr_assert_eq(
			abd_arc_hold_or_fill(arc, &key, SIZE, ABD_ARC_METADATA, &hold, &fill), 1);
		abd_copy_from_buf(fill.abd, data, SIZE);
		cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, NULL), 0);
		cr_assert(abd_arc_contains(arc, &key));
		cr_assert_eq(put(arc, 1, 1, MIB, ABD_ARC_METADATA), -ENOSPC, "with its entry");
		abd_arc_destroy(arc);
	}
}

/* As many as there are: each step of it takes the lock anew. */
Test(arc_quota, a_large_record_of_metadata_displaces_many_small_ones)
{
	abd_arc_t *arc = make(0, 0, MIB);

	for (uint64_t n = 0; n < 4000; n++)
		cr_assert_eq(put(arc, 1, n, 100, ABD_ARC_METADATA), 0);
	cr_assert_gt(arc_stats(arc).metadata_entries, 2000);
	cr_assert_eq(put(arc, 1, 5000, MIB - 20000, ABD_ARC_METADATA), 0);

	abd_arc_key_t key = key_of(1, 5000);
	cr_assert(abd_arc_contains(arc, &key));
	cr_assert_leq(arc_stats(arc).metadata_bytes, MIB);
	cr_assert_lt(arc_stats(arc).metadata_entries, 200);
	abd_arc_destroy(arc);
}
