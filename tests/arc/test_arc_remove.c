/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Removing what is held, and only that; and all records of a pool.
 */
#include "abd_arc_compact.h"
#include "abd_arc_hold.h"
#include "arc_data.h"

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { SMALL = 1500, LARGE = 1 << 20, HELD = 40 };

static char data[LARGE];

static void put(abd_arc_t *arc, uint64_t n, size_t size, uint64_t version)
{
	arc_fill(data, size, n, version, 64);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), data, size), 0);
}

static abd_arc_hold_t hold(abd_arc_t *arc, uint64_t n)
{
	abd_arc_hold_t held;

	cr_assert_eq(abd_arc_hold(arc, arc_at(n), &held), 0);
	return held;
}

Test(abd_arc_remove, what_is_held_is_dropped_once)
{
	abd_arc_t *arc = arc_make(4 << 20, 0, 0);

	for (size_t size = SMALL; size <= LARGE; size += LARGE - SMALL) {
		put(arc, 1, size, 0);
		abd_arc_hold_t held = hold(arc, 1);

		cr_assert_eq(abd_arc_hold_drop(arc, &held), 0);
		cr_assert_not(arc_contains(arc, 1));
		cr_assert_eq(abd_arc_hold_drop(arc, &held), -ENOENT);
		cr_assert_eq(abd_get_size(held.abd), size, "it is still held");
		abd_arc_release(&held);
	}
	cr_assert_eq(arc_stats(arc).removes, 2);

	put(arc, 1, SMALL, 0);
	abd_arc_hold_t held = hold(arc, 1);

	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(arc, abd_arc_held_entry(&held));
	pthread_mutex_unlock(&arc->lock);
	cr_assert(arc_contains(arc, 1), "it is evicted, but held");
	cr_assert_eq(abd_arc_hold_drop(arc, &held), 0);
	cr_assert_not(arc_contains(arc, 1));
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

Test(abd_arc_remove, another_record_of_the_key_is_not_dropped)
{
	abd_arc_t *arc = arc_make(8 << 20, 0, 0);
	static const struct {
		size_t first, second;
		uint64_t version;
	} cases[] = {
		{SMALL, SMALL, 1},     /* other bytes */
		{SMALL, SMALL - 1, 0}, /* fewer */
		{LARGE, LARGE, 0},     /* the same, but such a large one is never moved */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(arc, i, cases[i].first, 0);
		abd_arc_hold_t held = hold(arc, i);

		put(arc, i, cases[i].second, cases[i].version);
		cr_assert_eq(abd_arc_hold_drop(arc, &held), -ENOENT);
		cr_assert(arc_contains(arc, i), "case %zu", i);
		abd_arc_release(&held);
	}
	cr_assert_eq(arc_stats(arc).removes, 0);
	abd_arc_destroy(arc);
}

Test(abd_arc_remove, nor_is_another_one_that_was_evicted)
{
	abd_arc_t *arc = arc_make(4 << 20, 1, 0);

	put(arc, 1, SMALL, 0);
	abd_arc_hold_t held = hold(arc, 1);

	put(arc, 1, SMALL, 1);
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(
		arc, abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(1)), arc_at(1)));
	pthread_mutex_unlock(&arc->lock);
	cr_assert_eq(abd_arc_hold_drop(arc, &held), -ENOENT);
	cr_assert_eq(arc->leaving, 1);
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

/* Of each 8 records one stays; the oldest were evicted. */
static uint64_t first(uint64_t count)
{
	return 8 * (count / 16) + 1;
}

/* Hold records first + 8 * i, and have some of them moved. Returns first. */
static uint64_t hold_and_move(abd_arc_t *arc, abd_arc_hold_t held[HELD])
{
	uint64_t count = 0;

	for (; arc_stats(arc).evictions == 0; count++)
		put(arc, count, SMALL, 0);
	for (uint64_t n = 0; n < count; n++) {
		if (n % 8 != 1)
			(void)abd_arc_remove(arc, arc_at(n));
	}
	abd_arc_reclaim(arc);
	for (uint64_t i = 0; i < HELD; i++)
		held[i] = hold(arc, first(count) + 8 * i);
	pthread_mutex_lock(&arc->lock);
	while (abd_arc_compact_some(arc, LARGE))
		continue;
	pthread_mutex_unlock(&arc->lock);
	return first(count);
}

