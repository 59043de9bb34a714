/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads that teach the policy nothing, reads of what is held, and asking what is there.
 */
#include "abd_arc_hold.h"
#include "arc_data.h"

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { SIZE = 8192 };

static char data[SIZE], got[SIZE];

static void put(abd_arc_t *arc, uint64_t n, uint64_t version)
{
	arc_fill(data, SIZE, n, version, 8);
	cr_assert_eq(abd_arc_put(arc, arc_at(n), data, SIZE), 0);
}

static void evict(abd_arc_t *arc, const abd_arc_hold_t *held)
{
	pthread_mutex_lock(&arc->lock);
	abd_arc_evict(arc, abd_arc_held_entry(held));
	pthread_mutex_unlock(&arc->lock);
}

Test(abd_arc_read, without_a_touch_the_policy_learns_nothing)
{
	abd_arc_t *arc = arc_make(1 << 20, 1, 0);
	abd_arc_key_t key = arc_key(1), none = arc_key(2);

	put(arc, 1, 0);
	for (unsigned touch = 0; touch < 2; touch++) {
		uint64_t hits = arc_stats(arc).hits;
		unsigned flags = touch ? 0 : ABD_ARC_NO_TOUCH;

		memset(got, 0, SIZE);
		cr_assert_eq(
			abd_arc_read_flags(arc, &key, got, 100, SIZE - 100, flags), SIZE - 100);
		cr_assert_arr_eq(got, data + 100, SIZE - 100);
		cr_assert_eq(arc_stats(arc).hits, hits + 1);
		cr_assert_eq(arc_stats(arc).hits_told, touch);
		cr_assert_eq(arc_stats(arc).frequent_bytes > 0, touch);
		cr_assert_eq(abd_arc_read_flags(arc, &none, got, 0, SIZE, flags), -ENOENT);
		cr_assert_eq(abd_arc_read_flags(arc, &key, got, 1, SIZE, flags), -EINVAL);
	}
	cr_assert_eq(abd_arc_read_flags(arc, &key, got, 0, SIZE, ABD_ARC_NOWAIT), -EINVAL);
	cr_assert_eq(abd_arc_read_flags(arc, &key, NULL, SIZE, 0, 0), 0);
	broken((void)abd_arc_read_flags(NULL, &key, got, 0, 1, 0), "is NULL");
	broken((void)abd_arc_read_flags(arc, NULL, got, 0, 1, 0), "is NULL");
	broken((void)abd_arc_read_flags(arc, &key, NULL, 0, 1, 0), "dst is NULL");
	abd_arc_destroy(arc);
}

Test(abd_arc_read, all_of_a_record_whose_size_is_not_known)
{
	for (unsigned flags = 0; flags <= ABD_ARC_CHECKSUM; flags += ABD_ARC_CHECKSUM) {
		abd_arc_t *arc = arc_make(1 << 20, 0, flags);
		abd_arc_key_t key = arc_key(1), none = arc_key(2);
		size_t size = 77;

		put(arc, 1, 0);
		cr_assert_eq(abd_arc_read_all(arc, &none, got, SIZE, &size), -ENOENT);
		cr_assert_eq(size, 77);
		for (size_t room = 0; room < SIZE; room += SIZE - 1) {
			memset(got, 1, SIZE);
			cr_assert_eq(abd_arc_read_all(arc, &key, got, room, &size), -ENOSPC);
			cr_assert_eq(size, SIZE);
			cr_assert_eq(got[0], 1, "nothing was written");
			size = 77;
		}
		memset(got, 0, SIZE);
		cr_assert_eq(abd_arc_read_all(arc, &key, got, SIZE, &size), SIZE);
		cr_assert_eq(size, SIZE);
		cr_assert_arr_eq(got, data, SIZE);
		cr_assert_eq(arc_stats(arc).hits, 3);
		cr_assert_eq(arc_stats(arc).misses, 1);
		cr_assert_eq(arc_stats(arc).decodes, 1);
		cr_assert_eq(arc_stats(arc).held_bytes, 0);

		abd_arc_hold_t hold;

		cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
		*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&hold))) ^= 0x10;
		abd_arc_release(&hold);
		cr_assert_eq(abd_arc_read_all(arc, &key, got, SIZE, &size), -EBADMSG);
		cr_assert_eq(arc_stats(arc).damaged, 1);
		cr_assert_eq(arc_stats(arc).held_bytes, 0);
		abd_arc_destroy(arc);
	}
}

