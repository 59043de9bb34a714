/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Caches of several shards: how many there are, what they share, and that calls for the whole cache
 * reach all of them. Other tests run with ABD_TEST_SHARDS as well: see CMakeLists.txt.
 */
#include "abd_arc_evict.h"
#include "abd_process.h"
#include "abd_test_fault.h"
#include "arc_data.h"
#include "arc_trace.h"

#include <errno.h>
#include <sched.h>

enum { SHARDS = 8, RECORD = 2000, SMALL = 300, MIB = 1 << 20 };

static char data[RECORD], got[RECORD];

static abd_arc_t *make(size_t capacity, uint32_t hit_batch, size_t shards)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.hit_batch = hit_batch,
		.shards = shards};

	return abd_arc_create(&config);
}

static int put(abd_arc_t *arc, uint64_t pool, uint64_t n)
{
	arc_fill(data, RECORD, n, 0, 64);
	return abd_arc_put(arc, &(abd_arc_key_t){pool, {n, 0}, 0}, data, RECORD);
}

static bool is_there(abd_arc_t *arc, uint64_t pool, uint64_t n)
{
	abd_arc_key_t key = {pool, {n, 0}, 0};

	arc_fill(data, RECORD, n, 0, 64);
	return abd_arc_read(arc, &key, got, 0, RECORD) == RECORD && memcmp(got, data, RECORD) == 0;
}

/* The n-th key of pool 1 that belongs to a shard. */
static uint64_t key_of(abd_arc_t *arc, uint32_t shard, uint64_t n)
{
	for (uint64_t i = 0;; i++) {
		abd_arc_key_t key = {1, {i, 0}, 0};

		if (abd_arc_shard(arc, abd_arc_hash(arc, &key))->number == shard && n-- == 0)
			return i;
	}
}

Test(arc_shards, are_as_many_as_asked_for_or_as_suit)
{
	static const struct {
		size_t capacity, shards;
		uint32_t hit_batch, expected; /* 0: it is refused */
	} cases[] = {{ABD_ARC_CAPACITY_MIN, 1, 0, 1}, {MIB, 16, 0, 16}, {MIB, 16, 1, 16},
		{MIB, 32, 0, 0}, {MIB, 3, 0, 0}, {64 * MIB, 64, 0, 64}, {64 * MIB, 128, 0, 0},
		{ABD_ARC_CAPACITY_MIN, 0, 0, 1}, {(size_t)512 * MIB - 1, 0, 0, 1},
		{(size_t)512 * MIB, 0, 0, 2}, {(size_t)512 * MIB, 0, 1, 2}};
	size_t processors = abd_process_processors(), expected = 1;
	abd_arc_t *arc;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		arc = make(cases[i].capacity, cases[i].hit_batch, cases[i].shards);
		cr_assert_eq(arc != NULL ? arc->shards : 0, cases[i].expected, "case %zu", i);
		cr_assert(arc != NULL || errno == EINVAL);
		abd_arc_destroy(arc);
	}
	while (expected < 2 * processors && expected < ABD_ARC_SHARDS_MAX &&
		2 * expected <= PTRDIFF_MAX / MIB / 256)
		expected *= 2;
	arc = make(PTRDIFF_MAX, 0, 0);
	cr_assert_eq(arc->shards, expected);
	abd_arc_destroy(arc);
}

