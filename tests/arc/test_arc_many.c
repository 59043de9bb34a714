/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A batch of keys is held or read as if each of them had been asked for alone.
 */
#include "abd_arc_hold.h"
#include "abd_mem.h"
#include "arc_data.h"

#include <abd/codec.h>
#include <abd/operate.h>

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { SIZE = 3000, KEYS = 100, MANY = 70 };

static char data[SIZE], got[SIZE];
static abd_arc_key_t keys[MANY];
static abd_arc_hold_t holds[MANY];
static int results[MANY];

static void put(abd_arc_t *arc, uint64_t n, uint64_t version)
{
	arc_fill(data, SIZE, n, version, 8);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
}

static bool is_there(uint64_t n)
{
	return n % 7 != 3;
}

static abd_arc_t *make(uint32_t hit_batch, uint32_t flags)
{
	abd_arc_t *arc = arc_make(2 << 20, hit_batch, flags);

	for (uint64_t n = 0; n < KEYS; n++)
		if (is_there(n))
			put(arc, n, 0);
	return arc;
}

static void expect_held(const abd_arc_hold_t *hold, uint64_t n)
{
	arc_fill(data, SIZE, n, 0, 8);
	cr_assert_eq(abd_arc_hold_read(hold, got, 0, SIZE), SIZE);
	cr_assert_arr_eq(got, data, SIZE, "record %zu", (size_t)n);
}

/* n keys at random, some of them twice, some absent. */
static void hold_some(abd_arc_t *arc, size_t n, uint64_t *random)
{
	const abd_arc_hold_t stale = {NULL, 1, 2, true, &holds};
	uint64_t hits = arc_stats(arc).hits, misses = arc_stats(arc).misses;
	size_t present = 0, held;
	uint64_t record[MANY];

	for (size_t i = 0; i < n; i++) {
		record[i] = abd_test_random(random) % KEYS;
		keys[i] = arc_key(record[i]);
		holds[i] = stale;
		results[i] = 1;
		present += is_there(record[i]);
	}
	held = abd_arc_hold_many(arc, keys, holds, results, n);
	cr_assert_eq(held, present);
	cr_assert_eq(arc_stats(arc).hits - hits, present);
	cr_assert_eq(arc_stats(arc).misses - misses, n - present);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(results[i], is_there(record[i]) ? 0 : -ENOENT);
		if (results[i] == 0) {
			expect_held(&holds[i], record[i]);
			abd_arc_release(&holds[i]);
		} else {
			cr_assert(
				holds[i].entry == NULL && holds[i].stored_size == 0, "it is empty");
		}
	}
}

Test(abd_arc_many, holds_of_any_number_are_those_of_single_calls)
{
	for (unsigned way = 0; way < 4; way++) {
		abd_arc_t *arc = make(way % 2, way < 2 ? 0 : ABD_ARC_CHECKSUM);
		uint64_t random = 5;

		for (size_t n = 0; n <= MANY; n++)
			hold_some(arc, n, &random);
		cr_assert_eq(arc_stats(arc).held_bytes, 0);
		abd_arc_destroy(arc);
	}
}

/* More hits than are reported to the policy at once: none is dropped, and each is reported once. */
Test(abd_arc_many, every_hit_of_a_batch_reaches_the_policy)
{
	enum { BATCH = 40 };
	abd_arc_t *arc = make(1, 0);
	size_t there = 0;

	for (uint64_t n = 0; n < BATCH; n++) {
		keys[n] = arc_key(n);
		there += is_there(n);
	}
	cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, BATCH), there);
	cr_assert_eq(arc_stats(arc).hits_told, there);
	cr_assert_eq(arc_stats(arc).hits_dropped, 0);
	for (size_t i = 0; i < BATCH; i++)
		if (results[i] == 0)
			abd_arc_release(&holds[i]);
	abd_arc_destroy(arc);
}

