/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where stored records begin. With ABD_ARC_ALIGNED each lies in whole pages of its own, which end
 * with zeroes: so what is held is written with O_DIRECT, however it came in and whatever the cache
 * did with it since. Without, it begins at a multiple of 64 bytes.
 */
#include "abd_arc_impl.h"
#include "arc_data.h"

#define PAGE ((size_t)4096)

enum { RECORD = 300000 };

static uint8_t record[RECORD], block[RECORD + 4096], got[RECORD + 4096];

/* ---- ways in: each puts the first bytes of record under a key -------------------------------- */

enum how { PUT, GIVE, GIVE_LINEAR, GANG, FILL, FILL_PAGES };

static const struct way {
	const char *name;
	enum how how;
	unsigned flags;
} ways[] = {
	{"put", PUT, 0},
	{"put, metadata", PUT, ABD_ARC_METADATA},
	{"give", GIVE, 0},
	{"give, plain", GIVE, ABD_ARC_PLAIN},
	{"give, stored", GIVE, ABD_ARC_STORED},
	{"give, linear", GIVE_LINEAR, ABD_ARC_PLAIN},
	{"gang", GANG, 0},
	{"fill", FILL, 0},
	{"fill, plain", FILL, ABD_ARC_PLAIN},
	{"fill, stored", FILL, ABD_ARC_STORED},
	/* as with O_DIRECT: of the last page not all is record */
	{"fill, pages", FILL_PAGES, ABD_ARC_PLAIN},
};

/* The block of a record, in block; 0: there is none. */
static size_t pack(size_t size)
{
	abd_t from, to;

	abd_get_from_buf_struct(&from, record, size);
	abd_get_from_buf_struct(&to, block, sizeof(block));

	ssize_t packed = abd_lz4_compress(&to, &from, 0, 0, size);

	abd_free(&from);
	abd_free(&to);
	return packed > 0 && (size_t)packed < size ? (size_t)packed : 0;
}

static int give(abd_arc_t *arc, const abd_arc_key_t *key, abd_t *abd, const void *from, size_t size,
	unsigned flags)
{
	abd_copy_from_buf(abd, from, abd_get_size(abd));

	int error = abd_arc_put_abd(arc, key, abd, size, flags);

	if (error != 0)
		abd_free(abd);
	return error;
}

/* A gang owns no pages: it is refused, and goes in as a copy. */
static int put_gang(abd_arc_t *arc, const abd_arc_key_t *key, size_t size)
{
	abd_t *gang = abd_alloc_gang();

	cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(size, false), true), 0);
	cr_assert_eq(give(arc, key, gang, record, size, ABD_ARC_PLAIN), -EINVAL);
	return abd_arc_put(arc, key, record, size);
}

static int fill(abd_arc_t *arc, const abd_arc_key_t *key, size_t room, const void *from,
	size_t stored, size_t size, unsigned flags)
{
	abd_arc_hold_t hold;
	abd_arc_fill_t open;

	abd_arc_remove(arc, key);
	cr_assert_eq(abd_arc_hold_or_fill(arc, key, room, 0, &hold, &open), 1);
	memset(got, 0xee, room);
	memcpy(got, from, stored);
	abd_copy_from_buf(open.abd, got, room);
	return abd_arc_fill_commit(&open, stored, size, flags, NULL);
}

static int put_by(const struct way *way, abd_arc_t *arc, const abd_arc_key_t *key, size_t size)
{
	size_t packed = way->flags == ABD_ARC_STORED ? pack(size) : 0;
	size_t stored = packed > 0 ? packed : size;
	const uint8_t *from = packed > 0 ? block : record;
	unsigned flags = way->flags == ABD_ARC_STORED && packed == 0 ? ABD_ARC_PLAIN : way->flags;

	switch (way->how) {
	case PUT:
		return abd_arc_put_flags(arc, key, record, size, flags);
	case GIVE:
		return give(arc, key, abd_alloc_for_io(stored, true), from, size, flags);
	case GIVE_LINEAR:
		return give(arc, key, abd_alloc_linear(stored, false), from, size, flags);
	case GANG:
		return put_gang(arc, key, size);
	case FILL:
		return fill(arc, key, size, from, stored, size, flags);
	default:
		return fill(arc, key, abd_round_up(size, PAGE), from, stored, size, flags);
	}
}

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

