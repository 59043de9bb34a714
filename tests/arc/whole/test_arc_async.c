/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills without a thread: they outlive the thread that began them, whoever waits is called once or
 * gets the fill, and a thread that sleeps may stop to wait.
 */
#include "abd_arc_filling.h"
#include "abd_arc_hold.h"
#include "abd_arc_rcu.h"
#include "abd_arc_reclaim.h"
#include "arc_data.h"

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { SIZE = 8192, LARGE = 131072, WAITERS = 40 };

static char data[LARGE], got[LARGE];

/* A request of an engine. What ready() finds may be looked at when the fill has ended. */
struct request {
	abd_arc_t *arc;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	atomic_int calls;
	int again; /* what asking again in ready() returned */
	bool asks;
	uint64_t n;
};

static void ready(void *arg)
{
	struct request *request = arg;

	/* Neither the cache's lock nor the registry's is taken, and this thread is in no section.
	 */
	abd_test_check(arc_stats(request->arc).capacity_bytes > 0, "stats");
	abd_test_check(abd_arc_remove(request->arc, arc_at(1000)) == -ENOENT, "remove");
	if (request->asks)
		request->again = abd_arc_hold_or_fill_async(request->arc, arc_at(request->n), SIZE,
			0, &request->hold, &request->fill, ready, request);
	atomic_fetch_add(&request->calls, 1);
}

static int ask(struct request *request, abd_arc_t *arc, uint64_t n)
{
	request->arc = arc;
	request->n = n;
	return abd_arc_hold_or_fill_async(
		arc, arc_at(n), SIZE, 0, &request->hold, &request->fill, ready, request);
}

static bool is_empty(const struct request *request)
{
	return request->hold.entry == NULL && request->hold.abd == NULL &&
	       request->fill.entry == NULL && request->fill.abd == NULL;
}

static void commit(abd_arc_fill_t *fill, uint64_t n)
{
	size_t size = fill->size;

	arc_fill(data, size, n, 0, 64);
	abd_copy_from_buf(fill->abd, data, size);
	cr_assert_eq(abd_arc_fill_commit(fill, size, size, ABD_ARC_PLAIN, NULL), 0);
}

static void expect_nothing_open(abd_arc_t *arc)
{
	cr_assert_eq(arc->policy.reserved, 0);
	cr_assert_eq(arc->fillings, 0);
}

static abd_arc_t *make(void)
{
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 8 << 20, .shards = 1};

	return abd_arc_create(&config);
}

/* ---- the fill -------------------------------------------------------------------------------- */

static void *begins(void *arg)
{
	struct request *request = arg;

	request->again = abd_arc_hold_or_fill_async(request->arc, arc_at(request->n), LARGE, 0,
		&request->hold, &request->fill, ready, request);
	return NULL;
}

/* Its buffer is written after its thread has ended, as by a transfer that was in flight. */
Test(arc_async, a_fill_outlives_the_thread_that_began_it)
{
	abd_arc_t *arc = make();
	struct request request = {.arc = arc, .n = 7};
	pthread_t thread;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(pthread_create(&thread, NULL, begins, &request), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(request.again, 1);
	for (uint64_t n = 100; n < 120; n++) {
		cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(n), LARGE, 0, &hold, &fill), 1);
		commit(&fill, n);
	}
	arc_fill(data, LARGE, 7, 0, 64);
	abd_copy_from_buf(request.fill.abd, data, LARGE);
	for (uint64_t n = 100; n < 120; n++) {
		arc_fill(data, LARGE, n, 0, 64);
		cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, LARGE), LARGE);
		cr_assert_arr_eq(got, data, LARGE);
	}
	cr_assert_eq(
		abd_arc_fill_commit(&request.fill, LARGE, LARGE, ABD_ARC_PLAIN, &request.hold), 0);
	arc_fill(data, LARGE, 7, 0, 64);
	cr_assert_eq(abd_arc_hold_read(&request.hold, got, 0, LARGE), LARGE);
	cr_assert_arr_eq(got, data, LARGE);
	abd_arc_release(&request.hold);
	expect_nothing_open(arc);
	abd_arc_destroy(arc);
}