static void read_some(abd_arc_t *arc, size_t n, uint64_t *random)
{
	static char to[MANY][SIZE + 1];
	abd_arc_io_t io[MANY];
	uint64_t record[MANY];
	size_t good = 0;

	for (size_t i = 0; i < n; i++) {
		record[i] = abd_test_random(random) % KEYS;
		io[i] = (abd_arc_io_t){.key = arc_key(record[i]),
			.dst = to[i],
			.off = abd_test_random(random) % SIZE,
			.result = 1};
		io[i].size = abd_test_random(random) % (SIZE + 1 - io[i].off);
		if (i % 11 == 10)
			io[i].size = SIZE + 1 - io[i].off; /* one past the end */
		memset(to[i], 0x5a, sizeof(to[i]));
		good += is_there(record[i]) && i % 11 != 10;
	}
	cr_assert_eq(abd_arc_read_many(arc, io, n), good);
	for (size_t i = 0; i < n; i++) {
		ssize_t expected = !is_there(record[i]) ? -ENOENT
				   : i % 11 == 10       ? -EINVAL
							: (ssize_t)io[i].size;

		cr_assert_eq(io[i].result, expected);
		if (expected >= 0) {
			arc_fill(data, SIZE, record[i], 0, 8);
			cr_assert_arr_eq(to[i], data + io[i].off, io[i].size);
			cr_assert_eq(to[i][io[i].size], 0x5a, "nothing is written behind it");
		}
	}
}

Test(abd_arc_many, reads_of_any_number_are_those_of_single_calls)
{
	for (unsigned way = 0; way < 4; way++) {
		abd_arc_t *arc = make(way % 2, way < 2 ? 0 : ABD_ARC_CHECKSUM);
		uint64_t random = 6;

		for (size_t n = 0; n <= MANY; n++)
			read_some(arc, n, &random);
		abd_arc_destroy(arc);
	}
}

/* Slots of the index that are closed have tags like others, but nothing to look into. */
Test(abd_arc_many, what_was_removed_is_not_looked_into_and_what_leaves_is_found)
{
	abd_arc_t *arc = make(0, 0);
	abd_arc_hold_t held;

	for (uint64_t n = 0; n < 4; n++)
		keys[n] = arc_key(n);
	cr_assert_eq(abd_arc_remove(arc, &keys[1]), 0);
	cr_assert_eq(abd_arc_hold(arc, &keys[2], &held), 0);
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(arc, abd_arc_held_entry(&held));
	pthread_mutex_unlock(&arc->lock);

	cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, 4), 2);
	cr_assert_eq(results[0], 0);
	cr_assert_eq(results[1], -ENOENT);
	cr_assert_eq(results[2], 0);
	cr_assert_eq(results[3], -ENOENT);
	cr_assert_eq(holds[2].abd, held.abd);
	abd_arc_release(&holds[0]);
	abd_arc_release(&holds[2]);

	abd_arc_io_t io[4];

	for (unsigned i = 0; i < 4; i++)
		io[i] = (abd_arc_io_t){.key = keys[i], .dst = got, .size = 8};
	cr_assert_eq(abd_arc_read_many(arc, io, 4), 2);
	cr_assert_eq(io[1].result, -ENOENT);
	cr_assert_eq(io[2].result, 8);
	abd_arc_release(&held);
	abd_arc_destroy(arc);
}

/* A tag may be another entry's: that of an emptied slot, or by chance. */
Test(abd_arc_many, records_with_the_same_tag_in_one_line_are_all_found)
{
	abd_arc_t *arc = arc_make(2 << 20, 0, 0);
	size_t found = 0;

	for (uint64_t n = 0; found < 4; n++) {
		abd_arc_key_t key = arc_key(n);
		uint64_t hash = abd_arc_hash(arc, &key);

		if (hash >> 56 != 0 || hash % ABD_ARC_PAGE_LINES != 0)
			continue; /* 0 is also the tag of slots never filled */
		keys[found++] = key;
		put(arc, n, 0);
	}
	cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, 4), 4);
	for (size_t i = 0; i < 4; i++)
		abd_arc_release(&holds[i]);
	cr_assert_eq(abd_arc_remove(arc, &keys[0]), 0);
	cr_assert_eq(abd_arc_remove(arc, &keys[2]), 0);
	cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, 4), 2);
	cr_assert_eq(results[1], 0);
	cr_assert_eq(results[3], 0);
	abd_arc_release(&holds[1]);
	abd_arc_release(&holds[3]);
	abd_arc_destroy(arc);
}

