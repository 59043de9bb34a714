/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything at once: threads that allocate, hand buffers over, share children among gangs, borrow,
 * compare, read statistics, turn every knob and end, with each byte they left behind checked when
 * somebody else frees it. And the library's start, by many threads at once, in processes that have
 * not used it yet.
 *
 *   ABD_TEST_SECONDS=600   how long, in seconds of a processor (2)
 *   ABD_TEST_SEED=n        another order of things (1)
 */
#include "abd_test.h"

#include <sched.h>

enum { THREADS = 4, PLACES = 32, SHARED = 8, LIFE = 400, HAND_OVERS = 3 };

/* A buffer on its way from one thread to another, and what its first and last 8 bytes are. */
struct place {
	pthread_mutex_t lock;
	abd_t *abd;
	uint64_t tag;
};

static struct {
	struct place place[PLACES];
	abd_t *shared[SHARED]; /* read by all, written by nobody */
	atomic_bool stop;
	atomic_uint lives;
	_Atomic(const char *) trouble;
	uint64_t seed;
	bool is_apart; /* nothing is handed over */
} stress;

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value != NULL ? strtoull(value, NULL, 0) : otherwise;
}

static void wrong(const char *what)
{
	atomic_store(&stress.trouble, what);
	atomic_store(&stress.stop, true);
}

static void tag_write(abd_t *abd, uint64_t tag)
{
	abd_copy_from_buf_off(abd, &tag, 0, 8);
	abd_copy_from_buf_off(abd, &tag, abd_get_size(abd) - 8, 8);
}

static void tag_check(abd_t *abd, uint64_t tag)
{
	if (abd_cmp_buf_off(abd, &tag, 0, 8) != 0 ||
		abd_cmp_buf_off(abd, &tag, abd_get_size(abd) - 8, 8) != 0)
		wrong("a buffer came with other bytes than it was left with");
}

/* Leave a new buffer in a place, and end the one that lay there: another thread's, mostly. */
static void do_hand_over(uint64_t *random)
{
	struct place *place = &stress.place[abd_test_random_below(random, PLACES)];
	size_t size = 16 + abd_test_random_below(
				   random, abd_test_random_below(random, 8) == 0 ? 300000 : 20000);
	uint64_t tag = abd_test_random(random), old_tag;
	abd_t *abd = abd_test_random_below(random, 3) == 0 ? abd_alloc_linear(size, false)
							   : abd_alloc(size, tag % 2 != 0);
	abd_t *old;

	if (abd == NULL)
		return;
	tag_write(abd, tag);
	pthread_mutex_lock(&place->lock);
	old = place->abd;
	old_tag = place->tag;
	place->abd = abd;
	place->tag = tag;
	pthread_mutex_unlock(&place->lock);
	if (old != NULL)
		tag_check(old, old_tag);
	abd_free(old);
}

/* A gang of children that are in other threads' gangs, too. */
static void do_gang(uint64_t *random)
{
	abd_t *gang = abd_alloc_gang(), *view;
	size_t count = 1 + abd_test_random_below(random, stress.is_apart ? 3 : 20);

	for (size_t i = 0; i < count; i++) {
		abd_t *child = stress.shared[abd_test_random_below(random, SHARED)];

		if (abd_gang_add(gang, child, false) != 0)
			wrong("a gang refused a child");
	}
	if (abd_gang_add(gang, abd_get_zeros(1 + abd_test_random_below(random, 9000)), true) != 0)
		wrong("a gang refused zeros");
	view = abd_get_offset(gang, abd_test_random_below(random, abd_get_size(gang)));
	if (abd_cmp_zero(view, abd_get_size(view)) != 0)
		wrong("zeros were not zero");
	abd_free(view);
	abd_free(gang);
}

static void do_borrow(uint64_t *random)
{
	abd_t *abd = stress.shared[abd_test_random_below(random, SHARED)];
	size_t size = 1 + abd_test_random_below(random, abd_get_size(abd));
	char *buf = abd_borrow_buf_copy(abd, size);

	if (buf == NULL)
		return;
	if (buf[size - 1] != 0)
		wrong("a borrowed byte was not what the buffer has");
	abd_return_buf(abd, buf, size);
}

