/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers that the cache takes over, and blocks that are verified before they are stored. What else
 * a put does is in test_arc.c.
 */
#include "abd_arc_hold.h"
#include "abd_test_fault.h"
#include "arc_data.h"

#include <abd/codec.h>
#include <abd/io.h>

#define broken(statement, text) abd_test_expect_contract(statement, text)

enum { SIZE = 8192, LARGE = 1 << 20, BAD = 5000 };

static char data[LARGE], got[LARGE];

/* A buffer with record n, of which so many in 64 bytes are random. */
static abd_t *make(size_t size, uint64_t n, unsigned random, bool linear, bool is_metadata)
{
	abd_t *abd = linear ? abd_alloc_linear(size, is_metadata) : abd_alloc(size, is_metadata);

	cr_assert_not_null(abd);
	arc_fill(data, size, n, 0, random);
	abd_copy_from_buf(abd, data, size);
	return abd;
}

/* A buffer with the block of record n: random 64 in 64 would not compress. */
static abd_t *make_block(size_t size, uint64_t n)
{
	abd_t *record = make(size, n, 8, false, false), *room = abd_alloc(size, false);
	ssize_t stored = abd_lz4_compress(room, record, 0, 0, size);

	cr_assert_gt(stored, 0);
	abd_t *block = abd_alloc((size_t)stored, false);

	cr_assert_not_null(block);
	abd_copy(block, room, (size_t)stored);
	abd_free(room);
	abd_free(record);
	return block;
}

static void *first_byte(const abd_t *abd)
{
	struct iovec iov[1];
	size_t covered;

	cr_assert_eq(abd_to_iov(abd, 0, 1, iov, 1, &covered), 1);
	return iov[0].iov_base;
}

static int put_abd(abd_arc_t *arc, uint64_t n, abd_t *abd, size_t logical_size, unsigned flags)
{
	return abd_arc_put_abd(arc, arc_at(n), abd, logical_size, flags);
}

/* Where record n lies. */
static void *where(abd_arc_t *arc, uint64_t n)
{
	abd_arc_hold_t hold;

	cr_assert_eq(abd_arc_hold(arc, arc_at(n), &hold), 0);
	void *at = first_byte(hold.abd);

	abd_arc_release(&hold);
	return at;
}

static void expect_record(abd_arc_t *arc, uint64_t n, size_t size, unsigned random)
{
	arc_fill(data, size, n, 0, random);
	cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, size), (ssize_t)size);
	cr_assert_arr_eq(got, data, size);
}

Test(abd_arc_put, a_buffer_becomes_the_caches_and_is_not_copied)
{
	static const size_t sizes[] = {1, 7, 512, 1500, 4096, 4097, 5000, SIZE, 131072, LARGE};
	struct abd_stats before = abd_test_stats(), after;

	for (unsigned i = 0; i < 8; i++) {
		abd_arc_t *arc = arc_make(8 << 20, 0, i / 4 % 2 == 0 ? ABD_ARC_CHECKSUM : 0);
		bool linear = i % 2 != 0, is_metadata = i / 2 % 2 != 0;
		size_t count = sizeof(sizes) / sizeof(sizes[0]);

		for (uint64_t n = 0; n < count; n++) {
			abd_t *abd = make(sizes[n], n, 8, linear, is_metadata);
			void *at = first_byte(abd);

			cr_assert_eq(put_abd(arc, n, abd, sizes[n], ABD_ARC_PLAIN), 0);
			/* less need not begin at a multiple of 64 */
			cr_assert_eq(where(arc, n) == at, sizes[n] >= 64, "%zu bytes", sizes[n]);
			expect_record(arc, n, sizes[n], 8);
		}
		cr_assert_eq(arc_stats(arc).entries, count);
		cr_assert_eq(arc_stats(arc).metadata_entries, is_metadata ? count : 0);
		cr_assert_eq(arc_stats(arc).stored_bytes, arc_stats(arc).logical_bytes);
		cr_assert_geq(arc_stats(arc).used_bytes, arc_stats(arc).stored_bytes);
		cr_assert_leq(arc_stats(arc).used_bytes, (size_t)8 << 20);
		cr_assert_eq(arc->policy.reserved, 0);
		abd_arc_destroy(arc);
	}
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after));
}

