/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record that is evicted while it is held is found as long as it is held: no second copy is made.
 * What a remove or a put has replaced is never found again, held or not.
 */
#include "abd_arc_hold.h"
#include "abd_mem.h"
#include "arc_data.h"

#include <abd/operate.h>

enum { CAPACITY = 1 << 20, SIZE = 4096 };

static char data[SIZE], got[SIZE];

static void put(abd_arc_t *arc, uint64_t n, uint64_t version)
{
	arc_fill(data, SIZE, n, version, 64);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
}

static int hold(abd_arc_t *arc, uint64_t n, abd_arc_hold_t *held)
{
	return abd_arc_hold(arc, arc_at(n), held);
}

static ssize_t read_all(abd_arc_t *arc, uint64_t n)
{
	return abd_arc_read(arc, arc_at(n), got, 0, SIZE);
}

/* Evict record n, which nobody waits for. */
static void evict(abd_arc_t *arc, uint64_t n)
{
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(
		arc, abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(n)), arc_at(n)));
	pthread_mutex_unlock(&arc->lock);
}

static void expect_found(abd_arc_t *arc, uint64_t n, const abd_arc_hold_t *held)
{
	abd_arc_hold_t again;

	cr_assert_eq(hold(arc, n, &again), 0, "it is found");
	cr_assert_eq(again.abd, held->abd, "and it is the same buffer");
	cr_assert_eq(again.logical_size, held->logical_size);
	abd_arc_release(&again);
	arc_fill(data, SIZE, n, 0, 64);
	cr_assert_eq(read_all(arc, n), SIZE);
	cr_assert_arr_eq(got, data, SIZE);
}

static void expect_none(abd_arc_t *arc, uint64_t n)
{
	abd_arc_hold_t again;

	cr_assert_eq(hold(arc, n, &again), -ENOENT);
	cr_assert_eq(read_all(arc, n), -ENOENT);
}

static void evicted_while_held(uint32_t hit_batch, uint32_t flags)
{
	abd_arc_t *arc = arc_make(CAPACITY, hit_batch, flags);
	abd_arc_hold_t first, second;

	put(arc, 1, 0);
	put(arc, 2, 0);
	cr_assert_eq(hold(arc, 1, &first), 0);
	evict(arc, 1);
	expect_found(arc, 1, &first); /* before a grace period */
	abd_arc_reclaim(arc);
	expect_found(arc, 1, &first);
	cr_assert_eq(hold(arc, 1, &second), 0);
	abd_arc_release(&first);
	expect_found(arc, 1, &second);
	abd_arc_reclaim(arc);
	expect_found(arc, 1, &second);
	abd_arc_release(&second);
	expect_none(arc, 1);
	cr_assert_eq(arc->leaving, 0);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0);

	/* One that nobody held when that was decided is not found, even before it is freed. */
	evict(arc, 2);
	struct abd_arc_entry *entry =
		abd_arc_index_find_any(arc->index, abd_arc_hash(arc, arc_at(2)), arc_at(2));
	uint64_t stamp = atomic_exchange(&entry->item.stamp, 0);

	expect_none(arc, 2);
	atomic_store(&entry->item.stamp, stamp);
	abd_arc_reclaim(arc);
	expect_none(arc, 2);
	abd_arc_destroy(arc);
}

Test(arc_leaving, what_is_evicted_while_held_is_found)
{
	evicted_while_held(0, 0);
	evicted_while_held(0, ABD_ARC_CHECKSUM);
}

Test(arc_leaving, also_where_each_hit_is_reported_at_once)
{
	evicted_while_held(1, 0);
}

Test(arc_leaving, after_a_remove_or_a_put_the_old_one_is_not_found)
{
	for (unsigned pinned = 0; pinned < 2; pinned++) {
		abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
		abd_arc_hold_t first, second, newest;

		put(arc, 1, 0);
		put(arc, 2, 0);
		cr_assert_eq(hold(arc, 1, &first), 0);
		cr_assert_eq(hold(arc, 2, &second), 0);
		evict(arc, 1);
		evict(arc, 2);
		if (pinned == 1)
			abd_arc_reclaim(arc);
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), -ENOENT);
		put(arc, 2, 1);
		for (unsigned i = 0; i < 2; i++) {
			expect_none(arc, 1);
			cr_assert_eq(read_all(arc, 2), SIZE);
			cr_assert_arr_eq(got, data, SIZE);
			cr_assert_eq(hold(arc, 2, &newest), 0);
			cr_assert_neq(newest.abd, second.abd);
			abd_arc_release(&newest);
			abd_arc_reclaim(arc);
		}
		cr_assert_eq(arc->leaving, 0);
		abd_arc_release(&first);
		abd_arc_release(&second);
		abd_arc_reclaim(arc);
		cr_assert_eq(arc_stats(arc).evicted_bytes, 0);
		abd_arc_destroy(arc);
	}
}