static void do_flush(uint64_t *random)
{
	abd_t *from = stress.shared[abd_test_random_below(random, SHARED)];
	abd_t *to = abd_alloc(abd_get_size(from), false);

	if (to == NULL)
		return;
	abd_flush_copy_off(
		to, from, 0, 0, abd_get_size(from), (unsigned)abd_test_random_below(random, 3));
	if (!abd_equal(to, from))
		wrong("a copy is not equal");
	abd_free(to);
}

/*
 * Gauges are sums over threads that go on; what can be said of them is that they count up from 0.
 */
static void do_stats(uint64_t *random)
{
	struct abd_stats stats;

	abd_stats_get(&stats, sizeof(stats));
	if (stats.struct_size >> 40 != 0 && -stats.struct_size >> 40 != 0)
		wrong("statistics are far off");
}

static void do_tune(uint64_t *random)
{
	static const char *const tuning[][2] = {{"max_order", "0"}, {"max_order", "3"},
		{"max_order", "10"}, {"linear_page", "0"}, {"linear_page", "1"},
		{"scatter_enabled", "0"}, {"scatter_enabled", "1"}, {"scatter_min_size", "0"},
		{"scatter_min_size", "1536"}, {"thread_cache_bytes", "0"},
		{"thread_cache_bytes", "100000"}, {"thread_cache_bytes", "8388608"},
		{"compare", "auto"}, {"compare", "word"}, {"compare", "scalar"}, {"flush", "auto"},
		{"flush", "portable"}, {"chunk_provider", "malloc"},
		{"chunk_provider", "jemalloc"}};
	size_t i = abd_test_random_below(random, sizeof(tuning) / sizeof(tuning[0]));

	abd_tuning_set(tuning[i][0], tuning[i][1]); /* a build without jemalloc refuses that */
	if (abd_tuning_get(tuning[i][0]) == NULL)
		wrong("a tunable is gone");
	if (abd_test_random_below(random, 16) == 0)
		abd_cache_reap_now();
}

static void (*const doings[])(uint64_t *) = {do_hand_over, do_hand_over, do_hand_over, do_gang,
	do_gang, do_borrow, do_flush, do_stats, do_tune};

static void *live(void *arg)
{
	/*
	 * Relaxed, here and below: our own order would hide from a checker what the library leaves
	 * without.
	 */
	uint64_t random = stress.seed * 1000003 +
			  atomic_fetch_add_explicit(&stress.lives, 1, memory_order_relaxed);
	size_t first = stress.is_apart ? HAND_OVERS : 0;
	size_t count = sizeof(doings) / sizeof(doings[0]) - first;

	for (unsigned i = 0; i < LIFE; i++) {
		if (atomic_load_explicit(&stress.stop, memory_order_relaxed))
			break;
		doings[first + abd_test_random_below(&random, count)](&random);
		/*
		 * On a busy machine a thread has a CPU for hundreds of these, and what two do at
		 * once is rare.
		 */
		if (stress.is_apart)
			sched_yield();
	}
	return NULL;
}

/* Threads end and begin all the while. */
static void *live_again_and_again(void *arg)
{
	pthread_t thread;

	while (!atomic_load(&stress.stop)) {
		if (pthread_create(&thread, NULL, live, NULL) != 0) {
			wrong("no thread");
			break;
		}
		live(NULL);
		pthread_join(thread, NULL);
	}
	return arg;
}

static void begin(bool is_apart)
{
	memset(&stress, 0, sizeof(stress));
	stress.is_apart = is_apart;
	stress.seed = setting("ABD_TEST_SEED", 1);
	for (size_t i = 0; i < PLACES; i++)
		pthread_mutex_init(&stress.place[i].lock, NULL);
	for (size_t i = 0; i < SHARED; i++) {
		stress.shared[i] = abd_alloc(is_apart ? 200 + 900 * i : 3000 + 9000 * i, false);
		abd_zero(stress.shared[i], abd_get_size(stress.shared[i]));
	}
}

