/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The miss path: one fill for each missing key, whoever asks, and however it ends.
 */
#include "abd_arc_filling.h"
#include "abd_arc_hold.h"
#include "arc_data.h"

#include <abd/codec.h>

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { SIZE = 8192, ASKERS = 64 };

static char data[1 << 20], got[1 << 20];

static int ask(abd_arc_t *arc, uint64_t n, size_t size, abd_arc_hold_t *hold, abd_arc_fill_t *fill)
{
	return abd_arc_hold_or_fill(arc, arc_at(n), size, 0, hold, fill);
}

/* Record n, of which so many in 64 bytes are random, is in the fill's buffer. */
static void fetch(const abd_arc_fill_t *fill, uint64_t n, unsigned random)
{
	arc_fill(data, fill->size, n, 0, random);
	abd_copy_from_buf(fill->abd, data, fill->size);
}

static void expect_record(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	arc_fill(data, size, n, 0, random);
	cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, size), (ssize_t)size);
	cr_assert_arr_eq(got, data, size);
}

static void expect_nothing_reserved(abd_arc_t *arc)
{
	cr_assert_eq(arc->policy.reserved, 0);
	cr_assert_eq(arc->fillings, 0);
}

/* Whether a record lies behind its entry. */
static bool is_in_slot(const abd_arc_t *arc, const abd_arc_hold_t *hold)
{
	struct abd_arc_entry *entry = abd_arc_held_entry(hold);
	abd_t *abd = abd_arc_entry_abd(entry);

	return abd_is_linear(abd) &&
	       abd_to_buf(abd) == (char *)entry + abd_arc_entry_size(arc, 0, 0);
}

