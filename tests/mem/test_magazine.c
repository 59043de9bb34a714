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
#include "abd_test_wrap.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>

#define SIZE ((size_t)4096)
#define INDEX (ABD_MAGAZINE_COUNT - 1) /* of an order that the tests here do not use otherwise */
#define OTHER (ABD_MAGAZINE_COUNT - 2)
#define CAPACITY (2 * ABD_DEPOT_BATCH) /* of a magazine for 4 KiB */

static atomic_size_t out; /* blocks that the source has given and not got back */

static size_t source_most; /* how many it gives at once */

static size_t source_alloc(void **given, size_t count, size_t size, unsigned tag)
{
	count = abd_min(count, source_most);
	for (size_t i = 0; i < count; i++)
		given[i] = aligned_alloc(64, size);
	atomic_fetch_add(&out, count);
	return count;
}

static void source_free(void **given, size_t count, size_t size, unsigned tag)
{
	cr_assert_eq(tag, 7);
	atomic_fetch_sub(&out, count);
	for (size_t i = 0; i < count; i++)
		free(given[i]);
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
	source_most = SIZE_MAX;
}

static void end(void)
{
	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), 0);
	abd_test_tunables_restore();
}

TestSuite(abd_magazine, .init = begin, .fini = end);

Test(abd_magazine, a_reap_gives_everything_back)
{
	take_and_put(300);
	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), 0);
	take_and_put(10);
}

#if !ABD_CHECKED

Test(abd_magazine, a_block_that_was_put_is_had_again)
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

Test(abd_magazine, no_more_is_kept_than_the_tunables_say)
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

Test(abd_magazine, an_empty_magazine_takes_half_of_its_room_at_once)
{
	take_and_put(1);
	for (size_t i = 0; i < 1 + CAPACITY / 2; i++) {
		blocks[i] = abd_magazine_get(INDEX, &source, SIZE, 7);
		cr_assert_eq(atomic_load(&out), i < 1 ? 1 : 1 + CAPACITY / 2);
	}
	source_most = 0;
	cr_assert_null(abd_magazine_get(INDEX, &source, SIZE, 7));
	for (size_t i = 0; i < 1 + CAPACITY / 2; i++)
		abd_magazine_put(INDEX, &source, blocks[i], SIZE, 7);
}

Test(abd_magazine, a_full_magazine_keeps_its_younger_half)
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
Test(abd_magazine, what_is_in_reserve_makes_room_for_sizes_in_use)
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