static const size_t sizes[] = {
	1, 7, 63, 64, 511, 4095, 4096, 4097, 5000, 8192, 12289, 65536, 131072, 200001, RECORD};

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), KEYS = 2 * WAYS * SIZES };

/* Each number is a way, a size, and content that lz4 packs or does not. */
static size_t size_of(uint64_t n)
{
	return sizes[n / 2 % SIZES];
}

static void make(uint64_t n, uint64_t version)
{
	arc_fill(record, size_of(n), n, version, n % 2 == 0 ? 64 : 8);
}

static void put(abd_arc_t *arc, uint64_t n, uint64_t way, uint64_t version)
{
	abd_arc_key_t key = arc_key(n);

	make(n, version);
	cr_assert_eq(put_by(&ways[way % WAYS], arc, &key, size_of(n)), 0, "%s, %zu bytes",
		ways[way % WAYS].name, size_of(n));
}

/* ---- a file that is written and read with O_DIRECT ------------------------------------------- */

/* -1: this file system has no O_DIRECT. */
static int file_open(void)
{
	char name[] = "test_arc_aligned.XXXXXX";
	int fd = mkostemp(name, O_DIRECT);

	if (fd >= 0)
		unlink(name);
	return fd;
}

static void check_written(int fd, const abd_t *abd)
{
	size_t size = abd_get_size(abd);
	abd_t *back = abd_alloc_for_io(size, false);

	cr_assert_eq(abd_pwrite(fd, abd, 0, size, 0), (ssize_t)size);
	cr_assert_eq(abd_pread(fd, back, 0, size, 0), (ssize_t)size);
	cr_assert(abd_equal(abd, back), "%zu bytes were written", size);
	abd_free(back);
}

/* ---- what holds have in common --------------------------------------------------------------- */

static void check_pages(const abd_t *abd, size_t stored_size)
{
	size_t whole = abd_get_size(abd);

	cr_assert_eq(whole, abd_round_up(stored_size, PAGE));
	cr_assert(abd_is_aligned(abd, 0, whole, PAGE), "%zu bytes", stored_size);
	cr_assert_eq(abd_cmp_zero_off(abd, stored_size, whole - stored_size), 0, "behind %zu bytes",
		stored_size);
}

static void check_held(const abd_arc_hold_t *hold, uint64_t n, uint64_t version, int fd)
{
	size_t size = size_of(n);

	make(n, version);
	cr_assert_eq(abd_arc_hold_read(hold, got, 0, size), (ssize_t)size);
	cr_assert_arr_eq(got, record, size);
	cr_assert_eq(abd_arc_hold_read(hold, got, size / 3, size / 2), (ssize_t)(size / 2));
	cr_assert_arr_eq(got, record + size / 3, size / 2);
	check_pages(hold->abd, hold->stored_size);
	if (!hold->compressed)
		cr_assert_eq(hold->stored_size, size);
	if (fd >= 0)
		check_written(fd, hold->abd);
}

/* Returns how many of the keys are there, all of which are right. */
static unsigned check_all(abd_arc_t *arc, uint64_t version, int fd)
{
	unsigned count = 0;

	for (uint64_t n = 0; n < KEYS; n++) {
		abd_arc_key_t key = arc_key(n);
		abd_arc_hold_t hold;

		if (abd_arc_hold(arc, &key, &hold) != 0)
			continue;
		check_held(&hold, n, version, fd);
		abd_arc_release(&hold);
		count++;
	}
	return count;
}

/* What the cache counts is what its buffers take: whole pages, and run tables. */
static void check_counted(abd_arc_t *arc)
{
	struct abd_arc_stats stats = arc_stats(arc);

	cr_assert_eq(arc->policy.reserved, 0);
	cr_assert_geq(arc->run_bytes, stats.stored_bytes);
	cr_assert_leq(arc->run_bytes, stats.stored_bytes + stats.entries * (PAGE + 2048));
	cr_assert_leq(stats.used_bytes, stats.capacity_bytes + stats.held_bytes);
}

static abd_arc_t *make_aligned(size_t capacity, unsigned kind,
	void (*evicted_cb)(abd_arc_evicted_t *evicted, void *arg), void *arg)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.flags = ABD_ARC_ALIGNED | (kind > 0 ? ABD_ARC_CHECKSUM : 0),
		.hit_batch = kind == 2,
		.lz4_index_min = kind > 0 ? 4096 : 0,
		.lz4_index_group = 4096,
		.evicted_cb = evicted_cb,
		.evicted_arg = arg};

	return abd_arc_create(&config);
}