/* What lies in a page with other buffers keeps the page resident until the last of them goes. */
Test(abd_arc_fill, a_small_record_moves_into_a_slab_and_a_page_becomes_the_records)
{
	abd_arc_t *arc = arc_make(128 << 20, 0, 0);
	static const size_t sizes[] = {1, 256, 4095, 4096, SIZE};

	for (uint64_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;

		cr_assert_eq(ask(arc, n, sizes[n], &hold, &fill), 1);
		fetch(&fill, n, 64);
		cr_assert_eq(
			abd_arc_fill_commit(&fill, sizes[n], sizes[n], ABD_ARC_PLAIN, &hold), 0);
		cr_assert_eq(is_in_slot(arc, &hold), sizes[n] < 4096, "%zu bytes", sizes[n]);
		expect_record(arc, n, sizes[n], 64);
		abd_arc_release(&hold);
	}
	expect_nothing_reserved(arc);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, what_was_filled_in_is_held_and_found)
{
	abd_arc_t *arc = arc_make(8 << 20, 0, ABD_ARC_CHECKSUM);
	static const size_t sizes[] = {1, 7, 512, 1500, 4096, 5000, SIZE, 131072, 1 << 20};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	for (uint64_t i = 0; i < 4 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i / 4];
		unsigned random = i % 2 == 0 ? 64 : 8, flags = i / 2 % 2 == 0 ? 0 : ABD_ARC_PLAIN;

		cr_assert_eq(ask(arc, i, size, &hold, &fill), 1);
		cr_assert_eq(abd_get_size(fill.abd), size);
		fetch(&fill, i, random);
		cr_assert_eq(abd_arc_fill_commit(&fill, size, size, flags, &hold), 0);
		cr_assert_null(fill.entry);
		cr_assert_eq(hold.logical_size, size);
		cr_assert(flags == 0 || hold.stored_size == size);
		abd_arc_release(&hold);
		expect_record(arc, i, size, random);
		cr_assert_eq(ask(arc, i, size, &hold, &fill), 0);
		abd_arc_release(&hold);
		expect_nothing_reserved(arc);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, a_stored_block_is_kept_as_it_is)
{
	abd_arc_t *arc = arc_make(8 << 20, 0, 0);
	abd_t *record = abd_alloc(131072, false);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_not_null(record);
	/* into a buffer with room to spare, and into one that is full */
	for (uint64_t n = 0; n < 2; n++) {
		size_t stored, size = 131072;

		arc_fill(data, size, n, 0, 16);
		abd_copy_from_buf(record, data, size);
		cr_assert_eq(ask(arc, n, size, &hold, &fill), 1);
		stored = (size_t)abd_lz4_compress(fill.abd, record, 0, 0, size);
		cr_assert_lt(stored, size);
		if (n == 1) {
			abd_copy_to_buf(got, fill.abd, stored);
			abd_arc_fill_abandon(&fill);
			cr_assert_eq(ask(arc, n, stored, &hold, &fill), 1);
			abd_copy_from_buf(fill.abd, got, stored);
		}
		cr_assert_eq(abd_arc_fill_commit(&fill, stored, size, ABD_ARC_STORED, &hold), 0);
		cr_assert(hold.compressed);
		cr_assert_eq(hold.stored_size, stored);
		abd_arc_release(&hold);
		expect_record(arc, n, size, 16);
	}
	abd_free(record);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, a_stored_block_that_is_none_is_found_by_the_read)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	fetch(&fill, 1, 64);
	cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE + 1, ABD_ARC_STORED, NULL), 0);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 0, SIZE + 1), -EBADMSG);
	cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 0, SIZE + 1), -ENOENT);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, wrong_sizes_and_flags_are_errors)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	static const struct {
		size_t stored, logical;
		unsigned flags;
	} wrong[] = {
		{0, 0, 0},
		{SIZE, SIZE - 1, 0},
		{SIZE - 1, SIZE, ABD_ARC_PLAIN},
		{SIZE, SIZE, ABD_ARC_STORED},
		{SIZE, ABD_ARC_RECORD_MAX + 1, ABD_ARC_STORED},
		{SIZE, SIZE, ABD_ARC_STORED | ABD_ARC_PLAIN},
		{SIZE, SIZE, ABD_ARC_METADATA},
	};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(arc, 1, 0, &hold, &fill), -EINVAL);
	cr_assert_eq(ask(arc, 1, ABD_ARC_RECORD_MAX + 1, &hold, &fill), -ENOSPC);
	cr_assert_eq(ask(arc, 1, 2 << 20, &hold, &fill), -ENOSPC);
	cr_assert_eq(
		abd_arc_hold_or_fill(arc, arc_at(1), SIZE, ABD_ARC_STORED, &hold, &fill), -EINVAL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
		fetch(&fill, 1, 64);
		cr_assert_eq(abd_arc_fill_commit(&fill, wrong[i].stored, wrong[i].logical,
				     wrong[i].flags, &hold),
			-EINVAL, "case %zu", i);
		expect_nothing_reserved(arc);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, counts_against_the_capacity_and_as_metadata)
{
	abd_arc_t *arc = arc_make(4 << 20, 0, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	for (uint64_t n = 0; n < 600; n++) {
		arc_fill(data, SIZE, n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
	}
	uint64_t evictions = arc_stats(arc).evictions;

	cr_assert_eq(
		abd_arc_hold_or_fill(arc, arc_at(1000), 1 << 20, ABD_ARC_METADATA, &hold, &fill),
		1);
	cr_assert_geq(arc_stats(arc).evictions, evictions + (1 << 20) / SIZE - 4);
	cr_assert_leq(arc_stats(arc).used_bytes, (size_t)4 << 20);
	fetch(&fill, 1000, 64);
	cr_assert_eq(abd_arc_fill_commit(&fill, 1 << 20, 1 << 20, 0, NULL), 0);
	cr_assert_eq(arc_stats(arc).metadata_entries, 1);
	cr_assert_leq(arc_stats(arc).used_bytes, (size_t)4 << 20);
	expect_record(arc, 1000, 1 << 20, 64);
	abd_arc_destroy(arc);
}

/* There is nothing to evict for the third: it would take the cache over its capacity. */
Test(abd_arc_fill, that_finds_no_room_beside_others_is_refused)
{
	enum { CAPACITY = 8 << 20, LARGE = 3000000 };
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);
	abd_arc_fill_t fill[3];
	abd_arc_hold_t hold;

	for (unsigned round = 0; round < 3; round++) {
		cr_assert_eq(ask(arc, 0, LARGE, &hold, &fill[0]), 1);
		cr_assert_eq(ask(arc, 1, LARGE, &hold, &fill[1]), 1);
		cr_assert_eq(ask(arc, 2, LARGE, &hold, &fill[2]), -ENOSPC);
		cr_assert_eq(ask(arc, 3, 1000, &hold, &fill[2]), 1, "a small one");
		abd_arc_fill_abandon(&fill[2]);
		cr_assert_leq(arc_stats(arc).used_bytes, CAPACITY);
		abd_arc_fill_abandon(&fill[0]);
		cr_assert_eq(ask(arc, 2, LARGE, &hold, &fill[0]), 1);
		abd_arc_fill_abandon(&fill[0]);
		abd_arc_fill_abandon(&fill[1]);
		expect_nothing_reserved(arc);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, a_buffer_is_page_aligned_from_a_page_on)
{
	abd_arc_t *arc = arc_make(8 << 20, 0, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	struct iovec iov[64];
	size_t covered;

	for (size_t size = 4096; size <= 256 << 10; size += 4096) {
		cr_assert_eq(ask(arc, size, size, &hold, &fill), 1);
		int count = abd_to_iov(fill.abd, 0, size, iov, 64, &covered);

		cr_assert_eq(covered, size);
		for (int i = 0; i < count; i++) {
			cr_assert_eq((uintptr_t)iov[i].iov_base % 4096, 0);
			cr_assert_eq(iov[i].iov_len % 4096, 0);
		}
		abd_arc_fill_abandon(&fill);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, that_a_put_or_remove_has_overtaken_stores_nothing)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold = {.entry = NULL};
	abd_arc_fill_t fill;

	for (unsigned flags = 0; flags <= ABD_ARC_PLAIN; flags += ABD_ARC_PLAIN) {
		cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
		fetch(&fill, 1, 8);
		cr_assert_eq(abd_arc_put(arc, arc_at(1), "newer", 5), 0);
		cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, flags, &hold), -ESTALE);
		cr_assert_null(hold.entry);
		cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 0, 5), 5);
		cr_assert_arr_eq(got, "newer", 5);

		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
		cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
		fetch(&fill, 1, 8);
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), -ENOENT);
		cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, flags, NULL), -ESTALE);
		cr_assert_eq(abd_arc_read(arc, arc_at(1), got, 0, 5), -ENOENT);
		expect_nothing_reserved(arc);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, a_record_that_is_damaged_is_filled_again)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, ABD_ARC_CHECKSUM);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	fetch(&fill, 1, 64);
	cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, &hold), 0);
	struct abd_arc_hold_slot *slot = hold.entry;

	atomic_load(&slot->entry)->checksum[0] ^= 1;
	abd_arc_release(&hold);
	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	abd_arc_fill_abandon(&fill);
	abd_arc_destroy(arc);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct asker {
	pthread_t thread;
	abd_arc_t *arc;
	unsigned flags;
	int result;
	bool ends;    /* with its fill open */
	bool abandon; /* if it gets to fill */
	atomic_int *fills;
	uint64_t woken;
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *asks(void *arg)
{
	struct asker *asker = arg;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	char buf[SIZE];

	asker->result =
		abd_arc_hold_or_fill(asker->arc, arc_at(1), SIZE, asker->flags, &hold, &fill);
	asker->woken = now();
	if (asker->result == 1) {
		atomic_fetch_add(asker->fills, 1);
		if (asker->ends)
			return NULL;
		if (asker->abandon) {
			abd_arc_fill_abandon(&fill);
			return NULL;
		}
		arc_fill(buf, SIZE, 1, 0, 8);
		abd_copy_from_buf(fill.abd, buf, SIZE);
		abd_test_check(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, &hold) == 0, "commit");
	}
	if (asker->result >= 0) {
		abd_test_check(hold.logical_size == SIZE, "size");
		abd_arc_release(&hold);
	}
	return NULL;
}

