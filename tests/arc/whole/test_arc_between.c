/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events between two steps of a call. The tests cause them instead of waiting for them: another
 * thread's put while memory is asked for, locks that are busy because this test holds them, a
 * record that is replaced while a reader waits to report it, caches that end before their threads,
 * threads that begin without memory.
 */
#include "abd_arc_reclaim.h"
#include "abd_arc_thread.h"
#include "abd_mem.h"
#include "arc_data.h"

#include <sched.h>
#include <semaphore.h>

static void run_in_thread(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, function, arg), 0);
	pthread_join(thread, NULL);
}

static void put(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	char *record = malloc(size);

	arc_fill(record, size, n, 0, random);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), record, size), 0);
	free(record);
}

static ssize_t read_byte(abd_arc_t *arc, uint64_t n)
{
	char got;

	return abd_arc_read(arc, arc_at(n), &got, 0, 1);
}

static struct abd_arc_entry *entry_of(abd_arc_t *arc, uint64_t n)
{
	struct abd_arc_entry *entry;

	abd_arc_rcu_read_lock();
	entry = abd_arc_index_find(arc->index, abd_arc_hash(arc, arc_at(n)), arc_at(n));
	abd_arc_rcu_read_unlock();
	cr_assert_not_null(entry);
	return entry;
}

/* ---- two puts, of which each reserves more than half ----------------------------------------- */

enum { SMALL_CACHE = 128 << 10, HALF = 64 << 10 };

static struct {
	abd_arc_t *arc;
	bool done;
} crossing;

static void *put_the_other(void *arg)
{
	put(arg, 2, HALF, 64);
	return NULL;
}

/* The first allocation without the lock after room was reserved: the buffer's. */
static bool put_meanwhile(void)
{
	if (!crossing.done && pthread_mutex_trylock(&crossing.arc->lock) == 0) {
		crossing.done = crossing.arc->policy.reserved > 0;
		pthread_mutex_unlock(&crossing.arc->lock);
		if (!crossing.done)
			return false;
		run_in_thread(put_the_other, crossing.arc);
	}
	return false;
}

Test(arc_between, two_puts_that_do_not_fit_together_both_come_to_an_end)
{
	abd_arc_t *arc = arc_make(SMALL_CACHE, 0, 0);

	/* so that the buffer is asked for */
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	crossing.arc = arc;
	crossing.done = false;
	atomic_store(&abd_mem_fault, put_meanwhile);
	put(arc, 1, HALF, 64);
	atomic_store(&abd_mem_fault, NULL);
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	cr_assert(crossing.done);
	cr_assert_eq(arc_stats(arc).puts, 2);
	cr_assert_eq(read_byte(arc, 1), 1);
	cr_assert_eq(arc_stats(arc).entries, 1, "both are there");
	cr_assert_eq(arc->policy.reserved, 0);
	cr_assert_eq(abd_arc_resize(arc, SMALL_CACHE), 0);
	cr_assert_leq(arc_stats(arc).used_bytes, SMALL_CACHE);
	abd_arc_destroy(arc);
}

/* ---- locks that are busy --------------------------------------------------------------------- */

Test(arc_between, a_release_does_not_wait_for_whoever_reclaims)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold;
	size_t all = SIZE_MAX;

	put(arc, 1, 9000, 64);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	cr_assert_eq(abd_arc_resize(arc, 1 << 20), 0);
	cr_assert_gt(arc_stats(arc).evicted_bytes, 0, "freed while it was held");

	pthread_mutex_lock(&arc->reclaim_lock);
	abd_arc_release(&hold);
	abd_arc_reclaim_unlock(arc, &all);
	cr_assert_eq(arc_stats(arc).evicted_bytes, 0, "it is left to that thread");
	abd_arc_destroy(arc);
}

static void *keep_the_lock(void *arg)
{
	abd_arc_t *arc = arg;

	pthread_mutex_lock(&arc->lock);
	atomic_store(&arc->policy.shared.hurry_us, 62000); /* a sign that it has the lock */
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	pthread_mutex_unlock(&arc->lock);
	return NULL;
}

