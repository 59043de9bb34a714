/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Magazines in front of a source that counts: what is kept, how much at most, and that all of it
 * comes back. Checked builds keep nothing, so what is kept is not looked at there; that all comes
 * back is.
 */
#include "abd_counter.h"
#include "abd_magazine.h"
#include "abd_mem.h"
#include "abd_test.h"
#include "abd_test_provider.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE ((size_t)4096)
#define INDEX (ABD_MAGAZINE_COUNT - 1) /* of an order that the tests here do not use otherwise */

static atomic_size_t out; /* blocks that the source has given and not got back */

static void *source_alloc(size_t size, unsigned tag)
{
	(void)tag;
	atomic_fetch_add(&out, 1);
	return aligned_alloc(64, size);
}

static void source_free(void *block, size_t size, unsigned tag)
{
	(void)size;
	cr_assert_eq(tag, 7);
	atomic_fetch_sub(&out, 1);
	free(block);
}

static const struct abd_source source = {source_alloc, source_free};

static void *blocks[2000];

/* Take count blocks, put them back: most would like to stay. */
static void take_and_put(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		blocks[i] = abd_magazine_get(INDEX, &source, SIZE, 7);
		cr_assert_not_null(blocks[i]);
	}
	for (size_t i = 0; i < count; i++)
		abd_magazine_put(INDEX, &source, blocks[i], SIZE, 7);
}

static void begin(void)
{
	abd_test_tunables_restore();
	abd_magazine_reap();
	atomic_store(&out, 0);
}

static void end(void)
{
	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), 0);
	abd_test_tunables_restore();
}

Test(abd_magazine, a_reap_gives_everything_back, .init = begin, .fini = end)
{
	take_and_put(300);
	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), 0);
	take_and_put(10);
}

#if !ABD_CHECKED

Test(abd_magazine, a_block_that_was_put_is_had_again, .init = begin, .fini = end)
{
	void *block = abd_magazine_get(INDEX, &source, SIZE, 7);

	abd_magazine_put(INDEX, &source, block, SIZE, 7);
	cr_assert_eq(atomic_load(&out), 1);
	cr_assert_eq(abd_magazine_get(INDEX, &source, SIZE, 7), block);
	cr_assert_eq(atomic_load(&out), 1);
	abd_magazine_put(INDEX, &source, block, SIZE, 7);
}

Test(abd_magazine, no_more_is_kept_than_the_tunable_says, .init = begin, .fini = end)
{
	size_t limits[] = {0, SIZE - 1, SIZE, 10 * SIZE + 1, 100 * SIZE};

	for (size_t i = 0; i < 5; i++) {
		char text[32];

		snprintf(text, sizeof(text), "%zu", limits[i]);
		cr_assert_eq(abd_tuning_set("thread_cache_bytes", text), 0);
		cr_assert_eq(atomic_load(&out), 0);
		take_and_put(1000);
		cr_assert_leq(atomic_load(&out) * SIZE, limits[i]);
		cr_assert(limits[i] < SIZE || atomic_load(&out) > 0, "nothing is kept");
		cr_assert_eq(abd_thread_self()->room + atomic_load(&out) * SIZE, limits[i]);
	}
}

Test(abd_magazine, a_full_magazine_keeps_its_younger_half, .init = begin, .fini = end)
{
	take_and_put(ABD_MAGAZINE_SLOTS + 1);
	cr_assert_eq(atomic_load(&out), ABD_MAGAZINE_SLOTS / 2 + 1);
	cr_assert_eq(abd_magazine_get(INDEX, &source, SIZE, 7), blocks[ABD_MAGAZINE_SLOTS]);
	abd_magazine_put(INDEX, &source, blocks[ABD_MAGAZINE_SLOTS], SIZE, 7);
}

struct other {
	pthread_barrier_t barrier;
	size_t kept;
};