static void start(struct asker *asker, size_t count, abd_arc_t *arc, atomic_int *fills)
{
	for (size_t i = 0; i < count; i++) {
		asker[i].arc = arc;
		asker[i].fills = fills;
		cr_assert_eq(pthread_create(&asker[i].thread, NULL, asks, &asker[i]), 0);
	}
}

static void join(struct asker *asker, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pthread_join(asker[i].thread, NULL);
}

/* Until so many threads wait for record 1. */
static void until_they_wait(abd_arc_t *arc, size_t count)
{
	size_t waiting = 0;

	while (waiting < count) {
		struct timespec pause = {0, 1000000};

		nanosleep(&pause, NULL);
		pthread_mutex_lock(&arc->lock);
		struct abd_arc_filling *filling =
			abd_arc_filling_find(arc, abd_arc_hash(arc, arc_at(1)), arc_at(1));

		waiting = 0;
		for (struct abd_arc_waiter *waiter = filling->first; waiter != NULL;
			waiter = waiter->next)
			waiting++;
		pthread_mutex_unlock(&arc->lock);
	}
}

static int by_time(const void *left, const void *right)
{
	const struct asker *a = left, *b = right;

	return a->woken < b->woken ? -1 : a->woken > b->woken;
}

Test(abd_arc_fill, of_64_threads_that_miss_a_key_one_fills)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct asker asker[ASKERS] = {{.ends = false}};
	atomic_int fills = 0;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	start(asker, ASKERS, arc, &fills);
	until_they_wait(arc, ASKERS);
	fetch(&fill, 1, 8);
	uint64_t begin = now();

	cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, NULL), 0);
	join(asker, ASKERS);
	cr_assert_eq(fills, 0);
	for (size_t i = 0; i < ASKERS; i++)
		cr_assert_eq(asker[i].result, 0);
	qsort(asker, ASKERS, sizeof(asker[0]), by_time);
	fprintf(stderr, "woken after a commit, us: first %.0f, median %.0f, last %.0f of %d\n",
		(double)(asker[0].woken - begin) / 1e3,
		(double)(asker[ASKERS / 2].woken - begin) / 1e3,
		(double)(asker[ASKERS - 1].woken - begin) / 1e3, ASKERS);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, of_threads_that_come_at_once_one_fills)
{
	for (unsigned round = 0; round < 20; round++) {
		abd_arc_t *arc = arc_make(1 << 20, 0, 0);
		struct asker asker[8] = {{.ends = false}};
		atomic_int fills = 0;

		start(asker, 8, arc, &fills);
		join(asker, 8);
		cr_assert_eq(fills, 1);
		abd_arc_destroy(arc);
	}
}