/* Large records have a buffer of their own; its struct may have a run table behind it. */
Test(abd_arc_many, large_records_of_one_run_and_of_many_are_held_and_read)
{
	enum { LARGE = 300000 };
	static char large[LARGE], to[4][LARGE];
	abd_arc_t *arc = arc_make(8 << 20, 0, 0);
	abd_arc_io_t io[4];

	for (uint64_t n = 0; n < 4; n++) {
		keys[n] = arc_key(n);
		io[n] = (abd_arc_io_t){.key = keys[n], .dst = to[n], .size = LARGE};
		cr_assert_eq(abd_tuning_set("max_order", n % 2 == 0 ? "0" : "10"), 0);
		arc_fill(large, LARGE, n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, &keys[n], large, LARGE), 0);
	}
	cr_assert_eq(abd_tuning_set("max_order", "10"), 0);
	cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, 4), 4);
	cr_assert_eq(abd_arc_read_many(arc, io, 4), 4);
	for (uint64_t n = 0; n < 4; n++) {
		arc_fill(large, LARGE, n, 0, 64);
		cr_assert_eq(abd_cmp_buf(holds[n].abd, large, LARGE), 0);
		cr_assert_arr_eq(to[n], large, LARGE);
		cr_assert(n % 2 != 0 || !abd_is_linear(holds[n].abd));
		abd_arc_release(&holds[n]);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_many, a_damaged_record_is_dropped_and_the_others_are_served)
{
	abd_arc_t *arc = make(0, ABD_ARC_CHECKSUM);
	abd_arc_io_t io[3];

	for (unsigned batch = 0; batch < 2; batch++) {
		for (uint64_t n = 0; n < 3; n++) {
			keys[n] = arc_key(10 + 3 * batch + n); /* 10 is absent */
			io[n] = (abd_arc_io_t){.key = keys[n], .dst = got, .size = 8};
		}
		cr_assert_eq(abd_arc_hold(arc, &keys[1], &holds[1]), 0);
		*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&holds[1]))) ^= 1;
		abd_arc_release(&holds[1]);
		if (batch == 0) {
			cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, 3), 1);
			cr_assert_eq(results[0], -ENOENT);
			cr_assert_eq(results[1], -EBADMSG);
			abd_arc_release(&holds[2]);
		} else {
			cr_assert_eq(abd_arc_read_many(arc, io, 3), 2);
			cr_assert_eq(io[1].result, -EBADMSG);
		}
		cr_assert_eq(arc_stats(arc).damaged, 1 + batch);
		cr_assert_not(abd_arc_contains(arc, &keys[1]));
	}
	abd_arc_destroy(arc);
}

/* Its key comes again in the batch, which had looked it up: then it is dropped already. */
Test(abd_arc_many, a_damaged_record_is_found_once_in_a_batch)
{
	enum { BATCH = 20 };
	abd_arc_t *arc = make(0, ABD_ARC_CHECKSUM);
	abd_arc_io_t io[BATCH];

	for (unsigned way = 0; way < 2; way++) {
		for (uint64_t n = 0; n < BATCH; n++) {
			keys[n] = arc_key(n % 4 == 1 ? 11 + way : 20);
			io[n] = (abd_arc_io_t){.key = keys[n], .dst = got, .size = 8};
		}
		cr_assert_eq(abd_arc_hold(arc, &keys[1], &holds[1]), 0);
		*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&holds[1]))) ^= 1;
		abd_arc_release(&holds[1]);
		uint64_t hits = arc_stats(arc).hits;

		if (way == 0)
			cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, BATCH), 15);
		else
			cr_assert_eq(abd_arc_read_many(arc, io, BATCH), 15);
		for (unsigned n = 0; n < BATCH; n++) {
			ssize_t expected = n == 1       ? -EBADMSG
					   : n % 4 == 1 ? -ENOENT
							: (way == 0 ? 0 : 8);

			cr_assert_eq(way == 0 ? results[n] : io[n].result, expected);
			if (way == 0)
				abd_arc_release(&holds[n]);
		}
		cr_assert_eq(arc_stats(arc).damaged, 1 + way);
		cr_assert_eq(arc_stats(arc).hits - hits, 16);
		cr_assert_eq(arc_stats(arc).held_bytes, 0);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_many, more_holds_than_slots_need_no_memory)
{
	abd_arc_t *arc = make(0, 0);
	size_t counted = 0;

	for (size_t i = 0; i < MANY; i++)
		keys[i] = arc_key(7 * (i % 10));
	keys[ABD_ARC_SLOTS + 1] = arc_key(3);
	abd_test_fault_from(0);
	cr_assert_eq(abd_arc_hold_many(arc, keys, holds, results, MANY), MANY - 1);
	abd_test_fault_end();
	for (size_t i = 0; i < MANY; i++) {
		cr_assert_eq(results[i], i == ABD_ARC_SLOTS + 1 ? -ENOENT : 0);
		counted += results[i] == 0 && abd_arc_handle_is_counted(holds[i].entry);
	}
	cr_assert_eq(counted, MANY - 1 - (ABD_ARC_SLOTS - ABD_ARC_SLOTS_READ));
	for (size_t i = 0; i < MANY; i++)
		abd_arc_release(&holds[i]);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	abd_arc_destroy(arc);
}

