/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The struct of counters for callers built against an older or a newer library, and the count of
 * borrows.
 */
#include "abd_test.h"

#include <abd/compat/openzfs.h>

static void begin(void)
{
	abd_test_provider_begin();
}

static void end(void)
{
	abd_test_provider_end();
}

TestSuite(abd_stats, .init = begin, .fini = end);

Test(abd_stats, a_shorter_record_is_filled_as_far_as_it_goes)
{
	abd_t *abd = abd_alloc(5 << 12, false);
	struct abd_stats whole = abd_test_stats();
	uint64_t part[sizeof(whole) / 8 + 8];

	for (size_t n = 1; n <= sizeof(whole) / 8; n++) {
		memset(part, 0x5a, sizeof(part));
		cr_assert_eq(abd_stats_get((struct abd_stats *)(void *)part, 8 * n), 0);
		cr_assert_eq(memcmp(part, &whole, 8 * n), 0);
		cr_assert_eq(part[n], 0x5a5a5a5a5a5a5a5a);
	}
	abd_free(abd);
}

Test(abd_stats, the_tail_of_a_longer_record_is_zeroed)
{
	struct abd_stats whole = abd_test_stats();
	uint64_t longer[sizeof(whole) / 8 + 8];

	memset(longer, 0x5a, sizeof(longer));
	cr_assert_eq(abd_stats_get((struct abd_stats *)(void *)longer, sizeof(longer) - 8), 0);
	cr_assert_eq(memcmp(longer, &whole, sizeof(whole)), 0);
	for (size_t i = 0; i < 7; i++)
		cr_assert_eq(longer[sizeof(whole) / 8 + i], 0);
	cr_assert_eq(longer[sizeof(whole) / 8 + 7], 0x5a5a5a5a5a5a5a5a);
}

Test(abd_stats, sizes_that_no_record_has_are_invalid)
{
	struct abd_stats stats;

	for (size_t size = 0; size < sizeof(stats); size++)
		cr_assert_eq(abd_stats_get(&stats, size), size > 0 && size % 8 == 0 ? 0 : -EINVAL);
}

Test(abd_stats, borrows_are_counted_with_the_bytes_they_copy)
{
	abd_t *multi = abd_alloc(5 << 12, false), *single = abd_alloc(4096, false);
	struct abd_stats at = abd_test_stats(), now;
	void *buf;

	abd_zero(multi, 5 << 12);
	buf = abd_borrow_buf_copy(multi, 9000);
	abd_return_buf(multi, buf, 9000);
	buf = abd_borrow_buf_copy(multi, 1000);
	abd_return_buf_copy(multi, buf, 1000);
	buf = abd_borrow_buf(multi, 500);
	memset(buf, 0, 500);
	abd_return_buf_copy(multi, buf, 500);
	buf = abd_borrow_buf_copy(single, 4096);
	abd_return_buf_copy(single, buf, 4096);
	now = abd_test_stats();
	cr_assert_eq(now.borrow_cnt - at.borrow_cnt, 4);
	cr_assert_eq(now.borrow_copy_cnt - at.borrow_copy_cnt, 3);
	cr_assert_eq(now.borrow_copy_bytes - at.borrow_copy_bytes, 9000 + 2 * 1000 + 500);
	abd_free(multi);
	abd_free(single);
}

Test(abd_stats, openzfs_engines_assign_to_the_switch)
{
	zfs_abd_scatter_enabled = B_FALSE;
	cr_assert(abd_size_alloc_linear(1 << 20));
	cr_assert_str_eq(abd_tuning_get("scatter_enabled"), "0");
	zfs_abd_scatter_enabled = B_TRUE;
	cr_assert(!abd_size_alloc_linear(1 << 20));
}
