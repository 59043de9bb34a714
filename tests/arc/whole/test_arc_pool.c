/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache over the pool, whose region can't hold more than pool_size: a larger cache is refused at
 * once, and one of that size is filled without running out of memory.
 */
#include "arc_data.h"

#define POOL ((size_t)32 << 20)
#define expect(condition) abd_test_child_expect(condition)

static int fill(abd_arc_t *arc, size_t bytes)
{
	static char record[100000];
	uint64_t seed = 1, n = 0;

	for (size_t put = 0; put < bytes;) {
		abd_arc_key_t key = arc_key(n++);
		size_t size = 1 + (size_t)(abd_test_random(&seed) % sizeof(record));

		arc_fill(record, size, n, 0, 64);
		expect(abd_arc_put(arc, &key, record, size) == 0);
		put += size;
	}
	return 0;
}

ABD_TEST_CHILD(arc_in_pool)
{
	abd_arc_t *arc;

	errno = 0;
	expect(arc_make(POOL + 1, 0, 0) == NULL && errno == ENOSPC);
	arc = arc_make(POOL, 0, 0);
	expect(arc != NULL);
	expect(abd_arc_resize(arc, POOL + 1) == -ENOSPC);
	expect(arc_stats(arc).capacity_bytes == POOL);
	expect(abd_arc_resize(arc, POOL / 2) == 0);
	expect(abd_arc_resize(arc, POOL) == 0);
	expect(fill(arc, 8 * POOL) == 0);
	expect(arc_stats(arc).used_bytes > POOL / 2);
	abd_arc_destroy(arc);
	return 0;
}

Test(arc_pool, a_cache_larger_than_the_pool_is_refused)
{
	abd_test_child_passes("arc_in_pool",
		(const char *[]){"ABD_POOL_SIZE=33554432", "ABD_CHUNK_PROVIDER=pool", NULL});
}