Test(abd_arc_remove, what_is_held_is_dropped_also_when_it_was_moved)
{
	abd_arc_t *arc = arc_make(16 << 20, 0, 0);
	static abd_arc_hold_t held[HELD];
	uint64_t moved = 0, from = hold_and_move(arc, held);

	for (uint64_t i = 0; i < HELD; i++) {
		abd_arc_hold_t again = hold(arc, from + 8 * i);

		moved += again.abd != held[i].abd;
		abd_arc_release(&again);
		cr_assert_eq(abd_arc_hold_drop(arc, &held[i]), 0);
		cr_assert_not(arc_contains(arc, from + 8 * i));
		abd_arc_release(&held[i]);
	}
	cr_assert_gt(moved, 0);
	abd_arc_destroy(arc);
}

/* A copy that a move made of a damaged record goes with it; one that is sound stays. */
Test(abd_arc_remove, what_is_held_and_damaged_is_dropped_where_it_was_moved_to)
{
	abd_arc_t *arc = arc_make(16 << 20, 0, ABD_ARC_CHECKSUM);
	static abd_arc_hold_t held[HELD];
	uint64_t from = hold_and_move(arc, held), damaged = 0, sound = 0;

	for (uint64_t i = 0; i < HELD; i++) {
		abd_arc_hold_t again = hold(arc, from + 8 * i);
		bool moved = again.abd != held[i].abd;

		*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&held[i]))) ^= 1;
		if (moved && i % 2 == 0)
			*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&again))) ^= 1;
		bool stays = moved && i % 2 != 0;

		abd_arc_release(&again);
		sound += stays;
		damaged += !stays;
		for (unsigned twice = 0; twice < 2; twice++) {
			cr_assert_eq(abd_arc_hold_read(&held[i], data, 0, 1), -EBADMSG);
			cr_assert_eq(arc_contains(arc, from + 8 * i), stays);
			cr_assert_eq(arc_stats(arc).damaged, damaged);
		}
		abd_arc_release(&held[i]);
	}
	cr_assert_gt(sound, 0);
	abd_arc_destroy(arc);
}

/* What the holder finds wrong was gone before the fill began, so the fill has not read it. */
Test(abd_arc_remove, a_drop_of_what_is_gone_overtakes_no_fill)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t got;
	abd_arc_fill_t fill;

	put(arc, 1, SMALL, 0);
	abd_arc_hold_t held = hold(arc, 1);

	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(1), SMALL, 0, &got, &fill), 1);
	abd_copy_from_buf(fill.abd, data, SMALL);
	cr_assert_eq(abd_arc_hold_drop(arc, &held), -ENOENT);
	cr_assert_eq(abd_arc_fill_commit(&fill, SMALL, SMALL, 0, NULL), 0);
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

Test(abd_arc_remove, a_drop_wants_a_hold_of_the_cache)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0), *other = arc_make(1 << 20, 0, 0);

	put(arc, 1, SMALL, 0);
	abd_arc_hold_t held = hold(arc, 1);

	broken((void)abd_arc_hold_drop(other, &held), "the hold is of another cache");
	cr_assert(arc_contains(arc, 1));
	abd_arc_release(&held);
	broken((void)abd_arc_hold_drop(arc, &held), "nothing is held");
	abd_arc_destroy(arc);
	abd_arc_destroy(other);
}

/* ---- pools ----------------------------------------------------------------------------------- */

enum { POOLS = 3, MANY = 9000, TINY = 100, FILLED = 5000 };