Test(abd_magazine, what_is_not_used_goes_back_in_time)
{
	set("reserve_ms", 60);
	take_and_put(1000);

	size_t most = atomic_load(&out);
	void *block = abd_magazine_get(OTHER, &source, SIZE, 7);

	/*
	 * The program goes on with another size, which its magazine serves alone. It goes on until
	 * the reserve is given back: on a busy machine that may take longer than twice 60 ms.
	 */
	uint64_t begun = abd_age_now_ms();

	while (atomic_load(&out) > 1 && abd_age_now_ms() - begun < 10000) {
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

Test(abd_magazine, a_reap_takes_what_sleeping_threads_keep)
{
	struct other o;
	pthread_t thread = other_begin(&o);

	abd_magazine_reap();
	cr_assert_eq(atomic_load(&out), visits_work() ? 1 : 20);
	other_goes_on(&o);
	cr_assert_eq(o.kept, 1);
	other_end(&o, thread);
}

Test(abd_magazine, a_refusal_takes_what_sleeping_threads_keep_of_that_kind)
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

static int64_t slow_ns;

/* Each look at the clock takes a millisecond, so a visit takes one, and then 10 ms are none. */
static int64_t slow_clock(void)
{
	return slow_ns += 1000000;
}

Test(abd_magazine, refusals_one_after_another_leave_others_alone)
{
	struct other o;
	pthread_t thread = other_begin(&o);
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	slow_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec + 20000000;
	abd_test_wrap_clock(CLOCK_MONOTONIC, slow_clock);
	cr_assert_eq(abd_magazine_relieve(&source, 0), visits_work());
	other_goes_on(&o);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_not(abd_magazine_relieve(&source, 0));
	abd_test_wrap_clock(CLOCK_MONOTONIC, NULL);
	usleep(40000); /* what the clock told is past for the tests that follow */
	other_end(&o, thread);
}

/* A batch of count blocks. */
static struct abd_depot_batch *batch_of(const struct abd_source *from, size_t count, unsigned tag)
{
	struct abd_depot_batch *batch = abd_depot_batch_make(from, SIZE, tag);

	cr_assert_not_null(batch);
	batch->count = (unsigned)from->alloc(batch->slot, count, SIZE, tag);
	return batch;
}

/* Take the one batch there is and put it back, again and again. */
static void *take_and_give_back(void *arg)
{
	atomic_uint *owners = arg;

	for (unsigned i = 0; i < 20000; i++) {
		struct abd_depot_batch *batch = abd_depot_get(INDEX);

		if (batch == NULL)
			continue;
		abd_test_check(atomic_fetch_add(owners, 1) == 0, "two have the batch");
		atomic_fetch_sub(owners, 1);
		abd_depot_put(INDEX, batch);
	}
	return NULL;
}

Test(abd_magazine, a_batch_is_taken_by_one_thread)
{
	atomic_uint owners = 0;
	pthread_t thread[3];

	abd_depot_put(INDEX, batch_of(&source, 3, 7));
	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, take_and_give_back, &owners), 0);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	abd_depot_batch_end(abd_depot_get(INDEX));
	cr_assert_eq(atomic_load(&out), 0);
}

Test(abd_magazine, a_refusal_takes_what_is_of_its_kind_and_nothing_else)
{
	static const struct abd_source stranger = {source_alloc, source_free};

	for (unsigned in_depot = 0; in_depot < 2; in_depot++) {
		if (in_depot)
			abd_depot_put(INDEX, batch_of(&source, 10, 7));
		else
			take_and_put(10);
		usleep(20000);
		cr_assert_not(abd_magazine_relieve(&stranger, 0));
		usleep(20000);
		cr_assert_not(abd_magazine_relieve(&source, 1));
		cr_assert_eq(atomic_load(&out), 10);
		cr_assert(abd_magazine_relieve(&source, 0));
		cr_assert_eq(atomic_load(&out), 0);
	}
}

/* Somebody has made the reserve smaller since this batch was filled. */
Test(abd_magazine, a_batch_that_is_too_large_for_the_depot_ends)
{
	struct abd_depot_batch *batch = batch_of(&source, 10, 7);

	set("reserve_bytes", 2 * 9 * SIZE);
	abd_depot_put(INDEX, batch);
	cr_assert_eq(atomic_load(&out), 0);
	cr_assert_null(abd_depot_get(INDEX));
	set("reserve_bytes", 64 << 20);
}

Test(abd_magazine, without_memory_for_batches_blocks_go_to_their_source)
{
	void *one_more = abd_magazine_get(INDEX, &source, SIZE, 7);

	take_and_put(CAPACITY);
	cr_assert_eq(atomic_load(&out), CAPACITY + 1);
	abd_test_fault_from(0);
	abd_magazine_put(INDEX, &source, one_more, SIZE, 7);
	abd_test_fault_end();
	cr_assert_eq(atomic_load(&out), CAPACITY, "the magazine is full");
}

Test(abd_magazine, without_memory_for_a_magazine_a_batch_serves_one_block)
{
	void *block;

	/* The thread has its own block of memory already: only the magazine is refused. */
	cr_assert_not_null(abd_thread_self());
	abd_depot_put(INDEX, batch_of(&source, 10, 7));
	abd_test_fault_from(0);
	block = abd_magazine_get(INDEX, &source, SIZE, 7);
	abd_test_fault_end();
	cr_assert_not_null(block);
	/* The other nine went back to their source. */
	cr_assert_eq(atomic_load(&out), 1);
	source_free(&block, 1, SIZE, 7);
}