static void *other_thread(void *arg)
{
	struct other *o = arg;
	void *block[20];

	for (size_t i = 0; i < 20; i++)
		block[i] = abd_magazine_get(INDEX, &source, SIZE, 7);
	for (size_t i = 0; i < 19; i++)
		abd_magazine_put(INDEX, &source, block[i], SIZE, 7);
	pthread_barrier_wait(&o->barrier); /* the main thread reaps */
	pthread_barrier_wait(&o->barrier);
	abd_magazine_put(INDEX, &source, block[19], SIZE, 7);
	o->kept = atomic_load(&out);
	pthread_barrier_wait(&o->barrier);
	return NULL;
}

Test(abd_magazine, other_threads_follow_a_reap_when_they_free_next, .init = begin, .fini = end)
{
	struct other o;
	pthread_t thread;

	pthread_barrier_init(&o.barrier, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, other_thread, &o), 0);
	pthread_barrier_wait(&o.barrier);
	cr_assert_eq(atomic_load(&out), 20);
	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), 20);
	pthread_barrier_wait(&o.barrier);
	pthread_barrier_wait(&o.barrier);
	cr_assert_eq(o.kept, 1);
	pthread_join(thread, NULL);
	cr_assert_eq(atomic_load(&out), 0); /* its last one went back when it ended */
	pthread_barrier_destroy(&o.barrier);
}

#endif

/* ---- threads ---- */

enum { THREADS = 8, ROUNDS = 500 };

static void *count_and_keep(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < ROUNDS; i++) {
		abd_t *abd = abd_alloc(3 << 12, false);
		void *buf = abd_borrow_buf(abd, 3 << 12);

		memset(buf, 0, 3 << 12);
		abd_return_buf_copy(abd, buf, 3 << 12);
		abd_free(abd);
		abd_free(abd_alloc_linear(100, false));
	}
	return NULL;
}

static void run_threads(void *(*function)(void *), void **arg)
{
	pthread_t thread[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		cr_assert_eq(
			pthread_create(&thread[i], NULL, function, arg != NULL ? arg[i] : NULL), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

Test(abd_magazine, counters_are_exact_after_threads_ended, .init = begin, .fini = end)
{
	struct abd_stats before = abd_test_stats(), after;

	run_threads(count_and_keep, NULL);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after));
	cr_assert_eq(after.borrow_cnt - before.borrow_cnt, THREADS * ROUNDS);
	cr_assert_eq(after.borrow_copy_cnt - before.borrow_copy_cnt, THREADS * ROUNDS);
	cr_assert_eq(after.borrow_copy_bytes - before.borrow_copy_bytes,
		(uint64_t)THREADS * ROUNDS * (3 << 12));
}

static void *free_one(void *arg)
{
	abd_free(arg);
	return NULL;
}

Test(abd_magazine, buffers_end_in_other_threads_than_they_began, .init = begin, .fini = end)
{
	struct abd_stats before = abd_test_stats(), after;
	void *abds[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		abds[i] = abd_alloc(5000 * (i + 1), false);
	run_threads(free_one, abds);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after));
}

static pthread_key_t late_key;

static void use_late(void *arg)
{
	abd_free(abd_alloc_linear(100, false));
	free(arg);
}

static void *leave_late(void *arg)
{
	(void)arg;
	pthread_setspecific(late_key, calloc(1, 1));
	abd_free(abd_alloc(9000, false));
	return NULL;
}

/* A destructor of the engine's may run after ours, and use the library once more. */
Test(abd_magazine, a_thread_that_ended_may_start_again, .init = begin, .fini = end)
{
	struct abd_stats before, after;

	cr_assert_eq(pthread_key_create(&late_key, use_late), 0);
	before = abd_test_stats();
	run_threads(leave_late, NULL);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after));
	pthread_key_delete(late_key);
}

Test(abd_magazine, threads_give_their_runs_back_when_they_end)
{
	abd_test_provider_begin();
	abd_tuning_set("thread_cache_bytes", "1000000");
	run_threads(count_and_keep, NULL);
	cr_assert_eq(abd_test_runs_out_all(), 0);
	abd_test_provider_end();
}