static abd_arc_key_t pool_key(uint64_t pool, uint64_t n)
{
	abd_arc_key_t key = arc_key(n);

	key.pool = pool;
	return key;
}

static void pool_put(abd_arc_t *arc, uint64_t pool, uint64_t n, size_t size)
{
	abd_arc_key_t key = pool_key(pool, n);

	arc_fill(data, size, n, pool, 64);
	abd_test_check(abd_arc_put(arc, &key, data, size) == 0, "put");
}

static bool pool_contains(abd_arc_t *arc, uint64_t pool, uint64_t n)
{
	abd_arc_key_t key = pool_key(pool, n);

	return abd_arc_contains(arc, &key);
}

Test(abd_arc_remove, of_a_pool_all_records_go_and_no_others)
{
	abd_arc_t *arc = arc_make(64 << 20, 0, 0);

	for (uint64_t n = 0; n < MANY; n++)
		pool_put(arc, 1 + n % POOLS, n, n % 500 == 0 ? LARGE / 4 : TINY);

	uint64_t before = arc_stats(arc).used_bytes, stored = arc_stats(arc).stored_bytes;

	cr_assert_eq(arc_stats(arc).entries, MANY);
	cr_assert_eq(abd_arc_remove_pool(arc, 9), 0);
	for (uint64_t pool = 1; pool <= POOLS; pool++) {
		cr_assert_eq(abd_arc_remove_pool(arc, pool), MANY / POOLS);
		for (uint64_t n = 0; n < MANY; n++)
			abd_test_check(
				pool_contains(arc, 1 + n % POOLS, n) == (1 + n % POOLS > pool),
				"record %zu after pool %zu", (size_t)n, (size_t)pool);
		cr_assert_eq(arc_stats(arc).removes, pool * (MANY / POOLS));
		cr_assert_eq(arc_stats(arc).entries, MANY - pool * (MANY / POOLS));
		cr_assert_eq(arc_stats(arc).evicted_bytes, 0, "all of it was freed");
	}
	cr_assert_eq(abd_arc_remove_pool(arc, 1), 0);
	cr_assert_lt(arc_stats(arc).used_bytes + stored, before + (1 << 20));
	broken((void)abd_arc_remove_pool(NULL, 1), "is NULL");
	abd_arc_destroy(arc);
}

Test(abd_arc_remove, of_a_pool_what_is_held_goes_too_and_stays_valid)
{
	abd_arc_t *arc = arc_make(4 << 20, 0, 0);
	static char got[SMALL];
	abd_arc_hold_t held[3];

	for (uint64_t n = 0; n < 3; n++) {
		put(arc, n, SMALL, 0);
		held[n] = hold(arc, n);
		if (n == 2)
			continue;
		pthread_mutex_lock(&arc->lock);
		abd_arc_evict(arc, abd_arc_held_entry(&held[n]));
		pthread_mutex_unlock(&arc->lock);
		if (n == 0)
			abd_arc_reclaim(arc);
	}
	cr_assert_eq(abd_arc_remove_pool(arc, 8), 0);
	for (uint64_t n = 0; n < 3; n++)
		cr_assert(arc_contains(arc, n), "evicted or not");
	cr_assert_eq(abd_arc_remove_pool(arc, 7), 3);
	for (uint64_t n = 0; n < 3; n++) {
		cr_assert_not(arc_contains(arc, n));
		arc_fill(data, SMALL, n, 0, 64);
		cr_assert_eq(abd_arc_hold_read(&held[n], got, 0, SMALL), SMALL);
		cr_assert_arr_eq(got, data, SMALL);
		abd_arc_release(&held[n]);
	}
	abd_arc_reclaim(arc);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
	cr_assert_eq(arc->leaving, 0);
	abd_arc_destroy(arc);
}