/* What has no block in the cache's registry can't be a thread's, and need not. */
static void *asks_without_a_block(void *arg)
{
	(void)abd_arc_rcu_register(); /* liburcu ends the process if it can't */
	abd_test_wrap_fail(ABD_TEST_SETSPECIFIC, 1);
	(void)begins(arg);
	cr_assert_null(abd_arc_thread_self);
	return NULL;
}

Test(arc_async, a_thread_without_a_block_may_begin_one)
{
	abd_arc_t *arc = make();
	struct request request = {.arc = arc, .n = 1};
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, asks_without_a_block, &request), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(request.again, 1);
	abd_arc_fill_abandon(&request.fill);
	expect_nothing_open(arc);
	abd_arc_destroy(arc);
}

Test(arc_async, what_is_there_is_held_and_flags_are_those_of_the_call_that_sleeps)
{
	abd_arc_t *arc = make();
	struct request request = {.calls = 0}, other = {.calls = 0};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(&request, arc, 1), 1);
	cr_assert_null(request.hold.entry);
	cr_assert_eq(abd_arc_hold_or_fill_async(arc, arc_at(1), SIZE, ABD_ARC_NOWAIT, &other.hold,
			     &other.fill, ready, &other),
		-EAGAIN);
	cr_assert_eq(abd_arc_hold_or_fill_async(arc, arc_at(1), SIZE, ABD_ARC_NOWAIT, &other.hold,
			     &other.fill, NULL, NULL),
		-EAGAIN);
	cr_assert(is_empty(&other));
	broken((void)abd_arc_hold_or_fill_async(
		       arc, arc_at(1), SIZE, 0, &other.hold, &other.fill, NULL, NULL),
		"ready is NULL");
	cr_assert_eq(abd_arc_hold_or_fill_async(arc, arc_at(1), SIZE, ABD_ARC_PLAIN, &other.hold,
			     &other.fill, ready, &other),
		-EINVAL);
	commit(&request.fill, 1);
	cr_assert_eq(ask(&request, arc, 1), 0);
	cr_assert_null(request.fill.entry);
	abd_arc_release(&request.hold);
	cr_assert_eq(other.calls + request.calls, 0, "nobody waited");

	/* It does not sleep, so it may ask for what its own thread fills. */
	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(2), SIZE, 0, &hold, &fill), 1);
	cr_assert_eq(ask(&request, arc, 2), -EINPROGRESS);
	commit(&fill, 2);
	cr_assert_eq(request.calls, 1);
	abd_arc_destroy(arc);
}

/* ---- who is called --------------------------------------------------------------------------- */

/* Commit, abandon, and each of them after a put: each call comes once, whatever ended the fill. */
Test(arc_async, who_waits_is_called_once_when_the_fill_has_ended)
{
	for (unsigned way = 0; way < 4; way++) {
		abd_arc_t *arc = make();
		static struct request request[WAITERS];
		struct request first = {.calls = 0};
		unsigned fills = 0, waits = 0;

		memset(request, 0, sizeof(request));
		cr_assert_eq(ask(&first, arc, 1), 1);
		for (size_t i = 0; i < WAITERS; i++) {
			request[i].hold.entry = request[i].fill.entry = data;
			cr_assert_eq(ask(&request[i], arc, 1), -EINPROGRESS);
			cr_assert(is_empty(&request[i]));
			cr_assert_eq(request[i].calls, 0);
			request[i].asks = true;
		}
		if (way >= 2)
			cr_assert_eq(abd_arc_put(arc, arc_at(1), "newer", 5), 0);
		if (way % 2 == 0)
			abd_arc_fill_abandon(&first.fill);
		else if (way == 1)
			commit(&first.fill, 1);
		else
			cr_assert_eq(
				abd_arc_fill_commit(&first.fill, SIZE, SIZE, 0, NULL), -ESTALE);
		for (size_t i = 0; i < WAITERS; i++) {
			cr_assert_eq(request[i].calls, 1, "way %u", way);
			fills += request[i].again == 1;
			waits += request[i].again == -EINPROGRESS;
			abd_arc_release(&request[i].hold);
		}
		cr_assert_eq(fills, way == 0, "way %u", way);
		cr_assert_eq(waits, way == 0 ? WAITERS - 1 : 0);
		for (size_t i = 0; i < WAITERS; i++)
			request[i].asks = false;
		for (size_t i = 0; i < WAITERS; i++)
			abd_arc_fill_abandon(&request[i].fill);
		for (size_t i = 0; i < WAITERS; i++)
			cr_assert_eq(request[i].calls, request[i].again == -EINPROGRESS ? 2 : 1);
		expect_nothing_open(arc);
		abd_arc_destroy(arc);
	}
}