static void *without_a_block(void *arc)
{
	abd_arc_hold_t hold[4], alone;
	int result[4], error;
	abd_arc_io_t io[4];

	for (uint64_t n = 0; n < 4; n++) {
		io[n] = (abd_arc_io_t){.key = keys[n], .dst = got, .size = SIZE};
		hold[n] = (abd_arc_hold_t){.entry = got};
	}
	alone = hold[0];
	abd_test_fault_from(0);
	error = abd_arc_hold(arc, &keys[0], &alone);
	cr_assert_eq(abd_arc_hold_many(arc, keys, hold, result, 4), 3);
	cr_assert_eq(abd_arc_read_many(arc, io, 4), 3);
	abd_test_fault_end();
	for (unsigned i = 0; i < 4; i++) {
		cr_assert_eq(result[i], i == 2 ? -ENOENT : 0);
		cr_assert(i != 2 || hold[i].entry == NULL, "it is empty");
		abd_arc_release(&hold[i]);
	}
	cr_assert_eq(error, 0);
	abd_arc_release(&alone);
	cr_assert_eq(io[2].result, -ENOENT);
	return NULL;
}

Test(abd_arc_many, a_thread_without_a_block_reads_and_holds)
{
	abd_arc_t *arc = make(0, 0);
	pthread_t thread;

	for (uint64_t n = 0; n < 4; n++)
		keys[n] = arc_key(n + 1);
	cr_assert_eq(abd_arc_hold(arc, &keys[0], &holds[0]), 0); /* no idle block is left */
	cr_assert_eq(pthread_create(&thread, NULL, without_a_block, arc), 0);
	pthread_join(thread, NULL);
	abd_arc_release(&holds[0]);
	cr_assert_eq(arc_stats(arc).misses, 2);
	abd_arc_destroy(arc);
}

Test(abd_arc_many, broken_contracts_are_named)
{
	abd_arc_t *arc = make(0, 0);
	abd_arc_io_t io[2] = {{.key = arc_key(1), .dst = got, .size = 1}, {.key = arc_key(2)}};

	keys[0] = keys[1] = arc_key(1);
	cr_assert_eq(abd_arc_hold_many(arc, NULL, NULL, NULL, 0), 0);
	cr_assert_eq(abd_arc_read_many(arc, NULL, 0), 0);
	cr_assert_eq(abd_arc_read_many(arc, io, 2), 2);
	io[1].size = 1;
	broken((void)abd_arc_read_many(arc, io, 2), "dst of ios[1] is NULL");
	abd_arc_destroy(arc);
}

/* ---- beside a writer ------------------------------------------------------------------------- */

/* Sizes change all the time, so records are evicted, moved and replaced, and lines split. */
static void *write_beside(void *arg)
{
	abd_arc_t *arc = arg;
	uint64_t state = 9;

	for (unsigned i = 0; i < 6000; i++) {
		uint64_t n = abd_test_random(&state) % 2000;
		size_t size = 8 + abd_test_random(&state) % (i / 1000 % 2 == 0 ? 200 : SIZE - 8);
		static char record[SIZE];

		arc_fill(record, size, n, i, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), record, size), 0);
		if (i % 50 == 0)
			(void)abd_arc_remove(arc, arc_at(n));
		if (i % 1000 == 999)
			cr_assert_eq(abd_arc_resize(arc, i % 2000 == 999 ? 200000 : 400000), 0);
	}
	return NULL;
}

struct beside {
	abd_arc_t *arc;
	atomic_bool *stop;
	uint64_t state;
	size_t served;
};