Test(abd_arc_put, nor_is_a_block)
{
	for (unsigned verify = 0; verify <= ABD_ARC_VERIFY; verify += ABD_ARC_VERIFY) {
		abd_arc_t *arc = arc_make(8 << 20, 0, 0);

		for (size_t size = 512; size <= LARGE; size *= 2) {
			abd_t *block = make_block(size, size);
			void *at = first_byte(block);

			cr_assert_eq(put_abd(arc, size, block, size, ABD_ARC_STORED | verify), 0);
			cr_assert_eq(where(arc, size), at);
			expect_record(arc, size, size, 8);
		}
		abd_arc_destroy(arc);
	}
}

Test(abd_arc_put, without_a_flag_the_record_is_compressed_where_that_pays)
{
	struct abd_stats before = abd_test_stats(), after;
	abd_arc_t *arc = arc_make(8 << 20, 0, 0);
	abd_arc_hold_t hold;

	cr_assert_eq(put_abd(arc, 1, make(SIZE, 1, 8, false, true), SIZE, 0), 0);
	cr_assert_eq(abd_arc_hold(arc, arc_at(1), &hold), 0);
	cr_assert(hold.compressed);
	cr_assert_eq(arc_stats(arc).metadata_entries, 1);
	abd_arc_release(&hold);
	expect_record(arc, 1, SIZE, 8);

	abd_t *abd = make(SIZE, 2, 64, false, false);
	void *at = first_byte(abd);

	cr_assert_eq(put_abd(arc, 2, abd, SIZE, 0), 0);
	cr_assert_eq(where(arc, 2), at, "it does not compress, and wastes nothing");
	expect_record(arc, 2, SIZE, 64);

	abd = make(4097, 3, 64, false, false);
	at = first_byte(abd);
	cr_assert_eq(put_abd(arc, 3, abd, 4097, 0), 0);
	cr_assert_neq(where(arc, 3), at, "nearly half of it is padding");
	expect_record(arc, 3, 4097, 64);
	abd_arc_destroy(arc);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after));
}

Test(abd_arc_put, a_buffer_replaces_the_record_and_overtakes_the_fill)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;

	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(1), SIZE, 0, &hold, &fill), 1);
	abd_zero(fill.abd, SIZE);
	cr_assert_eq(put_abd(arc, 1, make(100, 1, 64, false, false), 100, ABD_ARC_PLAIN), 0);
	cr_assert_eq(abd_arc_fill_commit(&fill, SIZE, SIZE, 0, NULL), -ESTALE);
	expect_record(arc, 1, 100, 64);
	cr_assert_eq(put_abd(arc, 1, make(SIZE, 1, 64, false, false), SIZE, ABD_ARC_PLAIN), 0);
	expect_record(arc, 1, SIZE, 64);
	cr_assert_eq(arc_stats(arc).replaces, 1);
	abd_arc_destroy(arc);
}

/* ---- what it does not take ------------------------------------------------------------------- */

static void do_nothing(void *buf, size_t size, void *arg)
{
}

/* It stays the caller's, as it was. */
static void expect_refused(
	abd_arc_t *arc, abd_t *abd, size_t logical_size, unsigned flags, int error)
{
	abd_t copy = *abd;

	cr_assert_eq(put_abd(arc, 1, abd, logical_size, flags), error);
	cr_assert_eq(memcmp(abd, &copy, sizeof(copy)), 0);
	cr_assert_not(arc_contains(arc, 1));
	cr_assert_eq(arc->policy.reserved, 0);
	cr_assert_eq(arc_stats(arc).entries, 0);
}

Test(abd_arc_put, a_buffer_that_is_no_owner_is_refused)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_t *owner = make(SIZE, 1, 64, false, false), *gang = abd_alloc_gang(), in_place;

	cr_assert_not_null(gang);
	cr_assert_eq(abd_gang_add(gang, make(SIZE, 1, 64, false, false), true), 0);
	abd_t *refused[] = {gang, abd_get_offset(owner, 0), abd_get_offset(gang, 0),
		abd_get_zeros(SIZE), abd_get_from_buf(data, SIZE),
		abd_get_from_buf_cb(data, SIZE, do_nothing, NULL),
		abd_alloc_linear_struct(&in_place, SIZE, false)};

	for (size_t i = sizeof(refused) / sizeof(refused[0]); i-- > 0;) {
		cr_assert_not_null(refused[i]);
		expect_refused(arc, refused[i], SIZE, ABD_ARC_PLAIN, -EINVAL);
		expect_refused(arc, refused[i], SIZE, 0, -EINVAL);
		abd_free(refused[i]);
	}
	abd_free(owner);
	abd_arc_destroy(arc);
}