/* Each ready() ends the fill that the next one waits for. */
static void ready_fills(void *arg)
{
	struct request *request = arg;
	int result = abd_arc_hold_or_fill_async(request->arc, arc_at(request->n), SIZE, 0,
		&request->hold, &request->fill, ready_fills, request);

	atomic_fetch_add(&request->calls, 1);
	if (result == 1)
		abd_arc_fill_abandon(&request->fill);
	else
		request->again = result;
}

Test(arc_async, ready_may_fill_and_end_the_fill_itself)
{
	abd_arc_t *arc = make();
	static struct request request[3];
	struct request first = {.calls = 0};

	memset(request, 0, sizeof(request));
	cr_assert_eq(ask(&first, arc, 1), 1);
	for (size_t i = 0; i < 3; i++) {
		request[i] = (struct request){.arc = arc, .n = 1};
		cr_assert_eq(abd_arc_hold_or_fill_async(arc, arc_at(1), SIZE, 0, &request[i].hold,
				     &request[i].fill, ready_fills, &request[i]),
			-EINPROGRESS);
	}
	abd_arc_fill_abandon(&first.fill);
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(request[i].calls, 1);
	expect_nothing_open(arc);
	abd_arc_destroy(arc);
}

Test(arc_async, who_is_forgotten_is_not_called)
{
	abd_arc_t *arc = make();
	struct request first = {.calls = 0}, request[4] = {{.calls = 0}};

	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(1), ready, &request[0]), -ENOENT);
	cr_assert_eq(ask(&first, arc, 1), 1);
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(ask(&request[i], arc, 1), -EINPROGRESS);
	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(1), ready, &first), -ENOENT);
	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(1), ready_fills, &request[1]), -ENOENT);
	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(2), ready, &request[1]), -ENOENT);
	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(1), ready, &request[1]), 0);
	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(1), ready, &request[1]), -ENOENT);
	/* The last one goes, and another comes in its place. */
	abd_test_no_memory_is(abd_arc_forget_ready(arc, arc_at(1), ready, &request[2]), 0);
	cr_assert_eq(ask(&request[3], arc, 1), -EINPROGRESS);
	/* Twice noted and once forgotten: called once. */
	cr_assert_eq(ask(&request[3], arc, 1), -EINPROGRESS);
	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(1), ready, &request[3]), 0);
	commit(&first.fill, 1);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(request[i].calls, i == 0 || i == 3, "%zu", i);
	cr_assert_eq(abd_arc_forget_ready(arc, arc_at(1), ready, &request[0]), -ENOENT);
	abd_test_breaks(abd_arc_forget_ready, NULL, arc_at(1), ready, NULL);
	abd_test_breaks(abd_arc_forget_ready, arc, NULL, ready, NULL);
	abd_test_breaks(abd_arc_forget_ready, arc, arc_at(1), NULL, NULL);
	abd_arc_destroy(arc);
}

/* ---- threads that sleep ---------------------------------------------------------------------- */

struct sleeper {
	pthread_t thread;
	abd_arc_t *arc;
	uint64_t timeout_ns;
	bool ends; /* with its fill open */
	int result;
};

static void *sleeps(void *arg)
{
	struct sleeper *sleeper = arg;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	sleeper->result = abd_arc_hold_or_fill_timed(
		sleeper->arc, arc_at(1), SIZE, 0, sleeper->timeout_ns, &hold, &fill);
	if (sleeper->result == 1 && !sleeper->ends)
		abd_arc_fill_abandon(&fill);
	abd_test_check(sleeper->result == 0 || hold.entry == NULL, "no hold");
	abd_test_check(sleeper->result == 1 || fill.entry == NULL, "no fill");
	abd_arc_release(&hold);
	return NULL;
}

static void start(struct sleeper *sleeper, abd_arc_t *arc)
{
	sleeper->arc = arc;
	cr_assert_eq(pthread_create(&sleeper->thread, NULL, sleeps, sleeper), 0);
}