ABD_TEST_CHILD(shards_of_one_processor)
{
	cpu_set_t set;
	size_t cpu = 0;
	abd_arc_t *arc;

	abd_test_child_expect(sched_getaffinity(0, sizeof(set), &set) == 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	abd_test_child_expect(sched_setaffinity(0, sizeof(set), &set) == 0);
	arc = make((size_t)1 << 30, 0, 0);
	abd_test_child_expect(arc != NULL && arc->shards == 2);
	abd_arc_destroy(arc);
	return 0;
}

/* Also on a machine with many. */
Test(arc_shards, are_two_in_a_process_that_may_use_one_processor)
{
	abd_test_child_passes("shards_of_one_processor", NULL);
}

Test(arc_shards, parts_add_up_to_the_capacity)
{
	abd_arc_t *arc = make(MIB + 7, 0, 4);

	cr_assert_eq(arc_stats(arc).capacity_bytes, MIB + 7);
	cr_assert_eq(abd_arc_resize(arc, 4 * ABD_ARC_CAPACITY_MIN - 1), -EINVAL);
	for (size_t capacity = 4 * ABD_ARC_CAPACITY_MIN; capacity < 4 * MIB; capacity += 333333) {
		cr_assert_eq(abd_arc_resize(arc, capacity), 0);
		cr_assert_eq(arc_stats(arc).capacity_bytes, capacity);
		for (uint64_t n = 0; n < 3000; n++)
			abd_test_check(put(arc, 1, n) == 0, "put");
		cr_assert_leq(arc_stats(arc).used_bytes, capacity);
	}
	abd_arc_destroy(arc);
}

/*
 * The part of requests that hit. Each shard's part of the records is in *least and *most. Records
 * are small enough to lie in slots also where a shard is an eighth of the cache.
 */
static double hits(size_t shards, double *least, double *most)
{
	abd_arc_t *arc = make(SHARDS * MIB, 0, shards);
	struct arc_trace trace;
	uint64_t count = 0, all = 600000;

	arc_fill(data, RECORD, 1, 0, 64);
	arc_trace_begin(&trace, ARC_ZIPF, 120000, 1);
	for (uint64_t i = 0; i < all; i++) {
		uint64_t n = arc_trace_next(&trace);
		abd_arc_key_t key = {1, {n, 0}, 0};

		if (abd_arc_read(arc, &key, got, 0, 8) == 8)
			count++;
		else
			abd_test_check(abd_arc_put(arc, &key, data, SMALL) == 0, "put");
	}
	*least = *most = (double)shards * (double)abd_arc_entries(arc);
	for (size_t i = 1; i < shards; i++) {
		double entries = (double)shards * (double)abd_arc_entries(&arc[i]);

		*least = entries < *least ? entries : *least;
		*most = entries > *most ? entries : *most;
	}
	*least /= (double)arc_stats(arc).entries;
	*most /= (double)arc_stats(arc).entries;
	arc_trace_end(&trace);
	abd_arc_destroy(arc);
	return (double)count / (double)all;
}

/* Zipf, one pool: a tenth of the keys have three quarters of the requests. */
Test(arc_shards, none_starves_if_one_pool_is_hot)
{
	double least, most, of_one = hits(1, &least, &most), of_all = hits(SHARDS, &least, &most);

	printf("info hits %.4f of one shard, %.4f of %d; records %.2f to %.2f of the mean\n",
		of_one, of_all, SHARDS, least, most);
	cr_assert(least > 0.9 && most < 1.1, "%.2f to %.2f", least, most);
	cr_assert(of_all > of_one - 0.01, "%.4f for %.4f", of_all, of_one);
}

enum { RESIZES = 3000 };

struct resizer {
	abd_arc_t *arc;
	atomic_uint begun, ended; /* resizes */
};

static void *resize_too(void *arg)
{
	struct resizer *resizer = arg;

	for (unsigned i = 1; i <= RESIZES; i++) {
		while (atomic_load(&resizer->begun) < i)
			sched_yield();
		abd_test_check(abd_arc_resize(resizer->arc, 16 * MIB) == 0, "resize");
		atomic_store(&resizer->ended, i);
	}
	return NULL;
}

Test(arc_shards, of_two_resizes_at_once_one_holds_for_all)
{
	struct resizer resizer = {.arc = make(64 * MIB, 0, 64)};
	abd_arc_t *arc = resizer.arc;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, resize_too, &resizer), 0);
	for (unsigned i = 1; i <= RESIZES; i++) {
		atomic_store(&resizer.begun, i);
		cr_assert_eq(abd_arc_resize(arc, 32 * MIB), 0);
		while (atomic_load(&resizer.ended) < i)
			sched_yield();
		for (unsigned j = 1; j < 64; j++)
			cr_assert_eq(arc[j].goal, arc->goal);
		cr_assert_eq(arc_stats(arc).capacity_bytes, 64 * arc->goal);
	}
	pthread_join(thread, NULL);
	abd_arc_destroy(arc);
}

Test(arc_shards, memory_that_one_needs_comes_from_all)
{
	abd_arc_t *arc = make(MIB, 0, 2);

	for (uint64_t n = 0; n < 50; n++)
		cr_assert_eq(put(arc, 1, key_of(arc, 1, n)), 0);
	cr_assert_eq(abd_arc_entries(arc), 0);
	abd_test_fault_from(0);
	cr_assert_eq(put(arc, 1, key_of(arc, 0, 0)), -ENOMEM);
	abd_test_fault_end();
	cr_assert_eq(arc_stats(arc).entries, 0);
	cr_assert_gt(arc_stats(arc).shrinks, 0);
	cr_assert_leq(arc_stats(arc).shrinks, 50);
	abd_arc_destroy(arc);
}

static void *read_all(void *arg)
{
	abd_arc_t *arc = arg;

	for (uint32_t i = 0; i < SHARDS; i++)
		abd_test_check(is_there(arc, 1, key_of(arc, i, 0)), "read");
	return NULL;
}

/* A second thread takes the blocks of the first one over. */
Test(arc_shards, each_learns_of_the_hits_of_a_thread_that_ends)
{
	abd_arc_t *arc = make(SHARDS * MIB, 0, SHARDS);
	pthread_t thread;

	for (uint32_t i = 0; i < SHARDS; i++) {
		cr_assert_eq(put(arc, 1, key_of(arc, i, 0)), 0);
		atomic_fetch_add(&arc[i].policy.shared.hurry_us, 100000); /* no longer young */
	}
	for (uint64_t i = 1; i <= 2; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, read_all, arc), 0);
		pthread_join(thread, NULL);
		cr_assert_eq(arc_stats(arc).hits, i * SHARDS);
		for (uint32_t j = 0; j < SHARDS; j++) {
			cr_assert_eq(arc[j].stats.hits_told, i);
			cr_assert_eq(arc[j].policy.frequent.count, 1);
		}
	}
	abd_arc_destroy(arc);
}

