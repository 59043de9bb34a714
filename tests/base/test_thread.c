/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters while threads end: the counts of a thread move from it to the sum in one step, so no
 * caller misses them or sees them twice.
 */
#include "abd_counter.h"
#include "abd_test.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

/* As many lives as SECONDS allow on a slow machine: who asks and who ends take the same lock. */
enum { THREADS = 2, LIVES = 5000, SECONDS = 3, EACH = 3 };

static atomic_uint alive, lives;

static void *count_and_end(void *arg)
{
	(void)arg;
	abd_counter_add(ABD_COUNTER(scatter_alloc_retry), EACH);
	return NULL;
}

static void *live_and_die(void *arg)
{
	pthread_t thread;
	time_t end = time(NULL) + SECONDS;

	(void)arg;
	for (int i = 0; i < LIVES && time(NULL) <= end; i++) {
		abd_test_check(
			pthread_create(&thread, NULL, count_and_end, NULL) == 0, "no thread");
		pthread_join(thread, NULL);
		atomic_fetch_add(&lives, 1);
	}
	atomic_fetch_sub(&alive, 1);
	return NULL;
}

static uint64_t sum(void)
{
	return abd_test_stats().scatter_alloc_retry;
}

/* Nothing lowers this counter. */
Test(abd_counter, what_was_counted_is_never_uncounted_while_threads_end, .timeout = 60)
{
	uint64_t first = sum(), was = first;
	pthread_t thread[THREADS];

	atomic_store(&alive, THREADS);
	atomic_store(&lives, 0);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, live_and_die, NULL), 0);
	while (atomic_load(&alive) > 0) {
		uint64_t now = sum();

		abd_test_check(now >= was, "%zu were lost for a while", (size_t)(was - now));
		was = now;
		sched_yield();
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	cr_assert_eq(sum() - first, (uint64_t)atomic_load(&lives) * EACH);
	cr_assert(atomic_load(&lives) > 0);
}