/* Thousands are held, while lines of the index are split and joined around them. */
Test(arc_leaving, it_is_found_while_the_index_grows_and_shrinks)
{
	enum { MANY = 3000 };
	static abd_arc_hold_t held[MANY];
	abd_arc_t *arc = arc_make(16 << 20, 0, 0);

	for (uint64_t n = 0; n < MANY; n++) {
		put(arc, n, 0);
		cr_assert_eq(hold(arc, n, &held[n]), 0);
	}
	cr_assert_eq(abd_arc_resize(arc, CAPACITY), 0);
	cr_assert_gt(arc->pinned_bytes, MANY / 2 * SIZE);
	for (uint64_t n = 0; n < MANY; n++)
		expect_found(arc, n, &held[n]);
	cr_assert_eq(abd_arc_resize(arc, 16 << 20), 0);
	for (uint64_t n = MANY; n < 6 * MANY; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), data, 64), 0);
	for (uint64_t n = 0; n < MANY; n++)
		expect_found(arc, n, &held[n]);
	for (uint64_t n = 0; n < MANY; n++)
		abd_arc_release(&held[n]);
	abd_arc_destroy(arc);
}

/* The range starts inside a compressed record, so reading it takes scratch. */
Test(arc_leaving, a_range_of_it_is_decoded)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held;

	arc_fill(data, SIZE, 1, 0, 8);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), data, SIZE), 0);
	cr_assert_eq(hold(arc, 1, &held), 0);
	evict(arc, 1);
	cr_assert(held.compressed);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 1000, 2000), 2000);
	cr_assert_arr_eq(got, data + 1000, 2000);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 1000, 0), 0);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 1000, SIZE), -EINVAL);
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	abd_test_fault_from(0);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 1000, 2000), -ENOMEM);
	abd_test_fault_end();
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 1000, 2000), 2000);
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

/* Neither more holds than a thread has slots nor a thread without a block needs memory for it. */
static void *read_without_a_block(void *arc)
{
	abd_test_fault_from(0);
	cr_assert_eq(read_all(arc, 1), SIZE);
	abd_test_fault_end();
	return NULL;
}

Test(arc_leaving, it_is_held_and_read_without_memory)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t held[ABD_ARC_SLOTS], more;
	pthread_t thread;

	put(arc, 1, 0);
	for (unsigned i = 0; i < ABD_ARC_SLOTS; i++)
		cr_assert_eq(hold(arc, 1, &held[i]), 0);
	evict(arc, 1);
	abd_test_fault_from(0);
	cr_assert_eq(hold(arc, 1, &more), 0);
	cr_assert_eq(read_all(arc, 1), SIZE);
	abd_test_fault_end();
	cr_assert_eq(pthread_create(&thread, NULL, read_without_a_block, arc), 0);
	pthread_join(thread, NULL);
	expect_found(arc, 1, &held[0]);
	abd_arc_release(&more);
	for (unsigned i = 0; i < ABD_ARC_SLOTS; i++)
		abd_arc_release(&held[i]);
	abd_arc_destroy(arc);
}

/* Bytes that no longer match their checksum, or are no lz4 block, are found by nobody any more. */
Test(arc_leaving, a_damaged_one_is_dropped)
{
	for (unsigned i = 0; i < 3; i++) {
		abd_arc_t *arc = arc_make(CAPACITY, 0, i < 2 ? ABD_ARC_CHECKSUM : 0);
		abd_arc_hold_t held, again;

		arc_fill(data, SIZE, 1, 0, 8);
		cr_assert_eq(abd_arc_put(arc, arc_at(1), data, SIZE), 0);
		cr_assert_eq(hold(arc, 1, &held), 0);
		evict(arc, 1);
		memset(abd_to_buf((abd_t *)(uintptr_t)held.abd), 0xff, 64);
		if (i == 0)
			cr_assert_eq(hold(arc, 1, &again), -EBADMSG);
		else
			cr_assert_eq(read_all(arc, 1), -EBADMSG);
		cr_assert_eq(arc_stats(arc).damaged, 1);
		expect_none(arc, 1);
		abd_arc_release(&held);
		abd_arc_destroy(arc);
	}
}
