/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Magazines in front of a source that counts: what they keep, how much at most, and that all of it
 * comes back. In checked builds magazines keep nothing, so only the last is tested there.
 */
#include "abd_age.h"
#include "abd_counter.h"
#include "abd_depot.h"
#include "abd_magazine.h"
#include "abd_mem.h"
#include "abd_test.h"
#include "abd_test_provider.h"

#include <criterion/criterion.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE ((size_t)4096)
#define INDEX (ABD_MAGAZINE_COUNT - 1) /* of an order that the tests here do not use otherwise */
#define OTHER (ABD_MAGAZINE_COUNT - 2)
#define CAPACITY (2 * ABD_DEPOT_BATCH) /* of a magazine for 4 KiB */

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

static void set(const char *name, size_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", value);
	cr_assert_eq(abd_tuning_set(name, text), 0);
}

Test(abd_magazine, no_more_is_kept_than_the_tunables_say, .init = begin, .fini = end)
{
	size_t limits[] = {0, SIZE - 1, SIZE, 10 * SIZE + 1, 100 * SIZE};
	size_t reserves[] = {0, 2 * SIZE, 20 * SIZE, 1000 * SIZE};

	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 4; j++) {
			set("thread_cache_bytes", limits[i]);
			set("reserve_bytes", reserves[j]);
			cr_assert_eq(atomic_load(&out), 0);
			take_and_put(1000);

			size_t thread = abd_min(limits[i], reserves[j] / 2);

			cr_assert_leq(atomic_load(&abd_thread_self()->reserved), thread);
			cr_assert_leq(atomic_load(&out) * SIZE, thread + reserves[j] / 2);
			cr_assert(thread < SIZE || atomic_load(&out) > 0, "nothing is kept");
		}
	cr_assert_eq(abd_tuning_set("reserve_bytes", "67108864"), 0);
}

Test(abd_magazine, a_full_magazine_keeps_its_younger_half, .init = begin, .fini = end)
{
	take_and_put(CAPACITY + 1);
	cr_assert_eq(atomic_load(&out), CAPACITY + 1);
	for (size_t i = CAPACITY + 1; i-- > CAPACITY / 2;)
		cr_assert_eq(abd_magazine_get(INDEX, &source, SIZE, 7), blocks[i]);

	struct abd_depot_batch *batch = abd_depot_get(INDEX);

	cr_assert_eq(batch->count, CAPACITY / 2, "the older half is for all");
	cr_assert_eq(batch->slot[0], blocks[0]);
	abd_depot_put(INDEX, batch);
	for (size_t i = CAPACITY / 2; i < CAPACITY + 1; i++)
		abd_magazine_put(INDEX, &source, blocks[i], SIZE, 7);
}

/* The depot is full of one size: another's blocks are kept all the same, in the thread and in the
 * depot. */
Test(abd_magazine, what_is_in_reserve_makes_room_for_sizes_in_use, .init = begin, .fini = end)
{
	set("thread_cache_bytes", 20 * SIZE);
	set("reserve_bytes", 200 * SIZE);
	take_and_put(1000);

	size_t before = atomic_load(&out);
	void *block[200];

	for (size_t i = 0; i < 200; i++)
		block[i] = abd_magazine_get(OTHER, &source, SIZE, 7);
	cr_assert_eq(atomic_load(&out), before + 200);
	for (size_t i = 0; i < 200; i++)
		abd_magazine_put(OTHER, &source, block[i], SIZE, 7);

	size_t kept = atomic_load(&out);

	for (size_t i = 0; i < 50; i++)
		block[i] = abd_magazine_get(OTHER, &source, SIZE, 7);
	cr_assert_eq(atomic_load(&out), kept, "none was in reserve");
	for (size_t i = 0; i < 50; i++)
		abd_magazine_put(OTHER, &source, block[i], SIZE, 7);
	set("reserve_bytes", 64 << 20);
}

Test(abd_magazine, what_is_not_used_goes_back_in_time, .init = begin, .fini = end)
{
	set("reserve_ms", 60);
	take_and_put(1000);

	size_t most = atomic_load(&out);
	void *block = abd_magazine_get(OTHER, &source, SIZE, 7);

	/* The program goes on with another size, which its magazine serves alone. */
	for (uint64_t begun = abd_age_now_ms(); abd_age_now_ms() - begun < 150;) {
		abd_magazine_put(OTHER, &source, block, SIZE, 7);
		block = abd_magazine_get(OTHER, &source, SIZE, 7);
	}
	cr_assert_gt(most, 900);
	cr_assert_eq(atomic_load(&out), 1, "%zu of %zu", atomic_load(&out), most);
	abd_magazine_put(OTHER, &source, block, SIZE, 7);
	set("reserve_ms", 12000);
}

struct other {
	pthread_barrier_t barrier;
	size_t kept;
};

