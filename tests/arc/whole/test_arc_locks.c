/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often calls take the cache's lock, in a cache that is full: twice for a put, three times for
 * a miss that is filled, never for a hit; and once for each time that what was evicted is freed.
 */
#include "abd_age.h"
#include "abd_arc_impl.h"
#include "arc_data.h"

#include <abd/operate.h>
#include <abd/tuning.h>

enum { CAPACITY = 16 << 20, MANY = 4000, SMALL = 1500, LARGE = 8192 };

/* Where its page of the index is full, a put lets the lock go once more: hashes decide that. */
enum { INDEX_GROWS = MANY / 200 };

static char data[LARGE];

static abd_arc_t *make(void)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = CAPACITY, .shards = 1};
	abd_arc_t *arc = abd_arc_create(&config);

	cr_assert_not_null(arc);
	arc_fill(data, sizeof(data), 1, 1, 64);
	return arc;
}

static void put_many(abd_arc_t *arc, uint64_t first, unsigned count)
{
	for (uint64_t n = first; n < first + count; n++)
		abd_test_check(abd_arc_put(arc, arc_at(n), data, SMALL) == 0, "put");
}

/* Fetch a record that is stored as it is, and hold it for a moment. */
static void miss(abd_arc_t *arc, uint64_t n)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	abd_test_check(abd_arc_hold_or_fill(arc, arc_at(n), LARGE, 0, &hold, &fill) == 1, "a miss");
	abd_copy_from_buf(fill.abd, data, LARGE);
	abd_test_check(
		abd_arc_fill_commit(&fill, LARGE, LARGE, ABD_ARC_PLAIN, &hold) == 0, "commit");
	abd_arc_release(&hold);
}

/* ---- giving memory back ---------------------------------------------------------------------- */

static abd_arc_t *aged_arc;
static unsigned aged, aged_with_lock;

static void age(void)
{
	if (aged_arc == NULL)
		return;
	aged++;
	if (pthread_mutex_trylock(&aged_arc->lock) == 0)
		pthread_mutex_unlock(&aged_arc->lock);
	else
		aged_with_lock++;
}

/* Records of all sizes come by turns, so that slabs come and go, and records are moved. */
ABD_TEST_CHILD(memory_ages)
{
	abd_init();
	abd_test_child_expect(abd_tuning_set("reserve_ms", "6") == 0);
	abd_age_start(age);
	aged_arc = make();
	for (uint64_t n = 0; aged < 30; n++)
		abd_test_child_expect(
			abd_arc_put(aged_arc, arc_at(n), data, 1000 + n / 64 % 15 * 500) == 0);
	abd_test_child_expect(aged_with_lock == 0);
	return 0;
}

Test(arc_locks, nothing_goes_back_to_the_system_in_time_while_it_is_taken)
{
	abd_test_child_passes("memory_ages", NULL);
}

Test(arc_locks, a_put_takes_the_lock_twice_and_a_wait_for_readers_once)
{
	abd_arc_t *arc = make();

	put_many(arc, 0, 3 * CAPACITY / SMALL);
	uint64_t waits = arc_stats(arc).waits;

	abd_test_wrap_locks(&arc->lock);
	put_many(arc, 1u << 30, MANY);
	unsigned locks = abd_test_wrap_locks(NULL);

	waits = arc_stats(arc).waits - waits;
	cr_log_info("%u locks for %u puts and %zu waits", locks, MANY, (size_t)waits);
	cr_assert_gt(waits, 0);
	cr_assert(locks >= 2 * MANY + waits && locks <= 2 * MANY + waits + INDEX_GROWS);
	abd_arc_destroy(arc);
}

Test(arc_locks, a_miss_that_is_filled_takes_the_lock_three_times)
{
	abd_arc_t *arc = make();

	for (uint64_t n = 0; n < 2 * CAPACITY / LARGE; n++)
		miss(arc, n);
	uint64_t waits = arc_stats(arc).waits, n = 1u << 30;
	unsigned locks = 0, more = 0;

	for (unsigned i = 0; i < MANY / 4; i++) {
		uint64_t before = arc_stats(arc).waits;

		abd_test_wrap_locks(&arc->lock);
		miss(arc, n++);
		unsigned one = abd_test_wrap_locks(NULL);

		cr_assert_geq(one, 3, "miss %u", i);
		more += arc_stats(arc).waits == before && one > 3;
		locks += one;
	}
	waits = arc_stats(arc).waits - waits;
	cr_log_info("%u locks for %u misses and %zu waits", locks, MANY / 4, (size_t)waits);
	/* The pages of what is freed go without the lock, and then its slots with it. */
	cr_assert_leq(more, INDEX_GROWS);
	cr_assert_leq(locks, 3 * (MANY / 4) + 4 * waits + INDEX_GROWS);
	abd_arc_destroy(arc);
}

Test(arc_locks, a_hit_takes_it_when_a_batch_is_reported)
{
	abd_arc_t *arc = make();
	abd_arc_hold_t hold;
	char byte;

	put_many(arc, 0, 100);
	abd_test_wrap_locks(&arc->lock);
	for (uint64_t n = 0; n < MANY; n++) {
		cr_assert_eq(abd_arc_read(arc, arc_at(n % 100), &byte, 0, 1), 1);
		cr_assert_eq(abd_arc_hold(arc, arc_at(n % 100), &hold), 0);
		abd_arc_release(&hold);
	}
	unsigned locks = abd_test_wrap_locks(NULL);

	cr_assert_leq(locks, 2 * MANY / 64);
	abd_arc_destroy(arc);
}