/* Until so many wait for record 1. */
static void until_they_wait(abd_arc_t *arc, size_t count)
{
	for (size_t waiting = 0; waiting != count;) {
		nanosleep(&(struct timespec){0, 1000000}, NULL);
		waiting = 0;
		pthread_mutex_lock(&arc->lock);
		struct abd_arc_filling *filling =
			abd_arc_filling_find(arc, abd_arc_hash(arc, arc_at(1)), arc_at(1));

		for (struct abd_arc_waiter *waiter = filling->first; waiter != NULL;
			waiter = waiter->next)
			waiting++;
		pthread_mutex_unlock(&arc->lock);
	}
}

/*
 * A function waits between two threads. The fill that is abandoned goes to the first thread, the
 * one that it abandons to the second, and the function is called when that has abandoned it too: by
 * the thread's own end, if it leaves the fill open.
 */
Test(arc_async, an_abandoned_fill_goes_to_threads_that_sleep_before_ready_is_called)
{
	for (unsigned ends = 0; ends < 2; ends++) {
		abd_arc_t *arc = make();
		struct request first = {.calls = 0}, request = {.asks = true};
		struct sleeper sleeper[2] = {
			{.timeout_ns = UINT64_MAX}, {.timeout_ns = UINT64_MAX, .ends = ends != 0}};

		cr_assert_eq(ask(&first, arc, 1), 1);
		start(&sleeper[0], arc);
		until_they_wait(arc, 1);
		cr_assert_eq(ask(&request, arc, 1), -EINPROGRESS);
		start(&sleeper[1], arc);
		until_they_wait(arc, 3);
		abd_arc_fill_abandon(&first.fill);
		for (unsigned i = 0; i < 2; i++) {
			pthread_join(sleeper[i].thread, NULL);
			cr_assert_eq(sleeper[i].result, 1);
		}
		cr_assert_eq(request.calls, 1);
		cr_assert_eq(request.again, 1);
		abd_arc_fill_abandon(&request.fill);
		expect_nothing_open(arc);
		abd_arc_destroy(arc);
	}
}

Test(arc_async, a_thread_that_sleeps_may_stop_to_wait)
{
	static const uint64_t timeouts[] = {0, 1, 3000000};
	abd_arc_t *arc = make();
	struct request first = {.calls = 0};
	struct sleeper sleeper[3] = {{.timeout_ns = UINT64_MAX}, {.timeout_ns = 20000000},
		{.timeout_ns = UINT64_MAX - 1}};
	abd_arc_hold_t hold = {.entry = data};
	abd_arc_fill_t fill;

	cr_assert_eq(ask(&first, arc, 1), 1);
	for (size_t i = 0; i < sizeof(timeouts) / sizeof(timeouts[0]); i++) {
		uint64_t begin = abd_arc_now_ns();

		cr_assert_eq(abd_arc_hold_or_fill_timed(
				     arc, arc_at(1), SIZE, 0, timeouts[i], &hold, &fill),
			-ETIMEDOUT);
		cr_assert_geq(abd_arc_now_ns() - begin, timeouts[i]);
		cr_assert(hold.entry == NULL && fill.entry == NULL);
	}
	cr_assert_eq(abd_arc_hold_or_fill_timed(
			     arc, arc_at(1), SIZE, ABD_ARC_NOWAIT, 1000000000, &hold, &fill),
		-EAGAIN);
	/* The one in the middle goes; those around it stay, and get the record. */
	for (size_t i = 0; i < 3; i++) {
		start(&sleeper[i], arc);
		if (i != 1)
			until_they_wait(arc, i == 0 ? 1 : 2);
		else
			pthread_join(sleeper[1].thread, NULL);
	}
	cr_assert_eq(sleeper[1].result, -ETIMEDOUT);
	commit(&first.fill, 1);
	for (size_t i = 0; i < 3; i += 2) {
		pthread_join(sleeper[i].thread, NULL);
		cr_assert_eq(sleeper[i].result, 0);
	}
	cr_assert_eq(abd_arc_hold_or_fill_timed(arc, arc_at(1), SIZE, 0, 0, &hold, &fill), 0);
	abd_arc_release(&hold);
	cr_assert_eq(abd_arc_hold_or_fill_timed(arc, arc_at(2), SIZE, 0, 0, &hold, &fill), 1);
	cr_assert_eq(abd_arc_hold_or_fill_timed(
			     arc, arc_at(2), SIZE, 0, 0, &hold, &(abd_arc_fill_t){.size = 0}),
		-EDEADLK);
	abd_arc_fill_abandon(&fill);
	expect_nothing_open(arc);
	abd_arc_destroy(arc);
}