Test(abd_arc_fill, an_open_one_ends_with_its_thread)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct asker asker = {.ends = true};
	atomic_int fills = 0;

	start(&asker, 1, arc, &fills);
	join(&asker, 1);
	cr_assert_eq(fills, 1);
	expect_nothing_reserved(arc);
	abd_arc_destroy(arc);
}

/* Each that abandons wakes the next, and nobody else. */
Test(abd_arc_fill, an_abandoned_one_goes_to_who_waited_first)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct asker asker[4] = {{.abandon = true}, {.ends = true}, {.abandon = false}};
	atomic_int fills = 0;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	for (size_t i = 0; i < 4; i++) {
		start(&asker[i], 1, arc, &fills);
		until_they_wait(arc, i + 1);
	}
	abd_arc_fill_abandon(&fill);
	join(asker, 4);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(asker[i].result, i < 3);
	cr_assert_eq(fills, 3);
	expect_record(arc, 1, SIZE, 8);
	expect_nothing_reserved(arc);
	abd_arc_destroy(arc);
}

/* Nobody is left in its list then. */
Test(abd_arc_fill, an_abandoned_one_may_have_one_waiter)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct asker asker = {.abandon = true};
	atomic_int fills = 0;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	start(&asker, 1, arc, &fills);
	until_they_wait(arc, 1);
	abd_arc_fill_abandon(&fill);
	join(&asker, 1);
	cr_assert_eq(fills, 1);
	expect_nothing_reserved(arc);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, one_that_was_overtaken_lets_all_look_again)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct asker asker[4] = {{.ends = false}};
	atomic_int fills = 0;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	for (unsigned commit = 0; commit < 2; commit++) {
		cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
		start(asker, 4, arc, &fills);
		until_they_wait(arc, 4);
		fetch(&fill, 1, 8);
		arc_fill(data, SIZE, 1, 1, 8);
		cr_assert_eq(abd_arc_put(arc, arc_at(1), data, SIZE), 0);
		if (commit == 0)
			abd_arc_fill_abandon(&fill);
		else
			cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, NULL), -ESTALE);
		join(asker, 4);
		cr_assert_eq(fills, 0);
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, who_may_not_wait_gets_an_error)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	struct asker asker = {.flags = ABD_ARC_NOWAIT};
	atomic_int fills = 0;
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	start(&asker, 1, arc, &fills);
	join(&asker, 1);
	cr_assert_eq(asker.result, -EAGAIN);
	/* Nor may anybody wait for himself. */
	abd_arc_fill_t again = {.entry = NULL};

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &again), -EDEADLK);
	cr_assert_null(again.entry);
	abd_arc_fill_abandon(&fill);
	abd_arc_destroy(arc);
}

