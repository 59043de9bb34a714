/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache in a process whose other parts use liburcu-bp as well: calls that may wait say that
 * they were called in a section, and all others may be; what waits keeps errno and is not
 * cancelled.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

#include <unistd.h>

enum { SIZE = 64 };

static char data[SIZE];

static abd_arc_t *make(void)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);

	cr_assert_not_null(arc);
	for (uint64_t n = 0; n < 10; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
	return arc;
}

#define BREAKS(statement) abd_test_expect_contract(statement, "inside a read-side section")

Test(arc_rcu, a_call_that_may_wait_says_that_it_was_called_in_a_section)
{
	abd_arc_t *arc = make();
	abd_arc_hold_t hold, held;
	abd_arc_fill_t fill, filled;
	abd_t *abd = abd_alloc(SIZE, false);

	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(20), SIZE, 0, &held, &filled), 1);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &held), 0);
	abd_arc_rcu_read_lock();
	BREAKS((void)abd_arc_put(arc, arc_at(1), data, SIZE));
	BREAKS((void)abd_arc_put_flags(arc, arc_at(1), data, SIZE, 0));
	BREAKS((void)abd_arc_put_abd(arc, arc_at(1), abd, SIZE, 0));
	BREAKS((void)abd_arc_hold_or_fill(arc, arc_at(21), SIZE, 0, &hold, &fill));
	BREAKS((void)abd_arc_fill_commit(&filled, SIZE, SIZE, 0, NULL));
	BREAKS((void)abd_arc_remove(arc, arc_at(1)));
	BREAKS((void)abd_arc_hold_drop(arc, &held));
	BREAKS((void)abd_arc_remove_pool(arc, 7));
	BREAKS((void)abd_arc_resize(arc, 2 << 20));
	BREAKS((void)abd_arc_trim(arc, 0, 0));
	BREAKS(abd_arc_destroy(arc));
	abd_arc_rcu_read_unlock();
	cr_assert_eq(arc_stats(arc).entries, 10, "and has done nothing");
	abd_arc_release(&held);
	abd_arc_fill_abandon(&filled);
	abd_free(abd);
	abd_arc_destroy(arc);
}

static int visit(const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *count)
{
	++*(unsigned *)count;
	return 0;
}

Test(arc_rcu, reads_holds_and_walks_may_be_in_a_section)
{
	abd_arc_t *arc = make();
	abd_arc_key_t keys[10];
	abd_arc_hold_t held[10];
	int results[10];
	unsigned count = 0;
	char byte;

	abd_arc_rcu_read_lock();
	for (uint64_t n = 0; n < 10; n++) {
		cr_assert_eq(abd_arc_read(arc, arc_at(n), &byte, 0, 1), 1);
		cr_assert(arc_contains(arc, n));
		keys[n] = arc_key(n);
	}
	cr_assert_eq(abd_arc_hold_many(arc, keys, held, results, 10), 10);
	for (unsigned i = 0; i < 10; i++)
		abd_arc_release(&held[i]);
	cr_assert_eq(abd_arc_each(arc, visit, &count), 0);
	cr_assert_eq(count, 10);
	cr_assert(abd_arc_rcu_is_reading(), "the caller's section goes on");
	abd_arc_rcu_read_unlock();
	cr_assert_not(abd_arc_rcu_is_reading());
	abd_arc_destroy(arc);
}

static void *is_cancelled(void *arc)
{
	pthread_cancel(pthread_self());
	errno = 33;
	abd_arc_reclaim(arc);
	abd_test_check(errno == 33, "errno");
	pthread_testcancel();
	return NULL;
}

Test(arc_rcu, a_thread_that_waits_keeps_errno_and_is_cancelled_afterwards)
{
	abd_arc_t *arc = make();
	pthread_t thread;
	void *result;

	cr_assert_eq(pthread_create(&thread, NULL, is_cancelled, arc), 0);
	pthread_join(thread, &result);
	cr_assert_eq(result, PTHREAD_CANCELED);
	abd_arc_reclaim(arc);
	abd_arc_destroy(arc);
}

/* A thread's last calls may come when liburcu has taken its entry back, and ours its block. */
static pthread_key_t last_key;
static unsigned last_reads;

static void read_last(void *arc)
{
	abd_arc_hold_t held;
	char byte;

	for (uint64_t n = 0; n < 10; n++)
		last_reads += abd_arc_read(arc, arc_at(n), &byte, 0, 1) == 1;
	if (abd_arc_hold(arc, arc_at(1), &held) == 0)
		abd_arc_release(&held);
	if (last_reads < 30)
		pthread_setspecific(last_key, arc);
}

static void *end_reading(void *arc)
{
	char byte;

	abd_arc_read(arc, arc_at(1), &byte, 0, 1);
	pthread_setspecific(last_key, arc);
	return NULL;
}

Test(arc_rcu, a_threads_last_destructors_may_read)
{
	abd_arc_t *arc = make();
	pthread_t thread;

	cr_assert_eq(pthread_key_create(&last_key, read_last), 0);
	cr_assert_eq(pthread_create(&thread, NULL, end_reading, arc), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(last_reads, 30);
	cr_assert_eq(arc_stats(arc).hits, 1 + 33);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	pthread_key_delete(last_key);
	for (uint64_t n = 10; n < 5000; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
	abd_arc_destroy(arc);
}