/* A thread that ends has no batch for its magazine. */
static void *keep_ten_and_end(void *arg)
{
	void *block[10];

	for (size_t i = 0; i < 10; i++)
		block[i] = abd_magazine_get(INDEX, &source, SIZE, 7);
	for (size_t i = 0; i < 10; i++)
		abd_magazine_put(INDEX, &source, block[i], SIZE, 7);
	cr_assert_eq(atomic_load(&out), 10);
	abd_test_fault_from(0);
	return arg;
}

Test(abd_magazine, a_thread_that_ends_without_memory_for_batches_leaks_nothing)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, keep_ten_and_end, NULL), 0);
	pthread_join(thread, NULL);
	abd_test_fault_end();
	cr_assert_eq(atomic_load(&out), 0);
}

/* What another thread's reap does in between. */
static bool reap_meanwhile(void)
{
	atomic_store(&abd_mem_fault, NULL);
	abd_magazine_reap();
	return false;
}

Test(abd_magazine, a_magazine_that_is_taken_while_a_batch_is_made_needs_none)
{
	void *one_more = abd_magazine_get(INDEX, &source, SIZE, 7);

	take_and_put(CAPACITY);
	atomic_store(&abd_mem_fault, reap_meanwhile);
	abd_magazine_put(INDEX, &source, one_more, SIZE, 7);
	cr_assert_null(atomic_load(&abd_mem_fault), "no batch was made");
	cr_assert_eq(atomic_load(&out), 1);
	cr_assert_null(abd_depot_get(INDEX), "the batch was not needed");
	cr_assert_eq(abd_magazine_get(INDEX, &source, SIZE, 7), one_more);
	abd_magazine_put(INDEX, &source, one_more, SIZE, 7);
}

static size_t get_many(void)
{
	struct iovec iov[4];
	size_t count = abd_magazine_get_many(INDEX, iov, 4, SIZE);

	cr_assert_eq(abd_magazine_put_many(INDEX, iov, count), count);
	return count;
}

static void *many_of_none(void *arg)
{
	struct iovec iov = {NULL, SIZE};

	cr_assert_null(abd_thread_current);
	*(size_t *)arg =
		abd_magazine_get_many(INDEX, &iov, 1, SIZE) + abd_magazine_put_many(INDEX, &iov, 1);
	cr_assert_null(abd_magazine_get_pair(INDEX, OTHER, blocks, blocks));
	cr_assert_null(abd_magazine_put_pair(INDEX, OTHER, NULL, NULL));
	return NULL;
}

Test(abd_magazine, a_thread_without_magazines_has_none_of_many)
{
	size_t count = 1;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, many_of_none, &count), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(count, 0);
}

static void *reap(void *arg)
{
	abd_magazine_reap();
	return arg;
}

Test(abd_magazine, a_thread_that_is_asked_for_its_magazines_has_none_of_many)
{
	int worked = atomic_exchange(&abd_thread_visits, ABD_THREAD_VISITS_FAIL);
	struct iovec iov;
	pthread_t thread;

	take_and_put(10);
	cr_assert_eq(get_many(), 4);
	iov = (struct iovec){abd_magazine_get(INDEX, &source, SIZE, 7), SIZE};
	cr_assert_eq(pthread_create(&thread, NULL, reap, NULL), 0);
	pthread_join(thread, NULL);
	atomic_store(&abd_thread_visits, worked);
	cr_assert_eq(get_many(), 0);
	cr_assert_eq(abd_magazine_put_many(INDEX, &iov, 1), 0);
	cr_assert_null(abd_magazine_get_pair(INDEX, INDEX, blocks, blocks + 1));
	cr_assert_null(abd_magazine_put_pair(INDEX, INDEX, iov.iov_base, iov.iov_base));
	cr_assert_eq(atomic_load(&out), 10);

	void *block = abd_magazine_get(INDEX, &source, SIZE, 7);

	cr_assert_eq(atomic_load(&out), 2, "it gave them up first");
	abd_magazine_put(INDEX, &source, block, SIZE, 7);
	cr_assert_eq(atomic_load(&out), 2);
	abd_magazine_put(INDEX, &source, iov.iov_base, SIZE, 7);
}