Test(arc_between, with_batches_of_one_a_hit_waits_for_the_lock_and_is_reported)
{
	abd_arc_t *arc = arc_make(1 << 20, 1, 0);
	pthread_t thread;

	put(arc, 1, 100, 64);
	cr_assert_eq(pthread_create(&thread, NULL, keep_the_lock, arc), 0);
	while (atomic_load(&arc->policy.shared.hurry_us) == 0)
		sched_yield();
	cr_assert_eq(read_byte(arc, 1), 1);
	pthread_join(thread, NULL);
	cr_assert_eq(arc_stats(arc).hits_told, 1);
	cr_assert_eq(arc_stats(arc).hits_dropped, 0);
	abd_arc_destroy(arc);
}

/* A batch of 4; once the lock was busy, it is asked for again only at every fourth hit. */
Test(arc_between, hits_go_on_while_the_lock_is_busy_and_are_reported_later)
{
	abd_arc_t *arc = arc_make(1 << 20, 4, 0);

	put(arc, 1, 100, 64);
	/* It is no longer young: a hit on it is another use. */
	atomic_fetch_add(&arc->policy.shared.hurry_us, 62000);
	pthread_mutex_lock(&arc->lock);
	for (unsigned hit = 1; hit <= 9; hit++)
		cr_assert_eq(read_byte(arc, 1), 1);
	pthread_mutex_unlock(&arc->lock);
	cr_assert_eq(arc_stats(arc).hits, 9);
	cr_assert_eq(arc_stats(arc).hits_dropped, 5);
	for (unsigned hit = 10; hit <= 11; hit++)
		cr_assert_eq(read_byte(arc, 1), 1);
	cr_assert_eq(arc_stats(arc).hits_told, 0, "the lock was tried at each hit");
	cr_assert_eq(read_byte(arc, 1), 1);
	cr_assert_eq(arc_stats(arc).hits_told, 4);
	cr_assert_eq(arc_stats(arc).hits_dropped, 8);
	abd_arc_destroy(arc);
}

/* ---- a record replaced while a reader waits to report it damaged ----------------------------- */

struct reporter {
	abd_arc_t *arc;
	struct abd_arc_thread *thread;
	sem_t has_begun, may_read;
};

static void *read_damaged(void *arg)
{
	struct reporter *reporter = arg;

	read_byte(reporter->arc, 2);
	reporter->thread = abd_arc_thread_self;
	sem_post(&reporter->has_begun);
	sem_wait(&reporter->may_read);
	return (void *)(intptr_t)read_byte(reporter->arc, 1);
}

/* Under lock. */
static void wait_for_hits(const struct reporter *reporter, uint64_t wanted)
{
	const struct abd_arc_seat *seat = abd_arc_seat_of(reporter->thread, reporter->arc);

	while ((uint64_t)atomic_load(&seat->count[ABD_ARC_COUNT_HITS]) < wanted)
		sched_yield();
}

Test(arc_between, only_the_record_that_was_damaged_is_dropped)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, ABD_ARC_CHECKSUM);
	struct reporter reporter = {.arc = arc};
	struct abd_arc_entry *damaged, *sound, *old;
	pthread_t thread;
	void *result;

	put(arc, 1, 100, 64);
	put(arc, 2, 100, 64);
	damaged = entry_of(arc, 1);
	sound = entry_of(arc, 2);
	abd_zero(abd_arc_entry_abd(damaged), 100);
	sem_init(&reporter.has_begun, 0, 0);
	sem_init(&reporter.may_read, 0, 0);
	cr_assert_eq(pthread_create(&thread, NULL, read_damaged, &reporter), 0);
	sem_wait(&reporter.has_begun);

	pthread_mutex_lock(&arc->lock);
	sem_post(&reporter.may_read);
	wait_for_hits(&reporter, 2); /* it has seen the damage, and can't go on without the lock */
	abd_arc_drop(arc, damaged);
	cr_assert(abd_arc_index_remove(arc->index, abd_arc_hash(arc, &sound->key), sound));
	sound->key = damaged->key;
	cr_assert(abd_arc_index_put(arc->index, abd_arc_hash(arc, &sound->key), sound, &old));
	pthread_mutex_unlock(&arc->lock);

	pthread_join(thread, &result);
	cr_assert_eq((intptr_t)result, -EBADMSG);
	cr_assert_eq(arc_stats(arc).damaged, 0);
	cr_assert_eq(read_byte(arc, 1), 1, "what came in its place was dropped");
	abd_arc_destroy(arc);
	sem_destroy(&reporter.has_begun);
	sem_destroy(&reporter.may_read);
}

/* ---- threads and caches ---------------------------------------------------------------------- */

