/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4's calls check where they may write before they begin, and report a broken contract with the
 * numbers that the caller passed.
 */
#include "abd_test.h"

#include <abd/codec.h>

Test(abd_lz4_contract, ranges_past_the_end_are_told_by_the_call_with_its_numbers)
{
	abd_t *volatile dst = abd_alloc_linear(100, false), *volatile src =
								    abd_alloc_linear(200, false);

	abd_zero(src, 200);
	abd_test_expect_contract(
		(void)abd_lz4_compress(dst, src, 101, 0, 200), "abd_lz4_compress: range [101, +0)");
	abd_test_expect_contract(
		(void)abd_lz4_compress(dst, src, 0, 150, 60), "abd_lz4_compress: range [150, +60)");
	abd_test_expect_contract((void)abd_lz4_decompress(dst, src, 90, 20, 0, 200),
		"abd_lz4_decompress: range [90, +20)");
	abd_test_expect_contract((void)abd_lz4_decompress(dst, src, 0, 20, 150, 60),
		"abd_lz4_decompress: range [150, +60)");
	cr_assert_eq(abd_lz4_compress(dst, src, 100, 0, 200), -ENOSPC, "no room, but none too few");
	abd_free(src);
	abd_free(dst);
}