/* ---- pairs ---- */

static uint32_t kept(unsigned index)
{
	return abd_thread_self()->magazine[index]->count;
}

/* Look at the clock, so that it is not due during the next frees. */
static void look(void)
{
	abd_thread_self()->puts_left = 100;
}

Test(abd_magazine, a_pair_is_taken_and_given_whole_or_not_at_all)
{
	void *first = NULL, *second = NULL, *a = abd_magazine_get(INDEX, &source, SIZE, 7),
	     *b = abd_magazine_get(OTHER, &source, SIZE, 7);

	look();
	cr_assert_null(abd_magazine_put_pair(INDEX, OTHER, a, b), "there are no magazines");
	abd_magazine_put(INDEX, &source, a, SIZE, 7);
	cr_assert_null(abd_magazine_get_pair(INDEX, OTHER, &first, &second), "one is empty");
	cr_assert_null(abd_magazine_get_pair(OTHER, INDEX, &first, &second), "one is empty");
	cr_assert_null(abd_magazine_put_pair(INDEX, OTHER, b, b), "one has no room");
	cr_assert_null(abd_magazine_put_pair(OTHER, INDEX, b, b), "one has no room");
	cr_assert_eq(kept(INDEX), 1);
	abd_magazine_put(OTHER, &source, b, SIZE, 7);

	cr_assert_eq(abd_magazine_get_pair(INDEX, OTHER, &first, &second), abd_thread_self());
	cr_assert_eq(first, a);
	cr_assert_eq(second, b);
	cr_assert_eq(kept(INDEX) + kept(OTHER), 0);
	cr_assert_eq(abd_magazine_put_pair(INDEX, OTHER, a, b), abd_thread_self());
	cr_assert_eq(kept(INDEX), 1);
	cr_assert_eq(kept(OTHER), 1);
}

/* Pairs count as frees, so a thread that frees nothing else looks at the clock too. */
Test(abd_magazine, pairs_bring_the_look_at_the_clock_nearer)
{
	void *first = NULL, *second = abd_magazine_get(OTHER, &source, SIZE, 7);

	take_and_put(1);
	abd_magazine_put(OTHER, &source, second, SIZE, 7);
	abd_thread_self()->puts_left = 3;
	for (int i = 0; i < 2; i++) {
		cr_assert_not_null(abd_magazine_get_pair(INDEX, OTHER, &first, &second));
		cr_assert_not_null(abd_magazine_put_pair(INDEX, OTHER, first, second));
	}
	cr_assert_not_null(abd_magazine_get_pair(INDEX, OTHER, &first, &second));
	cr_assert_null(abd_magazine_put_pair(INDEX, OTHER, first, second), "the clock is due");
	abd_magazine_put(INDEX, &source, first, SIZE, 7);
	cr_assert_gt(abd_thread_self()->puts_left, 1, "it was looked at");
	abd_magazine_put(OTHER, &source, second, SIZE, 7);
}

