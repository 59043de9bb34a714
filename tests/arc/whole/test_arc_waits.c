/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How often puts wait for readers: hardly ever in the steady state, whatever the cache held before.
 */
#include "arc_data.h"

#include <criterion/criterion.h>

enum { CAPACITY = 32 << 20, LARGE = 32768, SMALL = 64, PUTS = 4000 };

static char data[LARGE];

static void put_many(abd_arc_t *arc, uint64_t first, unsigned count, size_t size)
{
	for (uint64_t n = first; n < first + count; n++) {
		abd_arc_key_t key = arc_key(n);

		abd_test_check(abd_arc_put(arc, &key, data, size) == 0, "put");
	}
}

Test(arc_waits, the_index_shrinks_after_many_small_records, .timeout = 120)
{
	abd_arc_t *arc = arc_make(CAPACITY, 0, 0), *fresh = arc_make(CAPACITY, 0, 0);

	cr_assert(arc != NULL && fresh != NULL);
	arc_fill(data, sizeof(data), 1, 1, 64);
	put_many(arc, 0, 3 * CAPACITY / 256, SMALL);

	uint64_t small_index = arc_stats(arc).index_bytes, waits, fresh_waits;

	put_many(arc, 1u << 30, PUTS, LARGE);
	put_many(fresh, 1u << 30, PUTS, LARGE);
	waits = arc_stats(arc).grace_periods;
	fresh_waits = arc_stats(fresh).grace_periods;
	put_many(arc, 1u << 31, PUTS, LARGE);
	put_many(fresh, 1u << 31, PUTS, LARGE);
	waits = arc_stats(arc).grace_periods - waits;
	fresh_waits = arc_stats(fresh).grace_periods - fresh_waits;

	struct abd_arc_stats after = arc_stats(arc);

	cr_log_info("%u waits for %u puts, %u in a fresh cache", (unsigned)waits, PUTS,
		(unsigned)fresh_waits);
	cr_expect_leq(waits, fresh_waits + fresh_waits / 10, "%u waits, %u in a fresh cache",
		(unsigned)waits, (unsigned)fresh_waits);
	cr_expect_leq(after.index_bytes, small_index / 4, "%zu bytes of index, %zu before",
		(size_t)after.index_bytes, (size_t)small_index);
	cr_expect_geq(after.entries * 100, arc_stats(fresh).entries * 97, "%zu records, %zu",
		(size_t)after.entries, (size_t)arc_stats(fresh).entries);
	cr_expect_leq(after.used_bytes, after.capacity_bytes);
	abd_arc_destroy(arc);
	abd_arc_destroy(fresh);
}
