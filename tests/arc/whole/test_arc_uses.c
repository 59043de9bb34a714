/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What counts as a use: a scan that reads its records in pieces is no more than one that reads them
 * whole, and the policy's clock may stand anywhere.
 */
#include "abd_arc_impl.h"
#include "arc_data.h"

enum { RECORD = 8192, HOT = 1000, CAPACITY = 16 << 20 };

static char data[RECORD];

/* Read a piece of a record, and put the record first if it is not there. Returns whether it was. */
static bool use_piece(abd_arc_t *arc, uint64_t n, unsigned pieces, unsigned piece)
{
	size_t size = RECORD / pieces;
	char read[RECORD];

	if (abd_arc_read(arc, arc_at(n), read, piece * size, size) >= 0)
		return true;
	abd_test_check(abd_arc_put(arc, arc_at(n), data, RECORD) == 0, "put");
	return false;
}

/* Let the period pass, or (a large negative number) make sure that it does not. */
static void pass(abd_arc_t *arc, int64_t us)
{
	atomic_fetch_add(&arc->policy.shared.hurry_us, (uint64_t)us);
}

static abd_arc_t *make_hot(void)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	arc_fill(data, RECORD, 1, 1, 64);
	cr_assert_not_null(arc);
	for (unsigned round = 0; round < 3; round++, pass(arc, 62000))
		for (uint64_t n = 0; n < HOT; n++)
			use_piece(arc, n, 1, 0);
	return arc;
}

/*
 * Scan four times the capacity, beside reads of the hot set. Several scans take turns, one piece
 * each.
 */
static double hot_hits(unsigned pieces, unsigned scans)
{
	enum { RECORDS = 4 * CAPACITY / RECORD };
	abd_arc_t *arc = make_hot();
	unsigned hits = 0;

	for (uint64_t n = 0; n < RECORDS / scans; n++) {
		for (unsigned piece = 0; piece < pieces; piece++)
			for (unsigned i = 1; i <= scans; i++)
				use_piece(arc, i * 1000000 + n, pieces, piece);
		for (unsigned i = 0; i < scans; i++)
			hits += use_piece(arc, (n * scans + i) % HOT, 1, 0);
	}
	abd_arc_destroy(arc);
	return (double)hits / (double)RECORDS;
}

Test(arc_uses, a_scan_in_pieces_leaves_the_hot_set)
{
	static const unsigned pieces[] = {1, 2, 3, 8, 64};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		for (unsigned scans = 1; scans <= 2; scans++) {
			double hits = hot_hits(pieces[i], scans);

			cr_expect(hits >= 0.97, "%u scans in %u pieces: %.3f hot hits", scans,
				pieces[i], hits);
		}
	}
}

static bool is_frequent(abd_arc_t *arc)
{
	return arc_stats(arc).frequent_bytes > 0;
}

static void read_often(abd_arc_t *arc, uint64_t n, unsigned times)
{
	char byte;

	for (unsigned i = 0; i < times; i++)
		cr_assert_eq(abd_arc_read(arc, arc_at(n), &byte, 0, 1), 1);
}

Test(arc_uses, a_new_records_uses_are_one_use_until_the_period_is_over)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	cr_assert_not_null(arc);
	use_piece(arc, 1, 1, 0);
	pass(arc, -10000000);
	read_often(arc, 1, 1000);
	cr_assert_not(is_frequent(arc));
	cr_assert_eq(arc_stats(arc).hits, 1000);
	pass(arc, 10000000 + 62000);
	read_often(arc, 1, 65);
	cr_assert(is_frequent(arc));
	abd_arc_destroy(arc);
}

Test(arc_uses, what_comes_in_makes_the_period_shorter)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	cr_assert_not_null(arc);
	arc_fill(data, RECORD, 1, 1, 64);
	use_piece(arc, 1, 1, 0);
	for (uint64_t n = 2; n < 2 + CAPACITY / 16 / RECORD; n++)
		use_piece(arc, n, 1, 0);
	read_often(arc, 1, 65);
	cr_assert(is_frequent(arc));
	abd_arc_destroy(arc);
}

Test(arc_uses, with_batches_of_one_every_use_counts)
{
	abd_arc_t *arc = arc_make(CAPACITY, 1, 0);

	cr_assert_not_null(arc);
	use_piece(arc, 1, 1, 0);
	pass(arc, -10000000);
	read_often(arc, 1, 1);
	cr_assert(is_frequent(arc));
	abd_arc_destroy(arc);
}

/* A stamp has 56 bits for time. */
Test(arc_uses, time_does_not_hurry_for_ever)
{
	const uint64_t almost = ((uint64_t)1 << 55) - 1000;
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0);

	cr_assert_not_null(arc);
	pass(arc, (int64_t)almost);
	for (uint64_t n = 0; n < CAPACITY / 16 / RECORD; n++)
		use_piece(arc, n, 1, 0);
	cr_assert_eq(arc->policy.shared.hurry_us - almost, 968, "a 64th of 62,000");
	cr_assert_not(is_frequent(arc));
	abd_arc_destroy(arc);
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void move(abd_arc_t *arc, uint64_t clock)
{
	if (arc->policy.clock < clock)
		arc->policy.clock = clock;
	/* A record that came back, and goes at once: one move. */
	use_piece(arc, 1000, 1, 0);
	pass(arc, 10000000);
	read_often(arc, 1000, 65);
}

static struct abd_arc_item *oldest(abd_arc_t *arc)
{
	return (struct abd_arc_item *)(void *)arc->policy.frequent.head.prev;
}

static void at_clock(uint32_t batch, uint64_t from, uint64_t to)
{
	abd_arc_t *arc = arc_make(CAPACITY, batch, 0);

	cr_assert_not_null(arc);
	move(arc, from);
	for (uint64_t n = 0; n < 8; n++)
		use_piece(arc, n, 1, 0);
	move(arc, to);

	/* Used once, long ago. */
	uint64_t before = arc_stats(arc).frequent_bytes;

	for (uint64_t n = 0; n < 8; n++)
		read_often(arc, n, 65);
	cr_assert_gt(arc_stats(arc).frequent_bytes, 6 * before, "from %#llx to %#llx: used once",
		(unsigned long long)from, (unsigned long long)to);

	/* The oldest of T2 is used: it comes to the front. */
	for (unsigned i = 0; i < 4; i++) {
		struct abd_arc_entry *last = abd_arc_entry_of(oldest(arc));
		char byte;

		move(arc, to + 4 + i);
		for (unsigned j = 0; j < 65; j++)
			cr_assert_eq(abd_arc_read(arc, &last->key, &byte, 0, 1), 1);
		cr_assert_neq(oldest(arc), &last->item, "from %#llx to %#llx: stays the oldest",
			(unsigned long long)from, (unsigned long long)to);
	}
	abd_arc_destroy(arc);
}

Test(arc_uses, the_clock_may_stand_anywhere)
{
	static const unsigned bits[] = {0, 8, 16, 26, 27, 28, 29, 30, 31, 40, 48, 52};
	enum { BITS = sizeof(bits) / sizeof(bits[0]) };

	arc_fill(data, RECORD, 1, 1, 64);
	for (unsigned i = 0; i < BITS; i++) {
		for (unsigned j = i; j < BITS; j++) {
			uint64_t from = (uint64_t)1 << bits[i],
				 to = from + ((uint64_t)1 << bits[j]);

			at_clock(0, from - 1, to - 1);
			at_clock(1, from - 1, to - 1);
			at_clock(0, from, to > 6 ? to - 6 : to);
		}
	}
}