Test(arc_aligned, every_hold_is_written_with_o_direct)
{
	int fd = file_open();

	for (unsigned kind = 0; kind < 3; kind++) {
		abd_arc_t *arc = make_aligned((size_t)128 << 20, kind, NULL, NULL);

		for (uint64_t n = 0; n < KEYS; n++)
			put(arc, n, n / 2 / SIZES, 0);
		cr_assert_eq(check_all(arc, 0, kind == 0 ? fd : -1), KEYS);
		check_counted(arc);
		/* replaced, by another way in */
		for (uint64_t n = 0; n < KEYS; n++)
			put(arc, n, n / 2 / SIZES + 1 + n % 5, 1);
		cr_assert_eq(check_all(arc, 1, kind == 1 ? fd : -1), KEYS);
		check_counted(arc);
		/* smaller and larger, with slabs that are emptied */
		cr_assert_eq(abd_arc_resize(arc, 4 << 20), 0);
		cr_assert_leq(arc_stats(arc).used_bytes, 4 << 20);

		unsigned left = check_all(arc, 1, fd);

		cr_assert(left > 0 && left < KEYS, "%u", left);
		cr_assert_eq(abd_arc_resize(arc, (size_t)128 << 20), 0);
		for (uint64_t n = 0; n < KEYS; n++)
			put(arc, n, n, 2);
		cr_assert_eq(check_all(arc, 2, -1), KEYS);
		check_counted(arc);
		abd_arc_destroy(arc);
	}
	if (fd < 0)
		cr_skip_test("no O_DIRECT on this file system: nothing was written");
	close(fd);
}

Test(arc_aligned, what_is_held_stays_where_it_is)
{
	static abd_arc_hold_t hold[KEYS];
	abd_arc_t *arc = make_aligned((size_t)128 << 20, 0, NULL, NULL);

	for (uint64_t n = 0; n < KEYS; n++) {
		abd_arc_key_t key = arc_key(n);

		put(arc, n, n, 0);
		cr_assert_eq(abd_arc_hold(arc, &key, &hold[n]), 0);
	}
	/* evicted, replaced or removed, while others take memory and slabs are emptied */
	(void)abd_arc_trim(arc, SIZE_MAX, UINT64_MAX);
	for (uint64_t n = 0; n < KEYS; n++)
		put(arc, n, n + 3, 1);
	for (uint64_t n = 0; n < KEYS; n++) {
		check_held(&hold[n], n, 0, -1);
		abd_arc_release(&hold[n]);
	}
	cr_assert_eq(check_all(arc, 1, -1), KEYS);
	abd_arc_destroy(arc);
}

/* The buffers that were given, and what became of them. */
Test(arc_aligned, pages_are_taken_over_and_what_shares_a_page_is_copied)
{
	abd_arc_t *arc = make_aligned(8 << 20, 0, NULL, NULL);
	static const struct {
		size_t size;
		bool linear, taken;
	} gives[] = {{4096, true, true}, {8192, true, true}, {5056, true, false},
		{100, true, false}, {100, false, true}, {5000, false, true}, {8192, false, true},
		{200001, false, true}};

	for (uint64_t n = 0; n < sizeof(gives) / sizeof(gives[0]); n++) {
		size_t size = gives[n].size;
		abd_t *abd = gives[n].linear ? abd_alloc_linear(size, false)
					     : abd_alloc_for_io(size, false);
		abd_arc_key_t key = arc_key(n);
		abd_arc_hold_t hold;
		struct iovec before, after;
		size_t covered;

		abd_to_iov(abd, 0, size, &before, 1, &covered);
		cr_assert_eq(give(arc, &key, abd, record, size, ABD_ARC_PLAIN), 0);
		cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
		abd_to_iov(hold.abd, 0, size, &after, 1, &covered);
		cr_assert_eq(before.iov_base == after.iov_base, gives[n].taken, "%zu bytes", size);
		check_pages(hold.abd, size);
		abd_arc_release(&hold);
	}
	abd_arc_destroy(arc);
}