/* Keeps 19 in reserve, sleeps, frees one more, sleeps. */
static void *other_thread(void *arg)
{
	struct other *o = arg;
	void *block[20];

	for (size_t i = 0; i < 20; i++)
		block[i] = abd_magazine_get(INDEX, &source, SIZE, 7);
	for (size_t i = 0; i < 19; i++)
		abd_magazine_put(INDEX, &source, block[i], SIZE, 7);
	pthread_barrier_wait(&o->barrier);
	pthread_barrier_wait(&o->barrier);
	abd_magazine_put(INDEX, &source, block[19], SIZE, 7);
	o->kept = atomic_load(&out);
	pthread_barrier_wait(&o->barrier);
	pthread_barrier_wait(&o->barrier);
	return NULL;
}

static pthread_t other_begin(struct other *o)
{
	pthread_t thread;

	pthread_barrier_init(&o->barrier, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, other_thread, o), 0);
	pthread_barrier_wait(&o->barrier);
	cr_assert_eq(atomic_load(&out), 20);
	return thread;
}

static void other_goes_on(struct other *o)
{
	pthread_barrier_wait(&o->barrier);
	pthread_barrier_wait(&o->barrier);
}

static void other_end(struct other *o, pthread_t thread)
{
	pthread_barrier_wait(&o->barrier);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&o->barrier);
}

static bool visits_work(void)
{
	return (syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) &
		       MEMBARRIER_CMD_PRIVATE_EXPEDITED) > 0;
}

Test(abd_magazine, a_reap_takes_what_sleeping_threads_keep, .init = begin, .fini = end)
{
	struct other o;
	pthread_t thread = other_begin(&o);

	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), visits_work() ? 1 : 20);
	other_goes_on(&o);
	cr_assert_eq(o.kept, 1);
	other_end(&o, thread);
}

Test(abd_magazine, a_refusal_takes_what_sleeping_threads_keep_of_that_kind, .init = begin,
	.fini = end)
{
	static const struct abd_source stranger = {source_alloc, source_free};
	struct other o;
	pthread_t thread = other_begin(&o);

	cr_assert_not(abd_magazine_relieve(&stranger, 0));
	cr_assert_not(abd_magazine_relieve(&source, 1));
	cr_assert_eq(atomic_load(&out), 20);
	usleep(20000); /* looking at others is rationed */
	cr_assert_eq(abd_magazine_relieve(&source, 0), visits_work());
	cr_assert_eq(atomic_load(&out), visits_work() ? 1 : 20);
	other_goes_on(&o);
	other_end(&o, thread);
}

Test(abd_magazine, refusals_one_after_another_leave_others_alone, .init = begin, .fini = end)
{
	struct other o;
	pthread_t thread = other_begin(&o);
	unsigned visits = 0;

	usleep(20000);
	abd_magazine_relieve(&source, 0);
	other_goes_on(&o);
	for (unsigned i = 0; i < 3; i++)
		visits += abd_magazine_relieve(&source, 0);
	cr_assert_leq(visits, 1);
	other_end(&o, thread);
}

/* Systems without membarrier(2): each thread gives its reserve up when it frees next. */
Test(abd_magazine, where_threads_can_not_be_visited_they_are_asked, .init = begin, .fini = end)
{
	struct other o;
	pthread_t thread = other_begin(&o);
	int worked = atomic_exchange(&abd_thread_visits, ABD_THREAD_VISITS_FAIL);

	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), 20);
	other_goes_on(&o);
	cr_assert_eq(o.kept, 1);
	atomic_store(&abd_thread_visits, worked);
	other_end(&o, thread);
}

/* Threads take and put without pause while another takes everything away from them. */
static atomic_bool robbed_stop;

static void *robbed_thread(void *arg)
{
	void *block[40];
	size_t twice = 0;

	while (!atomic_load_explicit(&robbed_stop, memory_order_relaxed)) {
		for (size_t i = 0; i < 40; i++) {
			block[i] = abd_magazine_get(INDEX, &source, SIZE, 7);
			*(void **)block[i] = &block[i];
		}
		for (size_t i = 0; i < 40; i++) {
			twice += *(void **)block[i] != &block[i];
			abd_magazine_put(INDEX, &source, block[i], SIZE, 7);
		}
	}
	*(size_t *)arg += twice;
	return NULL;
}

Test(abd_magazine, threads_that_are_visited_at_work_lose_nothing, .init = begin, .fini = end)
{
	pthread_t thread[4];
	size_t twice[4] = {0};

	atomic_store(&robbed_stop, false);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, robbed_thread, &twice[i]), 0);
	for (size_t i = 0; i < 3000; i++)
		abd_magazine_reap();
	atomic_store(&robbed_stop, true);
	for (size_t i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		cr_assert_eq(twice[i], 0, "a block was given out twice");
	}
}

Test(abd_magazine, a_forked_child_takes_what_its_parents_threads_kept, .init = begin, .fini = end)
{
	struct other o;
	pthread_t thread = other_begin(&o);
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		abd_magazine_reap();
		_exit(atomic_load(&out) == (visits_work() ? 1 : 20) ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	other_goes_on(&o);
	other_end(&o, thread);
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