#ifdef ABD_THREAD_POINTER
/* Another thread has its slot: it uses its magazines all the same, and looks at the clock. */
Test(abd_magazine, a_thread_without_a_slot_has_magazines)
{
	struct abd_thread *self = abd_thread_self();
	struct abd_thread_slot *slot = abd_thread_slot(ABD_THREAD_POINTER);
	void *first = NULL, *second = NULL;

	source_most = 1;
	cr_assert_eq(abd_thread_mine(), self);
	look();
	take_and_put(2);
	atomic_store(&slot->owner, ABD_THREAD_POINTER + 1);
	cr_assert_null(abd_thread_mine());
	cr_assert_null(abd_magazine_get_pair(INDEX, INDEX, &first, &second));
	cr_assert_eq(abd_magazine_get_many(INDEX, NULL, 2, SIZE), 0);
	first = abd_magazine_get(INDEX, &source, SIZE, 7);
	second = abd_magazine_get(INDEX, &source, SIZE, 7);
	cr_assert_eq(kept(INDEX), 0);
	self->puts_left = 100;
	abd_magazine_put(INDEX, &source, abd_magazine_get(INDEX, &source, SIZE, 7), SIZE, 7);
	cr_assert_eq(kept(INDEX), 1, "the source gave it");
	cr_assert_eq(abd_thread_self(), self);
	self->puts_left = 2;
	abd_magazine_put(INDEX, &source, first, SIZE, 7);
	cr_assert_eq(self->puts_left, 1);
	abd_magazine_put(INDEX, &source, second, SIZE, 7);
	cr_assert_gt(self->puts_left, 1, "it was looked at");
	cr_assert_eq(kept(INDEX), 3);
	atomic_store(&slot->owner, ABD_THREAD_POINTER);
}
#endif

/* ---- time ---- */

static void *sleep_without_magazines(void *arg)
{
	cr_assert_not_null(abd_thread_self());
	pthread_barrier_wait(arg);
	pthread_barrier_wait(arg);
	return NULL;
}

static void age_now(void)
{
	set("reserve_ms", 60); /* due at once */
	abd_age_check(abd_age_now_ms());
}

Test(abd_magazine, threads_that_sleep_lose_what_they_keep_in_time)
{
	pthread_barrier_t barrier;
	pthread_t thread, sleeper;
	struct other o;

	pthread_barrier_init(&barrier, NULL, 2);
	cr_assert_eq(pthread_create(&sleeper, NULL, sleep_without_magazines, &barrier), 0);
	pthread_barrier_wait(&barrier);
	thread = other_begin(&o);
	/* More than the clock has counted: nobody has slept for so long. */
	set("reserve_ms", (size_t)1 << (sizeof(size_t) == 8 ? 40 : 31));
	abd_age_check(abd_age_now_ms());
	age_now();
	cr_assert_eq(atomic_load(&out), 20);
	usleep(100000);
	for (unsigned i = 0; i < 3; i++) /* into the depot, old, out of it */
		age_now();
	cr_assert_eq(atomic_load(&out), visits_work() ? 1 : 20);
	set("reserve_ms", 12000);
	other_goes_on(&o);
	other_end(&o, thread);
	pthread_barrier_wait(&barrier);
	pthread_join(sleeper, NULL);
	pthread_barrier_destroy(&barrier);
}

/* Systems without membarrier(2): each thread gives its reserve up when it frees next. */
Test(abd_magazine, where_threads_can_not_be_visited_they_are_asked)
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

Test(abd_magazine, threads_that_are_visited_at_work_lose_nothing)
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

Test(abd_magazine, a_forked_child_takes_what_its_parents_threads_kept)
{
	struct other o;
	pthread_t thread = other_begin(&o);
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		abd_magazine_reap();
		/* A process that is killed has no leaks that a checker would report. */
		if (atomic_load(&out) == (visits_work() ? 1 : 20))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	other_goes_on(&o);
	other_end(&o, thread);
}

#endif

/* ---- threads ---- */

enum { THREADS = 8, ROUNDS = 500 };

static void *count_and_keep(void *arg)
{
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

Test(abd_magazine, counters_are_exact_after_threads_ended)
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

Test(abd_magazine, buffers_end_in_other_threads_than_they_began)
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
	pthread_setspecific(late_key, calloc(1, 1));
	abd_free(abd_alloc(9000, false));
	return NULL;
}

/* A destructor of the engine's may run after ours, and use the library once more. */
Test(abd_magazine, a_thread_that_ended_may_start_again)
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