static void end(void)
{
	for (size_t i = 0; i < PLACES; i++)
		abd_free(stress.place[i].abd);
	for (size_t i = 0; i < SHARED; i++) {
		cr_assert_eq(
			stress.shared[i]->abd_gang_refs, 0, "a shared child is still referred to");
		abd_free(stress.shared[i]);
	}
	abd_test_tunables_restore();
}

/* Until so much was done, however long that takes on a busy machine. */
static void wait_for(uint64_t seconds)
{
	clock_t began = clock();

	while (((uint64_t)(clock() - began) < seconds * CLOCKS_PER_SEC ||
		       atomic_load(&stress.lives) <= 2) &&
		!atomic_load(&stress.stop))
		usleep(20000);
}

static void everything_at_once(bool is_apart)
{
	struct abd_stats before = abd_test_stats(), after;
	pthread_t thread[THREADS / 2];

	begin(is_apart);
	for (size_t i = 0; i < THREADS / 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, live_again_and_again, NULL), 0);
	wait_for(setting("ABD_TEST_SECONDS", 2));
	atomic_store(&stress.stop, true);
	for (size_t i = 0; i < THREADS / 2; i++)
		pthread_join(thread[i], NULL);
	cr_assert_null(atomic_load(&stress.trouble), "%s", atomic_load(&stress.trouble));
	end();
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after));
}

Test(stress, threads_do_everything_at_once_and_nothing_is_left)
{
	everything_at_once(false);
}

/*
 * A lock of the test's own orders what its threads did before, so that a checker takes much for
 * ordered that is not. Here is none. And little is done with each buffer: ThreadSanitizer reports a
 * race only while it remembers the older access, and a byte-wise comparison of a MiB makes it
 * forget. A plain store of a tunable was found in one run of two; so it is in each.
 */
Test(stress, threads_apart_have_nothing_in_common_but_the_library)
{
	everything_at_once(true);
}

/* ---- the start ------------------------------------------------------------------------------- */

static pthread_barrier_t gate;

/* The first call of each thread is another one. */
static void *start(void *arg)
{
	size_t n = (size_t)(uintptr_t)arg;
	struct abd_stats stats;
	abd_t *abd = NULL;

	pthread_barrier_wait(&gate);
	if (n % 4 == 0)
		abd = abd_alloc(20000, false);
	else if (n % 4 == 1)
		abd_tuning_set("max_order", "0");
	else if (n % 4 == 2)
		abd_stats_get(&stats, sizeof(stats));
	else
		abd = abd_get_zeros(100000);
	abd_free(abd);
	abd = abd_alloc(9000, false);
	abd_zero(abd, 9000);
	n = abd_cmp_zero(abd, 9000) == 0 ? 0 : 1;
	abd_free(abd);
	return (void *)(uintptr_t)n;
}

ABD_TEST_CHILD(stress_start)
{
	pthread_t thread[8];
	void *bad;
	int sum = 0;

	pthread_barrier_init(&gate, NULL, 8);
	for (size_t i = 0; i < 8; i++)
		if (pthread_create(&thread[i], NULL, start, (void *)(uintptr_t)i) != 0)
			return 2;
	for (size_t i = 0; i < 8; i++) {
		pthread_join(thread[i], &bad);
		sum += bad != NULL;
	}
	return sum;
}

Test(stress, many_threads_start_the_library_at_once)
{
	uint64_t rounds = 10 * setting("ABD_TEST_SECONDS", 2);

	for (uint64_t i = 0; i < rounds; i++) {
		char text[2000];
		int status = abd_test_child_run("stress_start", NULL, text, sizeof(text));

		cr_assert_eq(abd_test_child_exit(status), 0, "round %u: status %x: %s", (unsigned)i,
			(unsigned)status, text);
	}
}