Test(abd_arc_read, all_of_nothing_breaks_the_contract)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	size_t size;

	broken((void)abd_arc_read_all(NULL, arc_at(1), got, 1, &size), "is NULL");
	broken((void)abd_arc_read_all(arc, NULL, got, 1, &size), "is NULL");
	broken((void)abd_arc_read_all(arc, arc_at(1), got, 1, NULL), "is NULL");
	broken((void)abd_arc_read_all(arc, arc_at(1), NULL, 1, &size), "dst is NULL");
	abd_arc_destroy(arc);
}

Test(abd_arc_read, contains_is_what_a_hold_would_find_and_no_hit)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_key_t key = arc_key(1), none = arc_key(2);
	abd_arc_hold_t hold;

	put(arc, 1, 0);
	abd_test_fault_from(0);
	cr_assert(abd_arc_contains(arc, &key));
	cr_assert_not(abd_arc_contains(arc, &none));
	cr_assert_eq(abd_test_fault_end(), 0, "no memory is asked for");
	cr_assert_eq(arc_stats(arc).hits + arc_stats(arc).misses, 0);

	cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
	evict(arc, &hold);
	abd_arc_reclaim(arc);
	cr_assert(abd_arc_contains(arc, &key), "it is evicted, but held");
	uint64_t stamp = atomic_exchange(&abd_arc_held_entry(&hold)->item.stamp, 0);

	cr_assert_not(abd_arc_contains(arc, &key), "its last hold was released a moment ago");
	atomic_store(&abd_arc_held_entry(&hold)->item.stamp, stamp);
	abd_arc_release(&hold);
	cr_assert_not(abd_arc_contains(arc, &key));
	broken((void)abd_arc_contains(NULL, &key), "is NULL");
	broken((void)abd_arc_contains(arc, NULL), "is NULL");
	abd_arc_destroy(arc);
}

static void *reads_held(void *arg)
{
	static char to[SIZE];

	cr_assert_eq(abd_arc_hold_read(arg, to, 5, SIZE - 5), SIZE - 5);
	cr_assert_arr_eq(to, data + 5, SIZE - 5);
	return NULL;
}

Test(abd_arc_read, what_is_held_is_read_in_any_range_by_any_thread)
{
	for (unsigned flags = 0; flags <= ABD_ARC_CHECKSUM; flags += ABD_ARC_CHECKSUM) {
		abd_arc_t *arc = arc_make(1 << 20, 0, flags);
		abd_arc_hold_t hold;
		pthread_t thread;

		put(arc, 1, 0);
		cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
		cr_assert_eq(abd_arc_remove(arc, arc_at(1)), 0);
		for (size_t off = 0; off <= SIZE; off += 512) {
			memset(got, 0, SIZE);
			cr_assert_eq(abd_arc_hold_read(&hold, got, off, SIZE - off),
				(ssize_t)(SIZE - off));
			cr_assert_arr_eq(got, data + off, SIZE - off);
		}
		cr_assert_eq(arc_stats(arc).decodes, SIZE / 512);
		cr_assert_eq(arc_stats(arc).hits, 1);
		cr_assert_eq(abd_arc_hold_read(&hold, got, SIZE + 1, 0), -EINVAL);
		cr_assert_eq(abd_arc_hold_read(&hold, got, SIZE, 1), -EINVAL);
		cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
		abd_test_fault_from(0);
		cr_assert_eq(abd_arc_hold_read(&hold, got, 0, SIZE), SIZE);
		cr_assert_eq(abd_arc_hold_read(&hold, got, 1, SIZE - 1), -ENOMEM);
		abd_test_fault_end();
		cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
		pthread_create(&thread, NULL, reads_held, &hold);
		pthread_join(thread, NULL);
		abd_arc_release(&hold);
		abd_arc_destroy(arc);
	}
}

Test(abd_arc_read, what_is_held_and_damaged_is_dropped)
{
	for (unsigned flags = 0; flags <= ABD_ARC_CHECKSUM; flags += ABD_ARC_CHECKSUM) {
		abd_arc_t *arc = arc_make(1 << 20, 0, flags);
		abd_arc_hold_t hold;

		put(arc, 1, 0);
		cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
		*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&hold))) ^= 0x10;
		for (unsigned i = 0; i < 2; i++) {
			cr_assert_eq(abd_arc_hold_read(&hold, got, i, SIZE - i), -EBADMSG);
			cr_assert_eq(arc_stats(arc).damaged, 1);
			cr_assert_not(abd_arc_contains(arc, arc_at(1)));
		}
		abd_arc_release(&hold);
		abd_arc_destroy(arc);
	}
}