struct survivor {
	abd_arc_t *ends, *stays;
	sem_t has_read, may_end;
};

static void *read_both(void *arg)
{
	struct survivor *survivor = arg;
	intptr_t got = read_byte(survivor->ends, 1) + read_byte(survivor->stays, 1);

	sem_post(&survivor->has_read);
	sem_wait(&survivor->may_end);
	return (void *)got;
}

Test(arc_between, a_thread_outlives_a_cache_and_reports_its_hits_to_the_other)
{
	struct survivor survivor = {
		.ends = arc_make(1 << 20, 0, 0), .stays = arc_make(1 << 20, 0, 0)};
	pthread_t thread;
	void *got;

	put(survivor.ends, 1, 100, 64);
	put(survivor.stays, 1, 100, 64);
	/* It is no longer young: a hit on it is another use. */
	atomic_fetch_add(&survivor.stays->policy.shared.hurry_us, 62000);
	sem_init(&survivor.has_read, 0, 0);
	sem_init(&survivor.may_end, 0, 0);
	cr_assert_eq(pthread_create(&thread, NULL, read_both, &survivor), 0);
	sem_wait(&survivor.has_read);
	abd_arc_destroy(survivor.ends);
	cr_assert_eq(arc_stats(survivor.stays).hits_told, 0);
	sem_post(&survivor.may_end);
	pthread_join(thread, &got);
	cr_assert_eq((intptr_t)got, 2);
	cr_assert_eq(arc_stats(survivor.stays).hits_told, 1);
	abd_arc_destroy(survivor.stays);
	sem_destroy(&survivor.has_read);
	sem_destroy(&survivor.may_end);
}

/* ---- sizes that the defaults don't lead to --------------------------------------------------- */

static void put_says_what_it_costs(size_t size)
{
	abd_arc_t *arc = arc_make(4 << 20, 0, 0);
	size_t estimate = abd_arc_record_estimate(size), before = arc->run_bytes;
	char *record = malloc(size), *got = malloc(size);

	put(arc, 1, size, 64);
	arc_fill(record, size, 1, 0, 64);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 0, size), (ssize_t)size);
	cr_assert_eq(memcmp(record, got, size), 0);
	cr_assert_leq(arc->run_bytes - before, estimate,
		"%zu bytes: less was reserved than it took", size);
	cr_assert_geq(arc->run_bytes - before, size, "%zu bytes are in a slot", size);
	free(record);
	free(got);
	abd_arc_destroy(arc);
}

Test(arc_between, enough_is_reserved_for_linear_buffers_of_any_size)
{
	abd_tuning_set("scatter_enabled", "0");
	put_says_what_it_costs(4000);
	put_says_what_it_costs(256 << 10);
	put_says_what_it_costs((256 << 10) + 1);
	put_says_what_it_costs(1 << 20);
	abd_tuning_set("scatter_enabled", "1");
}

Test(arc_between, enough_is_reserved_for_a_single_run_that_is_not_linear)
{
	abd_tuning_set("linear_page", "0");
	put_says_what_it_costs(4000);
	put_says_what_it_costs(8192);
	abd_tuning_set("linear_page", "1");
}

/* Every allocation of a put that begins a new page of entries. */
Test(arc_between, a_put_that_needs_a_page_of_entries_survives_every_refusal)
{
	bool all = false;
	size_t n = 0, met = 1;

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	while (met > n) {
		struct abd_stats before = abd_test_stats(), after;
		abd_arc_t *arc = arc_make(1 << 20, 0, 0);
		uint64_t count = 0;

		do
			put(arc, ++count, 2000, 64);
		while (count < 100 || abd_arc_store_next_bytes(&arc->store, 0) == 0);
		if (all)
			abd_test_fault_from(n);
		else
			abd_test_fault_at(n);
		int error = abd_arc_put(arc, arc_at(0), (char[2000]){1}, 2000);

		met = abd_test_fault_end();
		cr_assert(error == 0 || (all && error == -ENOMEM), "site %zu: %d", n, error);
		put(arc, 0, 2000, 64);
		cr_assert_eq(read_byte(arc, 0), 1);
		abd_arc_destroy(arc);
		after = abd_test_stats();
		cr_assert(abd_test_gauges_equal(&before, &after), "site %zu leaks", n);
		n += all;
		all = !all;
	}
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	cr_assert_geq(n, 2, "the buffer and the page");
}
