/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies larger than any cache. Kernels make them with stores that stream past the caches, and must
 * fence them: another thread that learns of the copy must read the copied bytes.
 */
#include "abd_test.h"

enum { SIZE = (32 << 20) + 100 };

Test(abd_copy_large, copies_beyond_the_caches_are_whole)
{
	abd_t *abd = abd_alloc(SIZE, false), *to = abd_alloc(SIZE, false);
	uint64_t seed = 1;
	char *flat = malloc(SIZE + 8), *back = calloc(1, SIZE);

	cr_assert(abd != NULL && to != NULL && flat != NULL && back != NULL);
	abd_test_random_fill(&seed, flat, SIZE);
	abd_copy_from_buf(abd, flat, SIZE);
	cr_assert(abd_equal_buf_off(abd, flat, 0, SIZE));
	abd_copy(to, abd, SIZE);
	cr_assert(abd_equal_buf_off(to, flat, 0, SIZE));
	abd_copy_to_buf(back, to, SIZE);
	cr_assert_eq(memcmp(back, flat, SIZE), 0);
	free(back);
	free(flat);
	abd_free(to);
	abd_free(abd);
}