Test(abd_arc_put, a_buffer_with_wrong_sizes_or_flags_is_refused)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	static const struct {
		size_t logical;
		unsigned flags;
	} wrong[] = {
		{0, 0},
		{SIZE - 1, 0},
		{SIZE + 1, ABD_ARC_PLAIN},
		{SIZE, ABD_ARC_STORED},
		{ABD_ARC_RECORD_MAX + 1, ABD_ARC_STORED},
		{SIZE, ABD_ARC_STORED | ABD_ARC_PLAIN},
		{SIZE, ABD_ARC_METADATA},
		{SIZE, ABD_ARC_VERIFY},
		{SIZE, ABD_ARC_PLAIN | ABD_ARC_VERIFY},
		{SIZE, 1 << 6},
	};
	abd_t *abd = make(SIZE, 1, 64, false, false), *large = abd_alloc(2 << 20, false);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_refused(arc, abd, wrong[i].logical, wrong[i].flags, -EINVAL);
	cr_assert_not_null(large);
	expect_refused(arc, large, 2 << 20, ABD_ARC_PLAIN, -ENOSPC);
	abd_free(large);
	abd_free(abd);
	abd_arc_destroy(arc);
}

Test(abd_arc_put, a_buffer_in_use_breaks_the_contract)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_t *abd = make(SIZE, 1, 64, false, false), *gang = abd_alloc_gang(), in_place;

	broken((void)abd_arc_put_abd(NULL, arc_at(1), abd, SIZE, 0), "is NULL");
	broken((void)abd_arc_put_abd(arc, NULL, abd, SIZE, 0), "is NULL");
	broken((void)abd_arc_put_abd(arc, arc_at(1), NULL, SIZE, 0), "is NULL");
	cr_assert_eq(abd_gang_add(gang, abd, false), 0);
	broken((void)abd_arc_put_abd(arc, arc_at(1), abd, SIZE, 0), "is in a gang that lives");
	abd_free(gang);
	cr_assert_not_null(abd_alloc_linear_struct(&in_place, SIZE, false));
	abd_free(&in_place);
	broken((void)abd_arc_put_abd(arc, arc_at(1), &in_place, SIZE, 0), "size 0");
#if ABD_CHECKED
	abd_t *view = abd_get_offset(abd, 1);

	broken((void)abd_arc_put_abd(arc, arc_at(1), abd, SIZE, 0), "abd_arc_put_abd");
	abd_free(view);
#endif
	cr_assert_eq(abd_arc_put_abd(arc, arc_at(1), abd, SIZE, 0), 0);
	abd_arc_destroy(arc);
}

/* ---- hostile blocks -------------------------------------------------------------------------- */

/* Blocks of a record of logical bytes that are none, in different ways. */
static abd_t *make_bad(unsigned i, size_t *logical)
{
	abd_t *block = i == 0 ? make(BAD, 1, 64, false, false) : make_block(SIZE, 1);
	static const char end[] = {0};

	*logical = i == 1 ? SIZE - 1 : i == 2 ? SIZE + 1 : SIZE;
	if (i == 3) /* a literal where the block must end, and nothing behind it */
		abd_copy_from_buf_off(block, "\xf0", abd_get_size(block) - 6, 1);
	if (i == 4) /* the first match reaches back to before the record */
		abd_copy_from_buf(block, end, 1);
	return block;
}

