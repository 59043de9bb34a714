/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where stored records begin: at multiples of 16 or 64 bytes, whatever way they came in; and at a
 * page those that were given in pages. What is held stays there.
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
	/* of the last page not all is record */
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

/* ---- what holds have in common --------------------------------------------------------------- */

static void check_held(const abd_arc_hold_t *hold, uint64_t n, uint64_t version)
{
	size_t size = size_of(n);

	make(n, version);
	cr_assert_eq(abd_arc_hold_read(hold, got, 0, size), (ssize_t)size);
	cr_assert_arr_eq(got, record, size);
	cr_assert_eq(abd_arc_hold_read(hold, got, size / 3, size / 2), (ssize_t)(size / 2));
	cr_assert_arr_eq(got, record + size / 3, size / 2);
	cr_assert_eq(abd_get_size(hold->abd), hold->stored_size);
	if (!hold->compressed)
		cr_assert_eq(hold->stored_size, size);
}

/* Returns how many of the keys are there, all of which are right. */
static unsigned check_all(abd_arc_t *arc, uint64_t version)
{
	unsigned count = 0;

	for (uint64_t n = 0; n < KEYS; n++) {
		abd_arc_key_t key = arc_key(n);
		abd_arc_hold_t hold;

		if (abd_arc_hold(arc, &key, &hold) != 0)
			continue;
		check_held(&hold, n, version);
		abd_arc_release(&hold);
		count++;
	}
	return count;
}

Test(arc_aligned, what_is_held_stays_where_it_is)
{
	static abd_arc_hold_t hold[KEYS];
	abd_arc_t *arc = arc_make((size_t)128 << 20, 0, 0);

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
		check_held(&hold[n], n, 0);
		abd_arc_release(&hold[n]);
	}
	cr_assert_eq(check_all(arc, 1), KEYS);
	abd_arc_destroy(arc);
}

/* So an engine writes it with O_DIRECT, with no buffer in between. */
Test(arc_aligned, a_record_that_was_given_in_pages_stays_in_them)
{
	static const size_t pages[] = {PAGE, 2 * PAGE, 32 * PAGE};
	abd_arc_t *arc = arc_make((size_t)128 << 20, 0, 0);

	for (uint64_t n = 0; n < sizeof(pages) / sizeof(pages[0]); n++) {
		abd_t *abd = abd_alloc_for_io(pages[n], false);
		abd_arc_key_t key = arc_key(n);
		abd_arc_hold_t hold;

		cr_assert_eq(give(arc, &key, abd, record, pages[n], ABD_ARC_PLAIN), 0);
		cr_assert_eq(abd_arc_hold(arc, &key, &hold), 0);
		cr_assert(abd_is_aligned(hold.abd, 0, pages[n], PAGE), "%zu bytes", pages[n]);
		abd_arc_release(&hold);
	}
	abd_arc_destroy(arc);
}

/* Also those that were given away, which may begin anywhere. */
Test(arc_aligned, large_records_begin_at_multiples_of_64)
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