Test(abd_arc_remove, a_pool_overtakes_its_fills_and_no_others)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t got;
	abd_arc_fill_t fill[2 * POOLS];

	for (uint64_t i = 0; i < 2 * POOLS; i++) {
		abd_arc_key_t key = pool_key(i % POOLS, i);

		cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SMALL, 0, &got, &fill[i]), 1);
		arc_fill(data, SMALL, i, 0, 64);
		abd_copy_from_buf(fill[i].abd, data, SMALL);
	}
	cr_assert_eq(abd_arc_remove_pool(arc, 1), 0);
	for (uint64_t i = 0; i < 2 * POOLS; i++) {
		bool stale = i % POOLS == 1;

		cr_assert_eq(
			abd_arc_fill_commit(&fill[i], SMALL, SMALL, 0, NULL), stale ? -ESTALE : 0);
		cr_assert_eq(pool_contains(arc, i % POOLS, i), !stale);
	}
	/* one that begins afterwards stores its record */
	abd_arc_key_t key = pool_key(1, FILLED);

	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SMALL, 0, &got, &fill[0]), 1);
	abd_copy_from_buf(fill[0].abd, data, SMALL);
	cr_assert_eq(abd_arc_fill_commit(&fill[0], SMALL, SMALL, 0, NULL), 0);
	cr_assert(pool_contains(arc, 1, FILLED));
	abd_arc_destroy(arc);
}

/* One that was evicted is found until it is freed: so a remove ends that, held or not. */
Test(abd_arc_remove, what_was_evicted_is_not_found_afterwards)
{
	for (unsigned i = 0; i < 4; i++) {
		abd_arc_t *arc = arc_make(1 << 20, 0, 0);
		abd_arc_key_t key = arc_key(1);
		bool pool = i % 2 == 1, is_held = i / 2 == 1;

		put(arc, 1, SMALL, 0);
		abd_arc_hold_t held = hold(arc, 1);

		pthread_mutex_lock(&arc->lock);
		abd_arc_evict(arc, abd_arc_held_entry(&held));
		pthread_mutex_unlock(&arc->lock);
		if (!is_held)
			abd_arc_release(&held);
		cr_assert(arc_contains(arc, 1));
		if (pool)
			cr_assert_eq(abd_arc_remove_pool(arc, key.pool), 1);
		else
			cr_assert_eq(abd_arc_remove(arc, &key), 0);
		cr_assert_not(arc_contains(arc, 1));
		cr_assert_eq(arc_stats(arc).removes, 0);
		cr_assert_eq(arc->leaving, 0);
		abd_arc_release(&held);
		abd_arc_destroy(arc);
	}
}

struct putter {
	abd_arc_t *arc;
	atomic_bool stop;
	atomic_size_t puts;
};

static void *puts_beside(void *arg)
{
	struct putter *putter = arg;

	while (!atomic_load(&putter->stop)) {
		uint64_t n = atomic_fetch_add(&putter->puts, 1);
		abd_arc_key_t key = pool_key(2, n % MANY);

		abd_test_check(abd_arc_put(putter->arc, &key, "beside", 6) == 0, "put");
	}
	return NULL;
}

Test(abd_arc_remove, puts_go_on_beside_the_removal_of_a_pool)
{
	struct putter putter = {.arc = arc_make(64 << 20, 0, 0)};
	pthread_t thread;
	size_t beside = 0;

	cr_assert_eq(pthread_create(&thread, NULL, puts_beside, &putter), 0);
	/* on a busy machine the other thread may not run at all during one removal */
	for (unsigned turn = 0; turn < 4 || (beside == 0 && turn < 100); turn++) {
		for (uint64_t n = 0; n < MANY; n++)
			pool_put(putter.arc, 1, n, TINY);
		beside -= atomic_load(&putter.puts);
		cr_assert_eq(abd_arc_remove_pool(putter.arc, 1), MANY);
		beside += atomic_load(&putter.puts);
	}
	cr_assert_gt(beside, 0);
	atomic_store(&putter.stop, true);
	pthread_join(thread, NULL);
	cr_assert_leq(arc_stats(putter.arc).entries, MANY);
	abd_arc_destroy(putter.arc);
}