/* A block takes fewer pages than its record, or there is none. */
Test(arc_aligned, records_are_packed_where_that_saves_a_page)
{
	static const struct {
		size_t size;
		unsigned random;
		bool packed;
	} cases[] = {{4096, 8, false}, {5000, 8, true}, {8192, 8, true}, {8192, 48, false},
		{131072, 48, true}};

	for (unsigned kind = 0; kind < 2; kind++) {
		abd_arc_t *arc = make_aligned(8 << 20, kind, NULL, NULL);

		for (uint64_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
			abd_arc_key_t key = arc_key(n);
			abd_arc_hold_t hold;

			arc_fill(record, cases[n].size, n, 0, cases[n].random);
			cr_assert_eq(abd_arc_put(arc, &key, record, cases[n].size), 0);
			cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
			cr_assert_eq(hold.compressed, cases[n].packed, "%zu bytes, %u random",
				cases[n].size, cases[n].random);
			cr_assert_eq(abd_arc_hold_read(&hold, got, 9, 4000), 4000);
			cr_assert_arr_eq(got, record + 9, 4000);
			abd_arc_release(&hold);
		}
		abd_arc_destroy(arc);
	}
}

/* A second level, which is such a cache too, takes what leaves the first, uncopied. */
static void to_second(abd_arc_evicted_t *evicted, void *arg)
{
	abd_arc_key_t key = evicted->key;
	size_t stored = evicted->stored_size, logical = evicted->logical_size;
	unsigned flags = evicted->flags;

	check_pages(evicted->abd, stored);
	abd_t *abd = abd_arc_evicted_take(evicted);

	cr_assert_not_null(abd);
	cr_assert_eq(abd_get_size(abd), stored);
	cr_assert_eq(abd_arc_put_abd(arg, &key, abd, logical, flags), 0);
}

Test(arc_aligned, evicted_buffers_end_with_their_record)
{
	struct abd_stats before = abd_test_stats(), after;
	abd_arc_t *second = make_aligned((size_t)128 << 20, 0, NULL, NULL);
	abd_arc_t *first = make_aligned((size_t)128 << 20, 1, to_second, second);

	for (uint64_t n = 0; n < KEYS; n++)
		put(first, n, n, 0);
	(void)abd_arc_trim(first, SIZE_MAX, UINT64_MAX);
	cr_assert_eq(check_all(second, 0, -1), KEYS);
	abd_arc_destroy(first);
	abd_arc_destroy(second);
	after = abd_test_stats();
	cr_assert(abd_test_gauges_equal(&before, &after), "the books disagree");
}

/* Everything that a record takes over its stored bytes. */
Test(arc_aligned, what_a_record_costs)
{
	static const size_t of[] = {4096, 5000, 8192, 12288, 131072};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		for (uint32_t flags = 0; flags <= ABD_ARC_ALIGNED; flags += ABD_ARC_ALIGNED)
			for (unsigned random = 24; random <= 64; random += 40) {
				abd_arc_t *arc = arc_make(64 << 20, 0, flags);
				size_t count = ((size_t)16 << 20) / of[i];

				arc_fill(record, of[i], 0, 0, random);
				for (uint64_t n = 0; n < count; n++) {
					abd_arc_key_t key = arc_key(n);

					cr_assert_eq(abd_arc_put(arc, &key, record, of[i]), 0);
				}
				struct abd_arc_stats stats = arc_stats(arc);
				size_t over = (size_t)(stats.used_bytes - stats.stored_bytes);

				fprintf(stderr,
					"waste: %zu bytes, %s, stored in %zu: %zu a record\n",
					of[i], flags != 0 ? "aligned" : "packed",
					(size_t)stats.stored_bytes / count, over / count);
				cr_assert_leq(over / count, (flags == 0 ? of[i] / 16 : PAGE) + 512,
					"%zu", of[i]);
				abd_arc_destroy(arc);
			}
}

/* Also those that were given away, which may begin anywhere. */
Test(arc_aligned, without_the_flag_large_records_begin_at_multiples_of_64)
{
	abd_arc_t *arc = arc_make((size_t)128 << 20, 0, 0);

	for (uint64_t n = 0; n < KEYS; n++) {
		abd_arc_key_t key = arc_key(n);
		abd_arc_hold_t hold;
		struct iovec first;
		size_t covered;

		put(arc, n, n / 2 / SIZES, 0);
		cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
		cr_assert_eq(abd_get_size(hold.abd), hold.stored_size);
		abd_to_iov(hold.abd, 0, hold.stored_size, &first, 1, &covered);
		cr_assert_eq((uintptr_t)first.iov_base % (hold.stored_size < 4096 ? 16 : 64), 0,
			"%s, %zu bytes", ways[n / 2 / SIZES].name, size_of(n));
		abd_arc_release(&hold);
	}
	abd_arc_destroy(arc);
}