Test(abd_arc_read, a_hold_that_was_released_is_not_read)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_key_t key = arc_key(1);
	abd_arc_hold_t hold, copy;

	put(arc, 1, 0);
	put(arc, 2, 0);
	cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
	broken((void)abd_arc_hold_read(&hold, NULL, 0, 1), "dst is NULL");
	copy = hold;
	abd_arc_release(&hold);
	broken((void)abd_arc_hold_read(&hold, got, 0, 1), "nothing is held");
	broken((void)abd_arc_hold_read(&copy, got, 0, 1), "released before");
	key = arc_key(2);
	cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
	broken((void)abd_arc_hold_read(&copy, got, 0, 1), "released before");
	abd_arc_release(&hold);
	abd_arc_destroy(arc);
}

/* One that is not held is empty, whatever was in the struct; and an empty one can be released. */
Test(abd_arc_hold, an_error_leaves_it_empty)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, ABD_ARC_CHECKSUM);
	const abd_arc_hold_t stale = {NULL, 1, 2, true, got};
	abd_arc_hold_t hold = stale;

	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), -ENOENT);
	cr_assert(hold.abd == NULL && hold.entry == NULL && hold.stored_size == 0);
	abd_arc_release(&hold);

	put(arc, 1, 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&hold))) ^= 1;
	abd_arc_release(&hold);
	hold = stale;
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), -EBADMSG);
	cr_assert(hold.abd == NULL && hold.entry == NULL && hold.logical_size == 0);
	abd_arc_release(&hold);
	abd_arc_release(&hold);
	abd_arc_destroy(arc);
}

/* ---- into buffers ---------------------------------------------------------------------------- */

enum { LARGE = 40000, WHOLE = 1000 };

static abd_arc_t *cache;
static unsigned random_of_64; /* of each 64 bytes of the records */
static char large[LARGE];

/* The key of a record of this size, which is put if it is not there. */
static uint64_t record_of(size_t size)
{
	uint64_t n = WHOLE + size;

	if (size > 0 && !abd_arc_contains(cache, arc_at(n))) {
		arc_fill(large, size, n, 0, random_of_64);
		cr_assert_eq(abd_arc_put(cache, arc_at(n), large, size), 0);
	}
	return n;
}

static void read_into(struct abd_test_buffer *b, size_t dst_off, uint64_t n, size_t whole,
	size_t off, size_t size)
{
	arc_fill(large, whole, n, 0, random_of_64);
	memcpy(b->model + dst_off, large + off, size);
	abd_test_check(
		abd_arc_read_abd(cache, arc_at(n), b->abd, dst_off, off, size) == (ssize_t)size,
		"%s: [%zu, +%zu) at %zu", b->kind, off, size, dst_off);
	abd_test_check(abd_test_differs(b) == b->size, "%s: [%zu, +%zu) at %zu differs at %zu",
		b->kind, off, size, dst_off, abd_test_differs(b));
}

/* A whole record, the begin of one, and a part with an odd offset. */
static void check_read(struct abd_test_buffer *b, size_t off, size_t size)
{
	if (!b->writes)
		return;
	if (size > 0)
		read_into(b, off, record_of(size), size, 0, size);
	read_into(b, off, record_of(LARGE), LARGE, 0, size);
	read_into(b, off, record_of(LARGE), LARGE, 4097, size);
}

/* Compressed, plain, and with an index of 4 KiB groups; checksums too. */
Test(abd_arc_read_abd, every_kind_and_range_gets_the_records_bytes)
{
	static const unsigned randoms[] = {8, 64, 8};

	for (unsigned i = 0; i < 3; i++) {
		struct abd_arc_config config = {.config_size = sizeof(config),
			.capacity_bytes = 64 << 20,
			.flags = i == 2 ? ABD_ARC_CHECKSUM : 0,
			.lz4_index_min = i == 2 ? 4096 : 0,
			.lz4_index_group = 4096};

		abd_test_provider_begin();
		random_of_64 = randoms[i];
		cache = abd_arc_create(&config);
		cr_assert_not_null(cache);
		abd_test_each_range(check_read);
		cr_assert_eq(arc_stats(cache).held_bytes, 0);
		cr_assert_eq(arc_stats(cache).misses, 0);
		cr_assert_eq(arc_stats(cache).decodes, i == 1 ? 0 : arc_stats(cache).decodes);
		abd_arc_destroy(cache);
		abd_test_provider_end();
	}
}

