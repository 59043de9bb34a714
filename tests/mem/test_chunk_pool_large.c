/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pool whose size does not fit in 32 bits. Only addresses are used: pages that are not touched
 * take no memory.
 */
#include "abd_test.h"

#include <abd/pool.h>

enum { TAKEN = 64, FOUR_GIB_SHIFT = 32 };

static int take_and_give_back(char *base, size_t size)
{
	struct abd_pool_stats was, now;
	abd_t *taken[TAKEN];
	size_t beyond = 0;

	abd_cache_reap_now();
	abd_test_child_expect(abd_pool_stats_get(&was, sizeof(was)) == 0);
	for (size_t i = 0; i < TAKEN; i++) {
		taken[i] = abd_alloc(4096, false);
		abd_test_child_expect(taken[i] != NULL);

		size_t at = (size_t)((char *)abd_to_buf(taken[i]) - base);

		abd_test_child_expect(at < size);
		beyond += at >> (FOUR_GIB_SHIFT - 1) > 1;
		memset(abd_to_buf(taken[i]), (int)i, 4096);
	}
	/* runs come from the region's end first, or this tests nothing */
	abd_test_child_expect(beyond > 0);
	for (size_t i = 0; i < TAKEN; i++) {
		abd_test_child_expect(*(char *)abd_to_buf(taken[i]) == (char)i);
		abd_free(taken[i]);
	}
	abd_cache_reap_now();
	abd_test_child_expect(abd_pool_stats_get(&now, sizeof(now)) == 0);
	return memcmp(&was, &now, sizeof(now)) != 0;
}

ABD_TEST_CHILD(large_pool_is_used)
{
	void *base;
	size_t size;

	if (strcmp(abd_tuning_get("chunk_provider"), "pool") != 0) {
		fprintf(stderr, "left out, no room for 8 GiB of addresses\n");
		return 0;
	}
	abd_test_child_expect(abd_pool_region(&base, &size) == 0);
	abd_test_child_expect(size >> 30 == 8);
	return take_and_give_back(base, size);
}

Test(abd_chunk_pool_large, runs_beyond_4_gib_lie_where_they_should_and_come_back)
{
	if (sizeof(size_t) == 8)
		abd_test_child_passes("large_pool_is_used",
			(const char *[]){"ABD_POOL_SIZE=8589934592", "ABD_CHUNK_PROVIDER=pool",
				"ABD_THREAD_CACHE_BYTES=0", NULL});
}