static void *read_beside(void *arg)
{
	struct beside *beside = arg;
	abd_arc_hold_t hold[40];
	abd_arc_key_t key[40];
	abd_arc_io_t io[40];
	uint64_t name[40];
	int result[40];

	while (!atomic_load(beside->stop)) {
		for (size_t i = 0; i < 40; i++) {
			key[i] = arc_key(abd_test_random(&beside->state) % 2000);
			io[i] = (abd_arc_io_t){.key = key[i], .dst = &name[i], .size = 8};
		}
		beside->served += abd_arc_hold_many(beside->arc, key, hold, result, 40);
		beside->served += abd_arc_read_many(beside->arc, io, 40);
		for (size_t i = 0; i < 40; i++) {
			cr_assert(io[i].result == 8 || io[i].result == -ENOENT);
			if (io[i].result == 8)
				cr_assert_eq((name[i] >> 32) * 31, key[i].birth);
			if (result[i] != 0)
				continue;
			cr_assert_eq(abd_arc_hold_read(&hold[i], &name[i], 0, 8), 8);
			cr_assert_eq((name[i] >> 32) * 31, key[i].birth);
			abd_arc_release(&hold[i]);
		}
	}
	return NULL;
}

Test(abd_arc_many, beside_a_writer_each_key_has_its_own_record)
{
	abd_arc_t *arc = arc_make(400000, 0, 0);
	atomic_bool stop = false;
	struct beside beside[2] = {{arc, &stop, 1, 0}, {arc, &stop, 2, 0}};
	pthread_t writer, reader[2];

	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&reader[i], NULL, read_beside, &beside[i]), 0);
	cr_assert_eq(pthread_create(&writer, NULL, write_beside, arc), 0);
	pthread_join(writer, NULL);
	atomic_store(&stop, true);
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(reader[i], NULL);
		cr_assert_gt(beside[i].served, 100);
	}
	cr_assert_gt(arc_stats(arc).evictions, 1000);
	cr_assert_gt(arc_stats(arc).moves, 0);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);
	abd_arc_destroy(arc);
}

/* ---- holding or filling ---------------------------------------------------------------------- */

static size_t sizes[MANY];
static abd_arc_fill_t fills[MANY];

/* n keys at random, some twice, half of them absent: of those each is filled once. */
static void hold_or_fill_some(abd_arc_t *arc, size_t n, uint64_t *random)
{
	const abd_arc_hold_t stale = {NULL, 1, 2, true, &holds};
	uint64_t misses = arc_stats(arc).misses, record[MANY];
	bool filled[2 * KEYS] = {false};
	size_t good = 0, there = 0;

	for (size_t i = 0; i < n; i++) {
		record[i] = abd_test_random(random) % (2 * KEYS);
		keys[i] = arc_key(record[i]);
		sizes[i] = SIZE + i;
		holds[i] = stale;
		fills[i] = (abd_arc_fill_t){NULL, 1, &fills};
	}
	size_t done = abd_arc_hold_or_fill_many(arc, keys, sizes, 0, holds, fills, results, n);

	for (size_t i = 0; i < n; i++) {
		bool is_here = record[i] < KEYS && is_there(record[i]);
		int expected = is_here ? 0 : filled[record[i]] ? -EAGAIN : 1;

		cr_assert_eq(results[i], expected, "%zu", i);
		filled[record[i]] |= !is_here;
		cr_assert_eq(holds[i].entry != NULL, expected == 0);
		cr_assert_eq(fills[i].abd != NULL, expected == 1);
		cr_assert(fills[i].size == (expected == 1 ? sizes[i] : 0));
		good += expected >= 0;
		there += is_here;
		if (is_here)
			expect_held(&holds[i], record[i]);
		abd_arc_release(&holds[i]);
	}
	cr_assert_eq(done, good);
	cr_assert_eq(arc_stats(arc).misses - misses, n - there);
	for (size_t i = 0; i < n; i++)
		abd_arc_fill_abandon(&fills[i]);
	cr_assert_eq(arc->fillings, 0);
	cr_assert_eq(arc->policy.reserved, 0);
}

Test(abd_arc_many, of_a_batch_what_is_there_is_held_and_the_rest_is_filled_once)
{
	for (unsigned way = 0; way < 4; way++) {
		abd_arc_t *arc = make(way % 2, way < 2 ? 0 : ABD_ARC_CHECKSUM);
		uint64_t random = 9;

		for (size_t n = 0; n <= MANY; n++)
			hold_or_fill_some(arc, n, &random);
		cr_assert_eq(arc_stats(arc).held_bytes, 0);
		abd_arc_destroy(arc);
	}
}

static void *holds_or_fills(void *arc)
{
	cr_assert_eq(abd_arc_hold_or_fill_many(arc, keys, sizes, 0, holds, fills, results, 8), 8);
	return NULL;
}

