/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread has for all caches: one block, whatever number of caches and shards there is, whose
 * counts are never lost.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

#include <sys/wait.h>
#include <unistd.h>

enum { RECORD = 4096 };

/* Record 1, which compresses to a few bytes. */
static int put_record(abd_arc_t *arc)
{
	char record[RECORD];

	arc_fill(record, sizeof(record), 1, 0, 2);
	return abd_arc_put(arc, arc_at(1), record, sizeof(record));
}

static abd_arc_t *make_with_record(void)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);

	cr_assert_not_null(arc);
	cr_assert_eq(put_record(arc), 0);
	return arc;
}

static ssize_t read_record(abd_arc_t *arc, size_t size)
{
	char read[RECORD];

	return abd_arc_read(arc, arc_at(1), read, 0, size);
}

/* How many blocks there are: a statistic says how many bytes. */
static size_t blocks(abd_arc_t *arc)
{
	return (size_t)arc_stats(arc).thread_bytes / sizeof(struct abd_arc_thread);
}

static void *read_once(void *arc)
{
	return (void *)read_record(arc, RECORD);
}

static void read_in_thread(abd_arc_t *arc)
{
	pthread_t thread;
	void *got;

	cr_assert_eq(pthread_create(&thread, NULL, read_once, arc), 0);
	pthread_join(thread, &got);
	cr_assert_eq((ssize_t)got, RECORD);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

Test(arc_thread, a_thread_has_one_block_for_many_caches_and_shards)
{
	enum { CACHES = 20 };
	abd_arc_t *arc[CACHES];

	for (unsigned i = 0; i < CACHES; i++) {
		arc[i] = make_with_record();
		cr_assert_eq((uintptr_t)arc[i] % 64, 0, "its lines are shared with others");
	}
	size_t before = blocks(arc[0]);

	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < CACHES; i++)
			cr_assert_eq(read_record(arc[i], RECORD), RECORD);
	cr_assert_eq(blocks(arc[0]), before);
	cr_assert_leq(arc_stats(arc[0]).thread_bytes, 16384);
	cr_assert_gt(arc_stats(arc[0]).thread_bytes, 0);
	cr_assert_geq(arc_stats(arc[0]).resident_bytes,
		arc_stats(arc[0]).used_bytes + arc_stats(arc[0]).thread_bytes);
	for (unsigned i = 0; i < CACHES; i++)
		abd_arc_destroy(arc[i]);
}

Test(arc_thread, the_block_of_a_thread_that_ends_is_freed)
{
	abd_arc_t *arc = make_with_record();
	size_t before = blocks(arc);

	for (unsigned i = 0; i < 5; i++)
		read_in_thread(arc);
	cr_assert_eq(blocks(arc), before);
	cr_assert_eq(arc_stats(arc).hits, 5);
	abd_arc_destroy(arc);
}

static void *hold_and_end(void *hold)
{
	abd_arc_t *arc = ((abd_arc_hold_t *)hold)->entry;

	return (void *)(intptr_t)abd_arc_hold(arc, arc_at(1), hold);
}