Test(abd_arc_put, a_hostile_block_is_found_at_once_if_it_is_verified_else_by_the_read)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);

	for (unsigned i = 0; i < 5; i++) {
		abd_arc_hold_t hold;
		abd_arc_fill_t fill;
		size_t logical;
		abd_t *bad = make_bad(i, &logical);
		size_t size = abd_get_size(bad);

		expect_refused(arc, bad, logical, ABD_ARC_STORED | ABD_ARC_VERIFY, -EBADMSG);
		cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(1), size, 0, &hold, &fill), 1);
		abd_copy(fill.abd, bad, size);
		cr_assert_eq(abd_arc_fill_commit(
				     &fill, size, logical, ABD_ARC_STORED | ABD_ARC_VERIFY, &hold),
			-EBADMSG);
		cr_assert_eq(arc->fillings, 0);
		cr_assert_not(arc_contains(arc, 1));

		cr_assert_eq(put_abd(arc, 1, bad, logical, ABD_ARC_STORED), 0);
		cr_assert_eq(arc_stats(arc).damaged, 2 * i);
		cr_assert_eq(
			abd_arc_read(arc, arc_at(1), got, 0, logical), -EBADMSG, "block %u", i);
		cr_assert_eq(arc_stats(arc).damaged, 2 * i + 1);
		cr_assert_not(arc_contains(arc, 1), "it was dropped");

		bad = make_bad(i, &logical);
		size = 77;
		cr_assert_eq(put_abd(arc, 1, bad, logical, ABD_ARC_STORED), 0);
		cr_assert_eq(abd_arc_read_all(arc, arc_at(1), got, sizeof(got), &size), -EBADMSG);
		cr_assert_eq(size, 77, "of a damaged record no size is known");
		abd_arc_remove(arc, arc_at(1));
	}
	abd_arc_destroy(arc);
}

Test(abd_arc_put, a_block_that_is_verified_is_filled_in)
{
	abd_arc_t *arc = arc_make(1 << 20, 0, 0);
	abd_t *block = make_block(SIZE, 1);
	abd_arc_hold_t hold;
	abd_arc_fill_t fill;
	size_t size = abd_get_size(block);

	cr_assert_eq(abd_arc_hold_or_fill(arc, arc_at(1), size, 0, &hold, &fill), 1);
	abd_copy(fill.abd, block, size);
	cr_assert_eq(
		abd_arc_fill_commit(&fill, size, SIZE, ABD_ARC_STORED | ABD_ARC_VERIFY, &hold), 0);
	abd_arc_release(&hold);
	expect_record(arc, 1, SIZE, 8);
	abd_free(block);
	abd_arc_destroy(arc);
}

/* ---- records that came back ------------------------------------------------------------------ */

/* Words of a few hundred: a longer search finds longer matches. */
static void write_words(char *to, size_t size, uint64_t seed)
{
	for (size_t i = 0; i < size; i++) {
		uint64_t word = abd_test_random_below(&seed, 300),
			 letters = word * 0x9e3779b97f4a7c15;

		for (size_t n = 3 + word % 6; n > 0 && i < size; n--, i++, letters >>= 5)
			to[i] = (char)('a' + letters % 26);
		if (i < size)
			to[i] = ' ';
	}
}

static abd_arc_t *make_with_effort(size_t effort, uint32_t flags, uint32_t index_min)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = 1 << 20,
		.hit_batch = 1,
		.flags = flags,
		.lz4_index_min = index_min,
		.shards = 1,
		.lz4_effort = effort};

	return abd_arc_create(&config);
}

/* How many bytes record n has in the cache. Its content must be right. */
static size_t stored_size(abd_arc_t *arc, uint64_t n, size_t size)
{
	abd_arc_hold_t hold;

	cr_assert_eq(abd_arc_read(arc, arc_at(n), got, 0, size), (ssize_t)size);
	cr_assert_arr_eq(got, data, size);
	cr_assert_eq(abd_arc_hold(arc, arc_at(n), &hold), 0);
	size_t stored = hold.stored_size;

	abd_arc_release(&hold);
	return stored;
}

/* Read record 0 twice, and evict it by others: there is a ghost of it. */
static void send_away(abd_arc_t *arc)
{
	static char other[32768];

	cr_assert_eq(abd_arc_read(arc, arc_at(0), got, 0, 1), 1);
	for (uint64_t n = 1; arc_contains(arc, 0); n++) {
		arc_fill(other, sizeof(other), n, 0, 64);
		cr_assert_eq(abd_arc_put(arc, arc_at(n), other, sizeof(other)), 0);
		(void)abd_arc_read(arc, arc_at(n), got, 0, 1);
	}
}