/* ---- all of it at once ----------------------------------------------------------------------- */

enum { ROUNDS = 4000, THREADS = 4 };

struct crowd {
	abd_arc_t *arc;
	atomic_int open; /* fills of the key */
	atomic_uint noted, called, forgotten;
};

struct member {
	struct crowd *crowd;
	atomic_uint waits; /* noted and not called: its struct is lent */
	uint64_t random;
};

static void ready_counts(void *arg)
{
	struct member *member = arg;

	atomic_fetch_add(&member->crowd->called, 1);
	atomic_fetch_sub(&member->waits, 1);
}

static void member_ends(struct member *member, abd_arc_fill_t *fill)
{
	struct crowd *crowd = member->crowd;

	abd_test_check(atomic_fetch_add(&crowd->open, 1) == 0, "two fill a key");
	if (abd_test_random(&member->random) % 4 == 0)
		sched_yield();
	atomic_fetch_sub(&crowd->open, 1);
	if (abd_test_random(&member->random) % 2 == 0) {
		abd_arc_fill_abandon(fill);
	} else {
		abd_zero(fill->abd, fill->size);
		int error = abd_arc_fill_commit(fill, fill->size, fill->size, 0, NULL);

		abd_test_check(error == 0 || error == -ESTALE, "commit: %d", error);
	}
}

static void *member_runs(void *arg)
{
	struct member *member = arg;
	struct crowd *crowd = member->crowd;

	for (size_t i = 0; i < abd_test_share(ROUNDS); i++) {
		uint64_t random = abd_test_random(&member->random);
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;
		int result;

		if (random % 4 == 0) {
			(void)abd_arc_remove(crowd->arc, arc_at(1));
		} else if (random % 2 == 0) {
			result = abd_arc_hold_or_fill_timed(crowd->arc, arc_at(1), SIZE, 0,
				random % 3 == 0 ? UINT64_MAX : random / 8 % 30000, &hold, &fill);
			abd_test_check(result >= 0 || result == -ETIMEDOUT, "timed: %d", result);
			abd_arc_release(&hold);
			if (result == 1)
				member_ends(member, &fill);
		} else {
			atomic_fetch_add(&member->waits, 1);
			result = abd_arc_hold_or_fill_async(
				crowd->arc, arc_at(1), SIZE, 0, &hold, &fill, ready_counts, member);
			abd_test_check(result >= 0 || result == -EINPROGRESS, "async: %d", result);
			abd_arc_release(&hold);
			if (result == -EINPROGRESS)
				atomic_fetch_add(&crowd->noted, 1);
			else
				atomic_fetch_sub(&member->waits, 1);
			if (result == 1)
				member_ends(member, &fill);
			if (result == -EINPROGRESS && random / 8 % 2 == 0 &&
				abd_arc_forget_ready(crowd->arc, arc_at(1), ready_counts, member) ==
					0) {
				atomic_fetch_add(&crowd->forgotten, 1);
				atomic_fetch_sub(&member->waits, 1);
			}
		}
	}
	return NULL;
}