/* Its holds outlive it; and the next thread takes its block over with them. */
Test(arc_thread, the_block_of_a_thread_that_ends_holding_is_taken_over)
{
	enum { THREADS = 10 };
	abd_arc_t *arc = make_with_record();
	abd_arc_hold_t held[THREADS];
	size_t before = blocks(arc);
	pthread_t thread;
	void *result;

	for (unsigned i = 0; i < THREADS; i++) {
		held[i].entry = arc;
		cr_assert_eq(pthread_create(&thread, NULL, hold_and_end, &held[i]), 0);
		pthread_join(thread, &result);
		cr_assert_null(result);
		cr_assert_not(abd_arc_handle_is_counted(held[i].entry));
	}
	cr_assert_eq(blocks(arc), before + 1);
	cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	abd_arc_reclaim(arc);
	for (unsigned i = 0; i < THREADS; i++) {
		char got[RECORD], expected[RECORD];

		arc_fill(expected, RECORD, 1, 0, 2);
		cr_assert_eq(abd_arc_hold_read(&held[i], got, 0, RECORD), RECORD);
		cr_assert_arr_eq(got, expected, RECORD);
		abd_arc_release(&held[i]);
		abd_arc_reclaim(arc);
		cr_assert_eq(arc_stats(arc).evicted_bytes > 0, i < THREADS - 1);
	}
	cr_assert_eq(blocks(arc), before);
	abd_arc_destroy(arc);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* More caches than there are seats: each is counted in a seat that others have had since. */
Test(arc_thread, counts_are_kept_when_others_take_the_seat)
{
	enum { CACHES = 2 * ABD_ARC_SEATS + 3, ROUNDS = 5 };
	static abd_arc_t *arc[CACHES];

	for (unsigned i = 0; i < CACHES; i++)
		arc[i] = make_with_record();
	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < CACHES; i++) {
			for (unsigned n = 0; n <= i; n++)
				cr_assert_eq(read_record(arc[i], 1), 1);
			cr_assert_eq(abd_arc_read(arc[i], arc_at(2), NULL, 0, 0), -ENOENT);
		}
	for (unsigned i = 0; i < CACHES; i++) {
		struct abd_arc_stats stats = arc_stats(arc[i]);

		cr_assert_eq(stats.hits, ROUNDS * (i + 1), "cache %u", i);
		cr_assert_eq(stats.decodes, ROUNDS * (i + 1));
		cr_assert_eq(stats.misses, ROUNDS);
		abd_arc_destroy(arc[i]);
	}
}

/* What is noted in all: reported, or dropped, or not yet either. */
static uint64_t reported_and_dropped(abd_arc_t *const *arc, unsigned count)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += arc_stats(arc[i]).hits_told + arc_stats(arc[i]).hits_dropped;
	return sum;
}

/* A hit on it is another use. */
static void make_old(abd_arc_t *arc)
{
	for (uint32_t i = 0; i < arc->shards; i++)
		atomic_fetch_add(&arc[i].policy.shared.hurry_us, 62000);
}

/*
 * Many caches share the room for noted hits, one of which is used far more than the others. Its
 * hits are reported, and those of the others are not dropped for them.
 */
Test(arc_thread, hits_of_a_cache_that_is_seldom_used_are_reported_too)
{
	enum { CACHES = 4, ROUNDS = 10000 };
	abd_arc_t *arc[CACHES];
	uint64_t hits = 0;

	for (unsigned i = 0; i < CACHES; i++) {
		arc[i] = make_with_record();
		make_old(arc[i]);
		/* More than one record in T2, so that each hit moves one. */
		char record[RECORD];

		for (uint64_t n = 2; n < 20; n++) {
			arc_fill(record, sizeof(record), n, 0, 2);
			cr_assert_eq(abd_arc_put(arc[i], arc_at(n), record, RECORD), 0);
		}
		make_old(arc[i]);
	}
	for (uint64_t round = 0; round < ROUNDS; round++) {
		unsigned i = round % 100 < CACHES - 1 ? 1 + (unsigned)(round % 100) : 0;
		char byte;

		cr_assert_eq(abd_arc_read(arc[i], arc_at(1 + round % 19), &byte, 0, 1), 1);
		hits++;
	}
	for (unsigned i = 0; i < CACHES; i++) {
		struct abd_arc_stats stats = arc_stats(arc[i]);

		cr_log_info("cache %u: %zu hits, %zu reported, %zu dropped", i, (size_t)stats.hits,
			(size_t)stats.hits_told, (size_t)stats.hits_dropped);
		cr_expect_eq(stats.hits_dropped, 0);
		cr_expect_gt(stats.hits_told, i == 0 ? ROUNDS / 4 : 0);
	}
	cr_assert_leq(reported_and_dropped(arc, CACHES), hits);
	for (unsigned i = 0; i < CACHES; i++)
		abd_arc_destroy(arc[i]);
}