static void *commits(void *arg)
{
	abd_arc_hold_t hold;

	abd_test_check(abd_arc_fill_commit(arg, SIZE, SIZE, 0, &hold) == 0, "commit");
	abd_arc_release(&hold);
	return NULL;
}

Test(abd_arc_fill, any_thread_may_commit_it)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	pthread_t thread;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	fetch(&fill, 1, 8);
	cr_assert_eq(pthread_create(&thread, NULL, commits, &fill), 0);
	pthread_join(thread, NULL);
	expect_record(arc, 1, SIZE, 8);
	abd_arc_destroy(arc);
}

/* A record comes between the look-up that misses it and the lock. */
static struct abd_arc_thread *_Atomic late;

static void *asks_late(void *arg)
{
	struct asker *asker = arg;

	(void)abd_arc_read(asker->arc, arc_at(2), NULL, 0, 0);
	atomic_store(&late, abd_arc_thread_self);
	while (atomic_load(asker->fills) == 0) {
		struct timespec pause = {0, 1000000};

		nanosleep(&pause, NULL);
	}
	return asks(arg);
}

Test(abd_arc_fill, a_record_that_has_just_come_is_not_filled)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	atomic_int ready = 0;
	struct asker asker = {.arc = arc, .fills = &ready};
	uint64_t hash = abd_arc_hash(arc, arc_at(1)), misses = 0;
	struct abd_arc_entry *entry, *old;

	arc_fill(data, SIZE, 1, 0, 8);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), data, SIZE), 0);
	cr_assert_eq(pthread_create(&asker.thread, NULL, asks_late, &asker), 0);
	while (misses < 1)
		misses = arc_stats(arc).misses;
	pthread_mutex_lock(&arc->lock);
	entry = abd_arc_index_find_any(arc->index, hash, arc_at(1));
	cr_assert(abd_arc_index_remove(arc->index, hash, entry));
	atomic_store(&ready, 1);
	while (misses < 2) {
		struct timespec pause = {0, 1000000};

		nanosleep(&pause, NULL);
		misses = (uint64_t)atomic_load(
			&abd_arc_seat_of(atomic_load(&late), arc)->count[ABD_ARC_COUNT_MISSES]);
	}
	cr_assert(abd_arc_index_put(arc->index, hash, entry, &old));
	pthread_mutex_unlock(&arc->lock);
	join(&asker, 1);
	cr_assert_eq(asker.result, 0);
	cr_assert_eq(ready, 1);
	abd_arc_destroy(arc);
}

/* What is evicted is found until it is freed; then it is filled again. */
Test(abd_arc_fill, an_evicted_record_is_filled_again)
{
	abd_arc_t *arc = arc_make(256 << 10, 1, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	uint64_t n = 0;

	for (; arc_stats(arc).evictions == 0; n++) {
		arc_fill(data, SIZE, n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
	}
	abd_arc_reclaim(arc);
	cr_assert_eq(ask(arc, 0, SIZE, &hold, &fill), 1);
	fetch(&fill, 0, 64);
	cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, NULL), 0);
	expect_record(arc, 0, SIZE, 64);
	abd_arc_destroy(arc);
}

/* ---- without memory -------------------------------------------------------------------------- */

