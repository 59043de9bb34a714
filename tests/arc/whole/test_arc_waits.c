/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often puts wait for readers: twice in a thousand puts, whatever the cache held before; and
 * what happens while somebody stays in a section, as only a host can that uses liburcu too.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

#include <sched.h>
#include <unistd.h>

enum { CAPACITY = 32 << 20, LARGE = 32768, SMALL = 64, PUTS = 4000 };

static char data[LARGE];

static void put_many(abd_arc_t *arc, uint64_t first, unsigned count, size_t size)
{
	for (uint64_t n = first; n < first + count; n++)
		abd_test_check(abd_arc_put(arc, arc_at(n), data, size) == 0, "put");
}

Test(arc_waits, the_index_shrinks_after_many_small_records)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0), *fresh = arc_make(CAPACITY, 0, 0);

	cr_assert(arc != NULL && fresh != NULL);
	arc_fill(data, sizeof(data), 1, 1, 64);
	put_many(arc, 0, 3 * CAPACITY / 256, SMALL);

	uint64_t small_index = arc_stats(arc).index_bytes, waits, fresh_waits;

	put_many(arc, 1u << 30, PUTS, LARGE);
	put_many(fresh, 1u << 30, PUTS, LARGE);
	waits = arc_stats(arc).waits;
	fresh_waits = arc_stats(fresh).waits;
	put_many(arc, 1u << 31, PUTS, LARGE);
	put_many(fresh, 1u << 31, PUTS, LARGE);
	waits = arc_stats(arc).waits - waits;
	fresh_waits = arc_stats(fresh).waits - fresh_waits;

	struct abd_arc_stats after = arc_stats(arc);

	cr_log_info("%u waits for %u puts, %u in a fresh cache", (unsigned)waits, PUTS,
		(unsigned)fresh_waits);
	cr_expect_leq(waits, fresh_waits + fresh_waits / 10, "%u waits, %u in a fresh cache",
		(unsigned)waits, (unsigned)fresh_waits);
	cr_expect_leq(after.index_bytes, small_index / 4, "%zu bytes of index, %zu before",
		(size_t)after.index_bytes, (size_t)small_index);
	cr_expect_geq(after.entries * 100, arc_stats(fresh).entries * 97, "%zu records, %zu",
		(size_t)after.entries, (size_t)arc_stats(fresh).entries);
	cr_expect_leq(after.used_bytes, after.capacity_bytes);
	abd_arc_destroy(arc);
	abd_arc_destroy(fresh);
}

Test(arc_waits, a_thousand_puts_of_small_records_wait_twice)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	enum { MANY = 200000 };

	arc_fill(data, sizeof(data), 1, 1, 64);
	put_many(arc, 0, MANY, SMALL);
	uint64_t waits = arc_stats(arc).waits;

	put_many(arc, MANY, MANY, SMALL);
	waits = arc_stats(arc).waits - waits;
	cr_log_info("%u waits for %u puts", (unsigned)waits, MANY);
	cr_assert_leq(waits, 2 * MANY / 1000 + MANY / 10000);
	cr_assert_gt(waits, 0);
	abd_arc_destroy(arc);
}

/* ---- beside somebody who stays in a section -------------------------------------------------- */

struct stayer {
	pthread_t thread;
	atomic_bool is_inside, may_leave;
};

static void *stay(void *arg)
{
	struct stayer *stayer = arg;

	abd_arc_rcu_read_lock();
	atomic_store(&stayer->is_inside, true);
	while (!atomic_load(&stayer->may_leave))
		usleep(100);
	abd_arc_rcu_read_unlock();
	return NULL;
}

static void stayer_begin(struct stayer *stayer)
{
	*stayer = (struct stayer){.thread = 0};
	cr_assert(pthread_create(&stayer->thread, NULL, stay, stayer) == 0);
	while (!atomic_load(&stayer->is_inside))
		usleep(100);
}

static void stayer_leave(struct stayer *stayer)
{
	atomic_store(&stayer->may_leave, true);
	pthread_join(stayer->thread, NULL);
}

static abd_arc_t *make_full(void)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	cr_assert(arc != NULL);
	arc_fill(data, sizeof(data), 1, 1, 64);
	put_many(arc, 0, 2 * CAPACITY / LARGE, LARGE);
	return arc;
}

struct putter {
	pthread_t thread;
	abd_arc_t *arc;
	atomic_uint puts;
	atomic_bool is_over;
};

static void *put_on(void *arg)
{
	struct putter *putter = arg;

	while (!atomic_load(&putter->is_over)) {
		put_many(putter->arc, (1u << 30) + atomic_load(&putter->puts), 1, LARGE);
		atomic_fetch_add(&putter->puts, 1);
	}
	return NULL;
}

static void putter_begin(struct putter *putter, abd_arc_t *arc)
{
	*putter = (struct putter){.arc = arc};
	cr_assert(pthread_create(&putter->thread, NULL, put_on, putter) == 0);
}

/* The put that reclaims waits; others go on with what is kept free: a quarter of a MiB here. */
Test(arc_waits, one_put_waits_and_others_go_on_while_memory_lasts)
{
	abd_arc_t *arc = make_full();
	struct stayer stayer;
	struct putter putter;

	stayer_begin(&stayer);
	putter_begin(&putter, arc);
	while (pthread_mutex_trylock(&arc->reclaim_lock) == 0) {
		pthread_mutex_unlock(&arc->reclaim_lock);
		usleep(100);
	}
	unsigned before = atomic_load(&putter.puts);

	put_many(arc, 1u << 31, CAPACITY / 128 / LARGE - 2, LARGE);
	cr_assert_leq(atomic_load(&putter.puts), before + 1, "the other one waits");
	cr_assert_leq(arc_stats(arc).used_bytes, CAPACITY);
	stayer_leave(&stayer);
	while (atomic_load(&putter.puts) < before + 100)
		usleep(100);
	atomic_store(&putter.is_over, true);
	pthread_join(putter.thread, NULL);
	cr_assert_leq(arc_stats(arc).used_bytes, CAPACITY);
	abd_arc_destroy(arc);
}

/* Others wait too, and all go on when it has ended. */
Test(arc_waits, little_more_than_the_capacity_is_used_however_long_somebody_stays)
{
	abd_arc_t *arc = make_full();
	struct stayer stayer;
	struct putter putter[2];

	stayer_begin(&stayer);
	for (unsigned i = 0; i < 2; i++)
		putter_begin(&putter[i], arc);
	usleep(200000);
	unsigned puts = atomic_load(&putter[0].puts) + atomic_load(&putter[1].puts);

	struct abd_arc_stats stats = arc_stats(arc);

	cr_log_info("%u puts, %zu of %d bytes used, %zu evicted", puts, (size_t)stats.used_bytes,
		CAPACITY, (size_t)stats.evicted_bytes);
	cr_assert_leq(puts, CAPACITY / 32 / LARGE);
	/* A put that waits has reserved what it takes. */
	cr_assert_leq(stats.used_bytes, CAPACITY + 2 * LARGE);
	stayer_leave(&stayer);
	while (atomic_load(&putter[0].puts) + atomic_load(&putter[1].puts) < puts + 100)
		usleep(100);
	for (unsigned i = 0; i < 2; i++) {
		atomic_store(&putter[i].is_over, true);
		pthread_join(putter[i].thread, NULL);
	}
	cr_assert_leq(arc_stats(arc).used_bytes, CAPACITY);
	abd_arc_destroy(arc);
}