Test(arc_thread, no_hit_is_dropped_where_many_caches_are_used_by_turns)
{
	enum { CACHES = 48, ROUNDS = 1000 };
	abd_arc_t *arc[CACHES];
	char byte;

	for (unsigned i = 0; i < CACHES; i++) {
		arc[i] = make_with_record();
		make_old(arc[i]);
	}
	for (unsigned i = 0; i < CACHES * ROUNDS; i++)
		cr_assert_eq(abd_arc_read(arc[i % CACHES], arc_at(1), &byte, 0, 1), 1);
	for (unsigned i = 0; i < CACHES; i++) {
		cr_expect_eq(arc_stats(arc[i]).hits_dropped, 0, "cache %u", i);
		abd_arc_destroy(arc[i]);
	}
}

/* 64 shards: far fewer notes than 64 batches. */
Test(arc_thread, hits_of_many_shards_are_reported_though_no_batch_is_full)
{
	enum { SHARDS = 64, KEYS = 2000 };
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = 64 << 20, .shards = SHARDS};
	abd_arc_t *arc = abd_arc_create(&config);
	char byte = 1;

	cr_assert_not_null(arc);
	for (uint64_t n = 0; n < KEYS; n++)
		cr_assert_eq(abd_arc_put(arc, arc_at(n), &byte, 1), 0);
	make_old(arc);
	for (unsigned round = 0; round < 3; round++)
		for (uint64_t n = 0; n < KEYS; n++)
			cr_assert_eq(abd_arc_read(arc, arc_at(n), &byte, 0, 1), 1);
	struct abd_arc_stats stats = arc_stats(arc);

	cr_log_info("%zu reported of %u", (size_t)stats.hits_told, 3 * KEYS);
	cr_assert_eq(stats.hits_dropped, 0);
	cr_assert_geq(stats.hits_told, KEYS);
	cr_assert_gt(stats.frequent_bytes, stats.recent_bytes);
	abd_arc_destroy(arc);
}

/* ---- without a block ------------------------------------------------------------------------- */

static void *use_without_a_block(void *arc)
{
	abd_arc_hold_t held, copy;
	char byte;

	abd_test_fault_from(0);
	abd_test_check(abd_arc_read(arc, arc_at(1), &byte, 0, 1) == 1, "read");
	abd_test_check(abd_arc_hold(arc, arc_at(1), &held) == 0, "hold");
	abd_test_check(abd_arc_thread_self == NULL && abd_arc_handle_is_counted(held.entry), "it");
	abd_test_check(abd_arc_hold_dup(&held, &copy) == 0, "dup");
	abd_test_check(abd_arc_hold_read(&copy, &byte, 0, 1) == 1, "hold_read");
	abd_arc_release(&held);
	abd_arc_release(&copy);
	abd_test_fault_end();
	return NULL;
}

Test(arc_thread, without_memory_for_a_block_holds_are_counted)
{
	abd_arc_t *arc = make_with_record();
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, use_without_a_block, arc), 0);
	pthread_join(thread, NULL);
	cr_assert_eq(arc_stats(arc).hits, 2);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	abd_arc_destroy(arc);
}

/*
 * The first call of a thread, which does without a block if it must, leaves nothing that keeps the
 * next one from having one.
 */
Test(arc_thread, a_thread_that_was_refused_a_block_gets_one_later)
{
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	for (size_t n = 0, met = 1; met > n; n++) {
		abd_arc_t *arc = arc_make(1 << 20, 0, 0);

		cr_assert_not_null(arc);
		abd_test_fault_at(n);
		int error = put_record(arc);

		met = abd_test_fault_end();
		/* There is nothing in the cache that could have been given up for it. */
		if (error == -ENOMEM)
			error = put_record(arc);
		cr_assert_eq(error, 0, "refusal %zu", n);
		cr_assert_eq(read_record(arc, 100), 100);
		cr_assert_not_null(abd_arc_thread_self, "refusal %zu: none yet", n);
		cr_assert_eq(arc_stats(arc).hits, 1);
		abd_arc_destroy(arc);
	}
	abd_tuning_set("thread_cache_bytes", "8388608");
}