/* arc.h says so: a buffer library's cache reads into its pieces. */
Test(abd_arc_read_abd, the_pieces_of_an_iovec_are_a_buffer)
{
	static char expected[SIZE], room[2 * SIZE];
	const struct iovec iov[] = {
		{room + SIZE, 100}, {room, 7}, {room + 5000, 0}, {room + 7, SIZE - 107}};
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_t *dst = abd_from_iov(iov, 4);

	arc_fill(expected, SIZE, 1, 1, 8);
	cr_assert_eq(abd_arc_put(arc, arc_at(1), expected, SIZE), 0);
	cr_assert_eq(abd_arc_read_abd(arc, arc_at(1), dst, 0, 0, SIZE), SIZE);
	cr_assert_arr_eq(room + SIZE, expected, 100);
	cr_assert_arr_eq(room, expected + 100, SIZE - 100);
	abd_free(dst);
	abd_arc_destroy(arc);
}

/* A buffer of three runs, so that the record is decoded into several. */
static abd_t *make_runs(abd_t *gang)
{
	abd_alloc_gang_struct(gang);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(SIZE / 2, false), true), 0);
	abd_zero(gang, SIZE / 2 * 3);
	return gang;
}

Test(abd_arc_read_abd, errors_are_those_of_a_read)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_t gang, *linear = abd_alloc_linear(SIZE, false);

	make_runs(&gang);
	put(arc, 1, 0);
	for (unsigned runs = 0; runs < 2; runs++) {
		abd_t *dst = runs ? &gang : linear;

		abd_zero(dst, SIZE);
		cr_assert_eq(abd_arc_read_abd(arc, arc_at(2), dst, 0, 0, SIZE), -ENOENT);
		cr_assert_eq(abd_arc_read_abd(arc, arc_at(1), dst, 0, 1, SIZE), -EINVAL);
		cr_assert_eq(abd_arc_read_abd(arc, arc_at(1), dst, 0, SIZE_MAX, SIZE), -EINVAL);
		cr_assert_eq(abd_arc_read_abd(arc, arc_at(1), dst, 0, SIZE + 1, 0), -EINVAL);
		cr_assert_eq(abd_arc_read_abd(arc, arc_at(1), dst, SIZE, SIZE, 0), 0);
		cr_assert_eq(abd_cmp_zero(dst, SIZE), 0, "nothing was written");
		cr_assert_eq(arc_stats(arc).misses, runs + 1);
		cr_assert_eq(arc_stats(arc).hits, 4 * (runs + 1));
		cr_assert_eq(arc_stats(arc).decodes, 0);
	}
	broken((void)abd_arc_read_abd(NULL, arc_at(1), &gang, 0, 0, 1), "is NULL");
	broken((void)abd_arc_read_abd(arc, NULL, &gang, 0, 0, 1), "is NULL");
	broken((void)abd_arc_read_abd(arc, arc_at(1), NULL, 0, 0, 1), "is NULL");
	broken((void)abd_arc_read_abd(arc, arc_at(1), linear, 1, 0, SIZE), "abd_arc_read_abd");
	broken((void)abd_arc_read_abd(arc, arc_at(1), linear, SIZE_MAX, 0, 2), "abd_arc_read_abd");
	abd_free(&gang);
	abd_free(linear);
	abd_arc_destroy(arc);
}

/* Its stored bytes are damaged: found by the checksum, or by the decoder. It is dropped. */
Test(abd_arc_read_abd, what_is_damaged_is_found_and_dropped)
{
	for (unsigned i = 0; i < 6; i++) {
		bool checks = i % 2 == 1;
		size_t off = i / 2 == 1 ? 100 : 0, size = i / 2 == 2 ? SIZE - 1 : SIZE - off;
		abd_arc_t *arc = arc_make(1 << 20, 0, checks ? ABD_ARC_CHECKSUM : 0);
		abd_arc_hold_t hold;
		abd_t gang;

		make_runs(&gang);
		put(arc, 1, 0);
		cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
		cr_assert(hold.compressed);
		/* no literals, and a match that reaches back to before the record */
		*(char *)abd_to_buf(abd_arc_entry_abd(abd_arc_held_entry(&hold))) = 0;
		abd_arc_release(&hold);
		cr_assert_eq(abd_arc_read_abd(arc, arc_at(1), &gang, 1, off, size), -EBADMSG);
		cr_assert_eq(abd_cmp_zero_off(&gang, 0, 1), 0);
		cr_assert_eq(abd_cmp_zero_off(&gang, 1 + size, SIZE / 2 * 3 - 1 - size), 0);
		cr_assert_not(abd_arc_contains(arc, arc_at(1)));
		cr_assert_eq(arc_stats(arc).damaged, 1);
		cr_assert_eq(arc_stats(arc).held_bytes, 0);
		abd_free(&gang);
		abd_arc_destroy(arc);
	}
}
