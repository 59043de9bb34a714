/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache on a system that refuses thread keys: no thread can have a block of its own, so each
 * call works without one.
 */
#include "abd_arc_impl.h"
#include "arc_data.h"

#define expect(condition) abd_test_child_expect(condition)

enum { RECORD = 9000 };

static int everyday(void)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, ABD_ARC_CHECKSUM);
	char record[RECORD], got[RECORD];
	abd_arc_hold_t hold;

	expect(arc != NULL);
	for (uint64_t n = 0; n < 200; n++) {
		abd_arc_key_t key = arc_key(n);

		arc_fill(record, RECORD, n, 0, 20);
		expect(abd_arc_put(arc, &key, record, RECORD) == 0);
		expect(abd_arc_read(arc, &key, got, 0, RECORD) == RECORD);
		expect(memcmp(record, got, RECORD) == 0);
		expect(abd_arc_read(arc, &key, got, 4000, 100) == 100);
		expect(memcmp(record + 4000, got, 100) == 0);
		expect(abd_arc_hold(arc, &key, &hold) == 0);
		abd_arc_release(&hold);
		expect(abd_arc_put(arc, &key, record, RECORD) == 0);
		if (n % 3 == 0)
			expect(abd_arc_remove(arc, &key) == 0);
		if (n % 3 == 0)
			expect(abd_arc_read(arc, &key, got, 0, 1) == -ENOENT);
	}
	expect(arc_stats(arc).used_bytes <= 1 << 20);
	abd_arc_destroy(arc);
	return 0;
}

ABD_TEST_CHILD(arc_no_key)
{
	abd_test_wrap_fail(ABD_TEST_KEY_CREATE, 1);
	return everyday();
}

ABD_TEST_CHILD(arc_no_value)
{
	abd_test_wrap_fail(ABD_TEST_SETSPECIFIC, 1);
	return everyday();
}

/* Its seed is the clock then. */
ABD_TEST_CHILD(arc_no_random)
{
	abd_test_wrap_fail(ABD_TEST_GETRANDOM, 1);
	return everyday();
}

static void *read_twice(void *arg)
{
	char got;

	abd_test_wrap_fail(ABD_TEST_SETSPECIFIC, 1);
	abd_arc_read(arg, arc_at(0), &got, 0, 1);
	abd_arc_read(arg, arc_at(0), &got, 0, 1);
	return NULL;
}

/* The second hit is noted, and reported when the thread ends. */
ABD_TEST_CHILD(arc_no_first_value)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	pthread_t thread;

	expect(arc != NULL && abd_arc_put(arc, arc_at(0), "x", 1) == 0);
	/* It is no longer young: a hit on it is another use. */
	atomic_fetch_add(&arc->policy.shared.hurry_us, 62000);
	expect(pthread_create(&thread, NULL, read_twice, arc) == 0);
	expect(pthread_join(thread, NULL) == 0);
	expect(arc_stats(arc).hits == 2);
	expect(arc_stats(arc).hits_told == 1);
	abd_arc_destroy(arc);
	return 0;
}

Test(abd_arc_system, a_thread_whose_first_value_was_refused_is_cleaned_up_after)
{
	abd_test_child_passes("arc_no_first_value", NULL);
}

Test(abd_arc_system, without_random_bytes_the_cache_caches)
{
	abd_test_child_passes("arc_no_random", NULL);
}

Test(abd_arc_system, without_thread_keys_the_cache_caches)
{
	abd_test_child_passes("arc_no_key", NULL);
	abd_test_child_passes("arc_no_value", NULL);
}