/* A thread that the cache has no memory for: it begins no fill, and ends one with a hold. */
static void *is_refused(void *arg)
{
	abd_arc_fill_t *fill = arg, other;
	struct abd_arc_filling *filling = fill->entry;
	abd_arc_hold_t hold = {.entry = got}; /* no hold: each call has to clear it */

	abd_test_fault_from(0);
	int asked = ask(filling->arc, 2, SIZE, &hold, &other);

	abd_test_check(asked == -ENOMEM && hold.entry == NULL, "ask");
	abd_test_check(other.entry == NULL && other.abd == NULL, "the fill is empty");
	(void)abd_test_fault_end();
	abd_test_wrap_fail(ABD_TEST_SETSPECIFIC, 1);
	int committed = abd_arc_fill_commit(fill, SIZE, SIZE, ABD_ARC_PLAIN, &hold);

	abd_test_check(committed == 0 && abd_arc_handle_is_counted(hold.entry), "commit");
	abd_arc_release(&hold);
	return NULL;
}

Test(abd_arc_fill, a_thread_without_a_block_begins_none_and_ends_that_of_others)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold, held[ABD_ARC_SLOTS];
	abd_arc_fill_t fill;
	pthread_t thread;

	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	fetch(&fill, 1, 8);
	cr_assert_eq(pthread_create(&thread, NULL, is_refused, &fill), 0);
	pthread_join(thread, NULL);
	expect_nothing_reserved(arc);

	/* Nor does a commit need a free slot for its hold. */
	cr_assert_eq(ask(arc, 2, SIZE, &hold, &fill), 1);
	fetch(&fill, 2, 8);
	for (size_t i = 0; i < ABD_ARC_SLOTS; i++) {
		abd_arc_fill_t none;

		cr_assert_eq(ask(arc, 1, SIZE, &held[i], &none), 0);
	}
	cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, ABD_ARC_PLAIN, &hold), 0);
	cr_assert(abd_arc_handle_is_counted(hold.entry));
	abd_arc_release(&hold);
	expect_nothing_reserved(arc);
	for (size_t i = 0; i < ABD_ARC_SLOTS; i++)
		abd_arc_release(&held[i]);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, a_buffer_that_would_be_the_records_comes_back_without_memory)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	cr_assert_eq(abd_tuning_set("reserve_bytes", "0"), 0);
	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	fetch(&fill, 1, 64);
	abd_test_fault_from(0);
	int committed = abd_arc_fill_commit(&fill, SIZE, SIZE, ABD_ARC_PLAIN, NULL);

	(void)abd_test_fault_end();
	cr_assert_eq(abd_tuning_set("reserve_bytes", "67108864"), 0);
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	cr_assert_eq(committed, -ENOMEM);
	expect_nothing_reserved(arc);
	cr_assert_eq(ask(arc, 1, SIZE, &hold, &fill), 1);
	abd_arc_fill_abandon(&fill);
	abd_arc_destroy(arc);
}

/* ---- uses ------------------------------------------------------------------------------------ */

Test(abd_arc_fill, what_is_found_without_a_touch_was_not_used)
{
	for (unsigned touched = 0; touched < 2; touched++) {
		abd_arc_t *arc = arc_make(1 << 20, 1, 0);
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;

		arc_fill(data, SIZE, 1, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(1), data, SIZE), 0);
		for (int i = 0; i < 10; i++) {
			cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(1), SIZE,
					     touched ? 0 : ABD_ARC_NO_TOUCH, &hold, &fill),
				0);
			abd_arc_release(&hold);
		}
		cr_assert_eq(arc->policy.frequent.count, touched);
		abd_arc_destroy(arc);
	}
}

/* ---- contracts ------------------------------------------------------------------------------- */

/* What a struct on the stack may have in it before a call fills it. */
static const abd_arc_hold_t stale_hold = {NULL, 1, 2, true, got};
static const abd_arc_fill_t stale_fill = {NULL, 1, got};

static bool is_empty(const abd_arc_hold_t *hold, const abd_arc_fill_t *fill)
{
	return hold->abd == NULL && hold->stored_size == 0 && hold->logical_size == 0 &&
	       !hold->compressed && hold->entry == NULL && fill->abd == NULL && fill->size == 0 &&
	       fill->entry == NULL;
}

