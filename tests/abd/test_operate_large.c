/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of more than any cache holds, which kernels make by stores that stream past the caches and
 * must be finished: whoever is told of the copy by another thread reads what was copied.
 */
#include "abd_test.h"

#include <criterion/criterion.h>
#include <stdlib.h>

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