/* They are nobody's: other threads commit them when theirs has ended. */
Test(abd_arc_many, fills_of_a_batch_outlive_its_thread)
{
	abd_arc_t *arc = arc_make(2 << 20, 0, 0);
	pthread_t thread;

	for (size_t i = 0; i < 8; i++) {
		keys[i] = arc_key(i);
		sizes[i] = SIZE;
	}
	cr_assert_eq(pthread_create(&thread, NULL, holds_or_fills, arc), 0);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < 8; i++) {
		arc_fill(data, SIZE, i, 0, 8);
		abd_copy_from_buf(fills[i].abd, data, SIZE);
		cr_assert_eq(abd_arc_fill_commit(&fills[i], SIZE, SIZE, 0, &holds[i]), 0);
		expect_held(&holds[i], i);
		abd_arc_release(&holds[i]);
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_many, each_key_of_a_batch_has_its_own_error_and_a_wrong_flag_is_all_of_theirs)
{
	abd_arc_t *arc = make(1, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	for (size_t i = 0; i < 6; i++) {
		keys[i] = arc_key(i == 5 ? 0 : KEYS + i);
		sizes[i] = SIZE;
	}
	sizes[1] = sizes[5] = 0;       /* the latter of a record that is there */
	sizes[2] = ABD_ARC_RECORD_MAX; /* fits no such cache */
	keys[3] = keys[0];
	cr_assert_eq(abd_arc_hold_or_fill(arc, &keys[4], SIZE, 0, &hold, &fill), 1);
	cr_assert_eq(abd_arc_hold_or_fill_many(arc, keys, sizes, ABD_ARC_NOWAIT | ABD_ARC_METADATA,
			     holds, fills, results, 6),
		1);
	static const int expected[] = {1, -EINVAL, -ENOSPC, -EAGAIN, -EAGAIN, -EINVAL};

	cr_assert_arr_eq(results, expected, sizeof(expected));
	cr_assert_eq(fills[0].abd->abd_flags & ABD_FLAG_META, ABD_FLAG_META);
	abd_arc_fill_abandon(&fills[0]);
	abd_arc_fill_abandon(&fill);
	for (size_t i = 0; i < 6; i++)
		cr_assert(holds[i].entry == NULL && fills[i].entry == NULL, "%zu", i);
	cr_assert_eq(arc_stats(arc).held_bytes, 0);

	keys[5] = arc_key(1);
	sizes[5] = SIZE;
	uint64_t frequent = arc->policy.frequent.count;

	for (unsigned touched = 0; touched < 2; touched++) {
		cr_assert_eq(abd_arc_hold_or_fill_many(arc, &keys[5], &sizes[5],
				     touched ? 0 : ABD_ARC_NO_TOUCH, holds, fills, results, 1),
			1);
		abd_arc_release(&holds[0]);
		cr_assert_eq(arc->policy.frequent.count, frequent + touched);
	}
	for (size_t i = 0; i < 6; i++)
		holds[i].entry = fills[i].entry = data;
	cr_assert_eq(abd_arc_hold_or_fill_many(
			     arc, keys, sizes, ABD_ARC_PLAIN, holds, fills, results, 6),
		0);
	for (size_t i = 0; i < 6; i++) {
		cr_assert_eq(results[i], -EINVAL);
		cr_assert(holds[i].entry == NULL && fills[i].entry == NULL);
	}
	abd_test_breaks(abd_arc_hold_or_fill_many, NULL, keys, sizes, 0, holds, fills, results, 6);
	abd_test_breaks(abd_arc_hold_or_fill_many, arc, NULL, sizes, 0, holds, fills, results, 6);
	abd_test_breaks(abd_arc_hold_or_fill_many, arc, keys, NULL, 0, holds, fills, results, 6);
	abd_test_breaks(abd_arc_hold_or_fill_many, arc, keys, sizes, 0, NULL, fills, results, 6);
	abd_test_breaks(abd_arc_hold_or_fill_many, arc, keys, sizes, 0, holds, NULL, results, 6);
	abd_test_breaks(abd_arc_hold_or_fill_many, arc, keys, sizes, 0, holds, fills, NULL, 6);
	cr_assert_eq(abd_arc_hold_or_fill_many(arc, NULL, NULL, 0, NULL, NULL, NULL, 0), 0);
	abd_arc_destroy(arc);
}