/* An engine that names its largest record for each key must find what is there. */
Test(abd_arc_fill, a_record_that_is_there_is_held_whatever_size_is_named)
{
	static const size_t sizes[] = {
		1, SIZE, 2 << 20, ABD_ARC_RECORD_MAX, ABD_ARC_RECORD_MAX + 1, SIZE_MAX};
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_key_t there = arc_key(1), missing = arc_key(2);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(abd_arc_put(arc, &there, "record", 6), 0);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cr_assert_eq(abd_arc_hold_or_fill(arc, &there, sizes[i], 0, &hold, &fill), 0);
		cr_assert_eq(hold.logical_size, 6);
		abd_arc_release(&hold);
		if (i < 2)
			continue;
		cr_assert_eq(
			abd_arc_hold_or_fill(arc, &missing, sizes[i], 0, &hold, &fill), -ENOSPC);
		expect_nothing_reserved(arc);
	}
	cr_assert_eq(abd_arc_hold_or_fill(arc, &missing, SIZE, 0, &hold, &fill), 1, "nobody fills");
	abd_arc_fill_abandon(&fill);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, an_error_leaves_hold_and_fill_empty)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_key_t key = arc_key(1);
	abd_arc_hold_t hold = stale_hold, held;
	abd_arc_fill_t fill = stale_fill, first;

	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, 0, 0, &hold, &fill), -EINVAL);
	cr_assert(is_empty(&hold, &fill));
	hold = stale_hold;
	fill = stale_fill;
	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SIZE, 1 << 9, &hold, &fill), -EINVAL);
	cr_assert(is_empty(&hold, &fill));
	hold = stale_hold;
	fill = stale_fill;
	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, 2 << 20, 0, &hold, &fill), -ENOSPC);
	cr_assert(is_empty(&hold, &fill));

	held = stale_hold;
	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SIZE, 0, &held, &first), 1);
	cr_assert(is_empty(&held, &fill), "it is not held");
	hold = stale_hold;
	fill = stale_fill;
	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SIZE, 0, &hold, &fill), -EDEADLK);
	cr_assert(is_empty(&hold, &fill));

	hold = stale_hold;
	cr_assert_eq(abd_arc_fill_commit(&first, SIZE, SIZE, ABD_ARC_NOWAIT, &hold), -EINVAL);
	cr_assert(is_empty(&hold, &first));
	abd_arc_release(&hold);
	abd_arc_fill_abandon(&first);

	fill = stale_fill;
	cr_assert_eq(abd_arc_put(arc, &key, "x", 1), 0);
	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SIZE, 0, &hold, &fill), 0);
	cr_assert_null(fill.entry);
	cr_assert_null(fill.abd);
	abd_arc_release(&hold);
	abd_arc_destroy(arc);
}

Test(abd_arc_fill, broken_contracts_are_named)
{
	abd_arc_t *volatile arc = arc_make(1 << 20, 0, 0);
	abd_arc_key_t key = {77, {0xabc, 0xdef}, 5};
	abd_arc_hold_t hold;
	abd_arc_fill_t fill, copy, none = {.entry = NULL};

	broken((void)abd_arc_fill_commit(&none, 1, 1, 0, NULL), "fill is empty");
	broken(abd_arc_fill_abandon(NULL), "fill is NULL");
	abd_arc_fill_abandon(&none);

	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SIZE, 0, &hold, &fill), 1);
	copy = fill;
	broken(abd_arc_destroy(arc), "the fill of 77:abc:def:5 was neither");
	broken((void)abd_arc_fill_commit(&fill, SIZE + 1, SIZE + 1, 0, NULL),
		"8193 bytes of a buffer of 8192");
	abd_arc_fill_abandon(&fill);
	abd_arc_fill_abandon(&fill); /* it is empty */
	broken((void)abd_arc_fill_commit(&fill, 1, 1, 0, NULL), "fill is empty");
	broken((void)abd_arc_fill_commit(&copy, SIZE, SIZE, 0, NULL), "before");
	broken(abd_arc_fill_abandon(&copy), "before");
	/* Another fill may use its struct. */
	copy.abd = NULL;
	cr_assert_eq(abd_arc_hold_or_fill(arc, &key, SIZE, 0, &hold, &fill), 1);
	cr_assert_eq(fill.entry, copy.entry);
	broken(abd_arc_fill_abandon(&copy), "before");
	abd_arc_fill_abandon(&fill);
	abd_arc_destroy(arc);
}