Test(abd_arc_put, a_record_that_came_back_is_compressed_with_the_effort_asked_for)
{
	const size_t size = 65536;

	write_words(data, size, 1);
	for (uint32_t index_min = 0; index_min <= size; index_min += 32768) {
		size_t of[2], first = 0;

		for (size_t i = 0; i < 2; i++) {
			abd_arc_t *arc = make_with_effort(i == 0 ? 0 : 9, 0, index_min);

			cr_assert_eq(abd_arc_put(arc, arc_at(0), data, size), 0);
			first = stored_size(arc, 0, size);
			cr_assert_eq(abd_arc_put(arc, arc_at(0), data, size), 0);
			cr_assert_eq(
				stored_size(arc, 0, size), first, "a new version is no return");
			send_away(arc);
			cr_assert_eq(abd_arc_put(arc, arc_at(0), data, size), 0);
			of[i] = stored_size(arc, 0, size);
			abd_arc_destroy(arc);
		}
		cr_assert_eq(of[0], first, "without effort nothing changes");
		cr_assert_lt(of[1], first - first / 100, "%zu of %zu", of[1], first);
	}
}

Test(abd_arc_put, where_first_puts_are_only_remembered_all_that_is_compressed_came_back)
{
	const size_t size = 65536;
	size_t of[2];

	write_words(data, size, 2);
	for (size_t i = 0; i < 2; i++) {
		abd_arc_t *arc = make_with_effort(i == 0 ? 0 : 9, ABD_ARC_SECOND_TIME, 0);

		cr_assert_eq(abd_arc_put(arc, arc_at(0), data, size), 0);
		cr_assert_not(arc_contains(arc, 0));
		cr_assert_eq(abd_arc_put(arc, arc_at(0), data, size), 0);
		of[i] = stored_size(arc, 0, size);
		abd_arc_destroy(arc);
	}
	cr_assert_lt(of[1], of[0] - of[0] / 20);
}

Test(abd_arc_put, without_memory_for_the_longer_search_the_record_is_stored_all_the_same)
{
	const size_t size = 65536;
	abd_arc_t *arc = make_with_effort(9, ABD_ARC_SECOND_TIME, 0);
	abd_arc_t *plain = make_with_effort(0, 0, 0);
	bool shorter = false;

	write_words(data, size, 3);
	cr_assert_eq(abd_arc_put(plain, arc_at(0), data, size), 0);
	for (uint64_t n = 0, sites = 1; n <= sites; n++) {
		cr_assert_eq(abd_arc_put(arc, arc_at(n), data, size), 0, "remembered");
		abd_cache_reap_now(); /* what other tests left is memory too */
		abd_test_fault_at(n);
		int error = abd_arc_put(arc, arc_at(n), data, size);

		sites = abd_test_fault_end();
		cr_assert(error == 0 || error == -ENOMEM);
		shorter |= error == 0 && stored_size(arc, n, size) == stored_size(plain, 0, size);
	}
	cr_assert(shorter);
	abd_arc_destroy(plain);
	abd_arc_destroy(arc);
}

Test(abd_arc_put, an_effort_that_no_search_has_is_refused)
{
	const size_t efforts[] = {1, 2, 13, SIZE_MAX, (size_t)1 << 31};

	for (size_t i = 0; i < sizeof(efforts) / sizeof(efforts[0]); i++) {
		errno = 0;
		cr_assert_null(make_with_effort(efforts[i], 0, 0));
		cr_assert_eq(errno, EINVAL, "%zu", efforts[i]);
	}
}

static void *read_for_a_while(void *begun)
{
	abd_arc_rcu_read_lock();
	atomic_store((atomic_bool *)begun, true);
	nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	abd_arc_rcu_read_unlock();
	return NULL;
}

/* Another put has reserved nearly all, and this one finds too little: it must not stay so. */
Test(abd_arc_put, that_took_the_cache_over_its_capacity_evicts_when_it_is_done)
{
	enum { CAPACITY = 1 << 20, RESERVED = 800000, PUT = 400000 };
	struct abd_arc_config config = {
		.config_size = sizeof(config), .capacity_bytes = CAPACITY, .shards = 1};
	abd_arc_t *arc = abd_arc_create(&config);
	atomic_bool begun = false;
	pthread_t reader;

	arc->run_bytes += RESERVED;
	arc_fill(data, PUT, 0, 0, 64);
	cr_assert_eq(pthread_create(&reader, NULL, read_for_a_while, &begun), 0);
	while (!atomic_load(&begun))
		sched_yield();
	cr_assert_eq(abd_arc_put(arc, arc_at(0), data, PUT), 0);
	cr_assert_leq(arc_stats(arc).used_bytes, CAPACITY);
	cr_assert_eq(arc_stats(arc).evictions, 1);
	pthread_join(reader, NULL);
	arc->run_bytes -= RESERVED;
	abd_arc_destroy(arc);
}
