/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many holds. What a put, a hold and a release cost does not grow with the records that are held,
 * nor with those that were evicted meanwhile (pinned). Measured in CPU time, with wide bounds: each
 * of them grew 20 to 1,000 times.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

enum { MANY = 40000, BATCH = 2000, SIZE = 64, CAPACITY = 64 << 20 };

static char data[SIZE];

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void put(abd_arc_t *arc, uint64_t n)
{
	abd_test_check(abd_arc_put(arc, arc_at(n), data, SIZE) == 0, "put %u", (unsigned)n);
}

static void hold(abd_arc_t *arc, uint64_t n, abd_arc_hold_t *hold)
{
	abd_test_check(abd_arc_hold(arc, arc_at(n), hold) == 0, "hold %u", (unsigned)n);
}

/* Each of the three, the best of five batches. */
static uint64_t time_puts(abd_arc_t *arc)
{
	static uint64_t next = 1u << 30;
	uint64_t best = UINT64_MAX;

	for (unsigned round = 0; round < 5; round++) {
		uint64_t begin = cpu_ns();

		for (unsigned i = 0; i < BATCH; i++)
			put(arc, next++);
		best = abd_min(best, cpu_ns() - begin);
	}
	return best;
}

static uint64_t time_hold_and_release(abd_arc_t *arc)
{
	uint64_t best = UINT64_MAX;
	abd_arc_hold_t held;

	put(arc, 1u << 29);
	for (unsigned round = 0; round < 5; round++) {
		uint64_t begin = cpu_ns();

		for (unsigned i = 0; i < BATCH; i++) {
			hold(arc, 1u << 29, &held);
			abd_arc_release(&held);
		}
		best = abd_min(best, cpu_ns() - begin);
	}
	return best;
}

static void expect_near(uint64_t now, uint64_t before, const char *what)
{
	cr_log_info("%s: %u ns, %u ns before", what, (unsigned)(now / BATCH),
		(unsigned)(before / BATCH));
	cr_expect_leq(now, 4 * before, "%s: %u ns each, %u ns before", what,
		(unsigned)(now / BATCH), (unsigned)(before / BATCH));
}

Test(arc_holds, many_pinned_records_make_nothing_slow)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_hold_t *held = calloc(MANY, sizeof(*held));

	cr_assert(arc != NULL && held != NULL);
	time_puts(arc);

	uint64_t puts = time_puts(arc), holds = time_hold_and_release(arc), first, last;

	for (uint64_t n = 0; n < MANY; n++)
		put(arc, n);
	first = cpu_ns();
	for (uint64_t n = 0; n < BATCH; n++)
		hold(arc, n, &held[n]);
	first = cpu_ns() - first;
	for (uint64_t n = BATCH; n < MANY - BATCH; n++)
		hold(arc, n, &held[n]);
	last = cpu_ns();
	for (uint64_t n = MANY - BATCH; n < MANY; n++)
		hold(arc, n, &held[n]);
	expect_near(cpu_ns() - last, first, "a thread's last hold of many");
	expect_near(time_puts(arc), puts, "a put, many held");
	expect_near(time_hold_and_release(arc), holds, "hold and release, many held");

	cr_assert_eq(abd_arc_resize(arc, CAPACITY / 16), 0);
	cr_assert_eq(abd_arc_resize(arc, CAPACITY), 0);
	cr_assert_gt(arc->pinned_bytes, MANY / 4 * SIZE);
	expect_near(time_puts(arc), puts, "a put, many pinned");
	expect_near(time_hold_and_release(arc), holds, "hold and release, many pinned");

	for (uint64_t n = 0; n < MANY; n++)
		abd_arc_release(&held[n]);
	cr_assert_eq(arc->pinned_bytes, 0);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	abd_arc_destroy(arc);
	free(held);
}

/*
 * Evicted records are freed a few thousand at a time, although there is room for more of them: no
 * put frees them all. A put does not wait for who is reclaiming.
 */
Test(arc_holds, no_put_frees_many_records)
{
	abd_arc_t *arc = arc_make(64 << 20, 0, 0);
	size_t most = 0;

	for (uint64_t n = 0; n % 1000 != 0 || arc_stats(arc).evictions <= 20000; n++) {
		put(arc, n);
		most = arc->retired_count > most ? arc->retired_count : most;
	}
	cr_assert_leq(most, ABD_ARC_RETIRED_MUCH);

	pthread_mutex_lock(&arc->reclaim_lock);
	for (uint64_t n = 0; n < 2 * ABD_ARC_RETIRED_MUCH; n++)
		put(arc, n);
	cr_assert_gt(arc->retired_count, ABD_ARC_RETIRED_MUCH);
	pthread_mutex_unlock(&arc->reclaim_lock);
	abd_arc_destroy(arc);
}

/*
 * A large record, which fits into what is kept free, needs the room of hundreds of small ones. Its
 * put evicts some of them, and those that follow the rest: nobody waits while all go.
 */
Test(arc_holds, a_put_of_a_large_record_evicts_a_few_small_ones_at_a_time)
{
	enum { LARGE = 1 << 17, SMALL = 64 };
	abd_arc_t *arc = arc_make(64 << 20, 0, 0);
	static char large[LARGE];
	abd_arc_key_t key;
	uint64_t n = 0;

	arc_fill(large, LARGE, 1, 1, 64);
	do {
		key = arc_key(n++);
		cr_assert_eq(abd_arc_put(arc, &key, large, SMALL), 0);
	} while (arc_stats(arc).evictions < 1000);

	struct abd_arc_stats before = arc_stats(arc);

	key = arc_key(n++);
	cr_assert_eq(abd_arc_put(arc, &key, large, LARGE), 0);

	struct abd_arc_stats after = arc_stats(arc);

	cr_assert_geq(after.evictions - before.evictions, 100);
	cr_assert_leq(after.evictions - before.evictions, 512, "%zu records at once",
		(size_t)(after.evictions - before.evictions));
	for (unsigned i = 0; i < 200; i++) {
		key = arc_key(n++);
		cr_assert_eq(abd_arc_put(arc, &key, large, SMALL), 0);
	}
	after = arc_stats(arc);
	cr_assert_geq(after.evictions - before.evictions, LARGE / 300);
	cr_assert_leq(after.recent_bytes + after.frequent_bytes, after.target_bytes);
	cr_assert_leq(after.used_bytes, after.capacity_bytes);
	abd_arc_destroy(arc);
}