/* ---- fork ------------------------------------------------------------------------------------ */

struct beside {
	abd_arc_t *arc;
	atomic_bool is_over;
};

static void *read_on(void *arg)
{
	struct beside *beside = arg;

	while (!atomic_load(&beside->is_over))
		(void)read_record(beside->arc, RECORD);
	return NULL;
}

static int child(void)
{
	abd_arc_t *arc = arc_make(400000, 0, 0);

	for (uint64_t n = 0; n < 1000; n++) {
		char record[RECORD], got[RECORD];

		arc_fill(record, sizeof(record), n, 0, 64);
		if (abd_arc_put(arc, arc_at(n), record, RECORD) != 0 ||
			abd_arc_read(arc, arc_at(n), got, 0, RECORD) != RECORD ||
			memcmp(record, got, RECORD) != 0)
			return 1;
	}
	if (arc_stats(arc).waits == 0 || blocks(arc) != 1)
		return 2;
	abd_arc_destroy(arc);
	return 0;
}

/* Its parent's threads may have been in sections, which nobody ends there. */
Test(arc_thread, a_child_of_fork_waits_for_no_thread_of_its_parent)
{
	struct beside beside = {.arc = make_with_record()};
	pthread_t thread[3];

	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, read_on, &beside), 0);
	for (unsigned i = 0; i < 20; i++) {
		pid_t pid = fork();
		int status;

		cr_assert_geq(pid, 0);
		if (pid == 0)
			abd_test_child_end(child());
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child %u: %x", i, status);
	}
	atomic_store(&beside.is_over, true);
	for (unsigned i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	abd_arc_destroy(beside.arc);
}

/* ---- a thread's first and last calls --------------------------------------------------------- */

Test(arc_thread, a_hit_of_no_bytes_decodes_nothing)
{
	abd_arc_t *arc = make_with_record();

	cr_assert_eq(read_record(arc, 0), 0);
	cr_assert_eq(arc_stats(arc).hits, 1);
	cr_assert_eq(arc_stats(arc).decodes, 0);
	cr_assert_eq(read_record(arc, 1), 1);
	cr_assert_eq(arc_stats(arc).decodes, 1);
	abd_arc_destroy(arc);
}

/*
 * One grace period serves many evictions. One used record in each page of entries keeps the page
 * when the others go, so that a smaller cache has to give up many of those too, but by no means
 * all: there is room for 97 pages.
 */
Test(arc_thread, resizing_waits_for_readers_a_few_times_and_keeps_what_fits)
{
	enum { RECORDS = 6000, SIZE = 64 };
	abd_arc_t *arc = arc_make(4 << 20, 1, 0);
	char record[SIZE];

	for (uint64_t n = 0; n < RECORDS; n++) {
		arc_fill(record, sizeof(record), n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, sizeof(record)), 0);
		if (n % 31 == 0)
			cr_assert_eq(abd_arc_read(arc, arc_at(n), record, 0, SIZE), SIZE);
	}

	struct abd_arc_stats before = arc_stats(arc);

	cr_assert_eq(abd_arc_resize(arc, 400000), 0);

	struct abd_arc_stats after = arc_stats(arc);

	cr_log_info("%zu entries to %zu, %zu grace periods", (size_t)before.entries,
		(size_t)after.entries, (size_t)(after.grace_periods - before.grace_periods));
	cr_assert_leq(after.used_bytes, 400000);
	cr_assert_geq(after.entries, 30);
	cr_assert_leq(after.grace_periods - before.grace_periods, 20);
	abd_arc_destroy(arc);
}