static int count_pool(const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *arg)
{
	cr_assert(stored_size == RECORD && logical_size == RECORD && key->pool < 2);
	((size_t *)arg)[key->pool]++;
	return 0;
}

Test(arc_shards, of_all_of_them_a_pool_is_removed_and_records_are_visited)
{
	abd_arc_t *arc = make(SHARDS * 4 * MIB, 0, SHARDS);
	abd_arc_fill_t fills[SHARDS];
	abd_arc_hold_t hold;
	size_t count[2] = {0, 0};

	for (uint64_t n = 0; n < 2000; n++)
		cr_assert_eq(put(arc, n % 2, n), 0);
	for (uint32_t i = 0; i < SHARDS; i++) {
		abd_arc_key_t key = {1, {key_of(arc, i, 5000), 0}, 0};

		cr_assert_eq(abd_arc_hold_or_fill(arc, &key, RECORD, 0, &hold, &fills[i]), 1);
	}
	cr_assert_eq(abd_arc_each(arc, count_pool, count), 0);
	cr_assert(count[0] == 1000 && count[1] == 1000);
	cr_assert_eq(abd_arc_remove_pool(arc, 1), 1000);
	cr_assert_eq(abd_arc_each(arc, count_pool, count), 0);
	cr_assert(count[0] == 2000 && count[1] == 1000);
	for (uint64_t n = 0; n < 2000; n++)
		cr_assert_eq(is_there(arc, n % 2, n), n % 2 == 0);
	for (uint32_t i = 0; i < SHARDS; i++) {
		memset(abd_to_buf(fills[i].abd), 1, RECORD);
		cr_assert_eq(abd_arc_fill_commit(&fills[i], RECORD, RECORD, 0, NULL), -ESTALE);
	}
	abd_arc_destroy(arc);
}

Test(arc_shards, each_gives_its_part_of_what_is_trimmed)
{
	abd_arc_t *arc = make(SHARDS * MIB, 0, SHARDS);
	size_t used[SHARDS];

	for (uint64_t n = 0; n < 8000; n++)
		abd_test_check(put(arc, 1, n) == 0, "put");
	for (uint32_t i = 0; i < SHARDS; i++)
		used[i] = abd_arc_used(&arc[i]);
	cr_assert_geq(abd_arc_trim(arc, SHARDS * MIB / 2, UINT64_MAX), SHARDS * MIB / 2);
	for (uint32_t i = 0; i < SHARDS; i++)
		cr_assert(abd_arc_used(&arc[i]) < used[i] - MIB / 3 &&
			  abd_arc_used(&arc[i]) > used[i] - MIB / 3 * 2);
	abd_arc_destroy(arc);
}

Test(arc_shards, a_hold_of_any_of_them_is_dropped_and_counted)
{
	abd_arc_t *arc = make(SHARDS * MIB, 0, SHARDS);
	abd_arc_hold_t hold[SHARDS];

	for (uint32_t i = 0; i < SHARDS; i++) {
		abd_arc_key_t key = {1, {key_of(arc, i, 3), 0}, 0};

		cr_assert_eq(put(arc, 1, key.dva[0]), 0);
		cr_assert_eq(abd_arc_hold(arc, &key, &hold[i]), 0);
		cr_assert_eq(arc_stats(arc).held_bytes, arc_stats(arc).recent_bytes);
	}
	for (uint32_t i = 0; i < SHARDS; i++) {
		cr_assert_eq(abd_arc_hold_drop(arc, &hold[i]), 0);
		cr_assert_eq(abd_arc_hold_drop(arc, &hold[i]), -ENOENT);
		cr_assert_eq(abd_arc_hold_read(&hold[i], got, 0, RECORD), RECORD);
		abd_arc_release(&hold[i]);
	}
	cr_assert_eq(arc_stats(arc).entries, 0);
	abd_arc_destroy(arc);
}

static abd_arc_t *puts_to;
static unsigned inside, most_inside, puts_inside;

static void put_again(abd_arc_evicted_t *evicted, void *arg)
{
	inside++;
	most_inside = inside > most_inside ? inside : most_inside;
	if (puts_inside < 20000) {
		int error = put(puts_to, 2, puts_inside++);

		abd_test_check(error == 0 || error == -ENOSPC, "put of the callback");
	}
	inside--;
}

Test(arc_shards, callbacks_do_not_nest_whichever_shard_they_put_into)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = SHARDS * ABD_ARC_CAPACITY_MIN,
		.evicted_cb = put_again,
		.shards = SHARDS};

	puts_to = abd_arc_create(&config);
	for (uint64_t n = 0; n < 2000; n++)
		abd_test_check(put(puts_to, 1, n) == 0, "put");
	cr_log_info("%u puts of callbacks, %u nested", puts_inside, most_inside);
	cr_assert(puts_inside > 1000 && most_inside == 1);
	puts_inside = 20000;
	abd_arc_destroy(puts_to);
}