Test(arc_async, of_a_crowd_each_is_called_or_forgotten_once)
{
	struct crowd crowd = {.arc = make()};
	static struct member member[THREADS];
	pthread_t thread[THREADS];

	for (size_t i = 0; i < THREADS; i++) {
		member[i] = (struct member){.crowd = &crowd, .random = i};
		cr_assert_eq(pthread_create(&thread[i], NULL, member_runs, &member[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (size_t i = 0; i < THREADS; i++)
		cr_assert_eq(member[i].waits, 0);
	cr_assert_eq(crowd.noted, crowd.called + crowd.forgotten);
	cr_assert_gt(crowd.called, 0);
	expect_nothing_open(crowd.arc);
	abd_arc_destroy(crowd.arc);
}

/* ---- engines that call back ------------------------------------------------------------------ */

/* Only one thread uses the cache: the lock is taken by nobody else. */
static void ready_finds_no_lock(void *arg)
{
	struct request *request = arg;

	abd_test_check(pthread_mutex_trylock(&request->arc->reclaim_lock) == 0, "reclaim_lock");
	pthread_mutex_unlock(&request->arc->reclaim_lock);
	if (atomic_fetch_add(&request->calls, 1) % 256 == 255)
		(void)abd_arc_trim(request->arc, 0, 0);
}

Test(arc_async, in_ready_a_full_cache_can_be_trimmed)
{
	abd_arc_t *arc = make();
	struct request request = {.arc = arc}, other;

	for (uint64_t n = 0; n < 4000; n++) {
		cr_assert_eq(ask(&request, arc, n), 1);
		cr_assert_eq(abd_arc_hold_or_fill_async(arc, arc_at(n), SIZE, 0, &other.hold,
				     &other.fill, ready_finds_no_lock, &request),
			-EINPROGRESS);
		commit(&request.fill, n);
	}
	cr_assert_eq(request.calls, 4000);
	abd_arc_destroy(arc);
}

enum { CAPACITY = 1 << 20, MOST = 700 << 10 };

static void ready_asks_for_most(void *arg)
{
	struct request *request = arg;

	request->again = abd_arc_hold_or_fill_async(request->arc, arc_at(1), MOST, 0,
		&request->hold, &request->fill, ready_asks_for_most, request);
	atomic_fetch_add(&request->calls, 1);
}

Test(arc_async, the_room_of_a_fill_that_was_overtaken_is_free_in_ready)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	struct request request = {.arc = arc};
	abd_arc_fill_t fill;

	cr_assert_eq(abd_arc_hold_or_fill_async(
			     arc, arc_at(1), MOST, 0, &request.hold, &fill, ready, &request),
		1);
	cr_assert_eq(abd_arc_hold_or_fill_async(arc, arc_at(1), MOST, 0, &request.hold,
			     &request.fill, ready_asks_for_most, &request),
		-EINPROGRESS);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), data, 100), 0);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	cr_assert_eq(abd_arc_fill_commit(&fill, MOST, MOST, ABD_ARC_PLAIN, NULL), -ESTALE);
	cr_assert_eq(request.calls, 1);
	cr_assert_eq(request.again, 1, "%d", request.again);
	abd_arc_fill_abandon(&request.fill);
	expect_nothing_open(arc);
	abd_arc_destroy(arc);
}

static struct {
	abd_arc_t *arc;
	unsigned calls, deadlocks;
	bool asks;
} evicted;

static void asks_for_what_is_committed(abd_arc_evicted_t *of, void *arg)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	(void)of, (void)arg;
	if (!evicted.asks)
		return;
	evicted.calls++;
	int result = abd_arc_hold_or_fill(evicted.arc, arc_at(1), LARGE, 0, &hold, &fill);

	evicted.deadlocks += result == -EDEADLK;
	if (result == 0)
		abd_arc_release(&hold);
}

/* A commit makes room, so evicted_cb runs while its key is still being filled. */
Test(arc_async, a_thread_that_commits_does_not_wait_for_itself)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 2 * CAPACITY,
		.evicted_cb = asks_for_what_is_committed,
		.shards = 1};
	abd_arc_record_t record = {.off = 1, .stored_size = LARGE / 2 - 1, .flags = ABD_ARC_PLAIN};

	record.logical_size = record.stored_size;
	for (unsigned is_async = 0; is_async < 2; is_async++) {
		abd_arc_t *arc = abd_arc_create(&config);
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;

		memset(&evicted, 0, sizeof(evicted));
		evicted.arc = arc;
		cr_assert_eq(is_async != 0 ? abd_arc_hold_or_fill_async(arc, arc_at(1), LARGE / 2,
						     0, &hold, &fill, ready, NULL)
					   : abd_arc_hold_or_fill(
						     arc, arc_at(1), LARGE / 2, 0, &hold, &fill),
			1);
		abd_zero(fill.abd, LARGE / 2);
		for (uint64_t n = 10; n < 200; n++) {
			arc_fill(data, LARGE / 2, n, 0, 64);
			cr_assert_eq(abd_arc_put(arc, arc_at(n), data, LARGE / 2), 0);
		}
		evicted.asks = true;
		cr_assert_eq(abd_arc_fill_commit_record(&fill, &record, NULL), 0);
		evicted.asks = false;
		cr_assert_gt(evicted.deadlocks, 0, "%u calls", evicted.calls);
		abd_arc_destroy(arc);
	}
}
