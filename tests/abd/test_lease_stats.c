/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leases are counted like borrows, together with every byte that is copied in either direction. A
 * piece that is lent in place copies none.
 */
#include "abd_lease.h"
#include "abd_test_fixture.h"

enum { SIZE = 3 * 4096, WRITTEN = 5000 };

static void expect_counted(uint64_t borrows, uint64_t copies, uint64_t bytes)
{
	struct abd_stats now = abd_test_stats();

	cr_assert_eq(now.borrow_cnt - before.borrow_cnt, borrows);
	cr_assert_eq(now.borrow_copy_cnt - before.borrow_copy_cnt, copies);
	cr_assert_eq(now.borrow_copy_bytes - before.borrow_copy_bytes, bytes);
}

Test(abd_lease_stats, what_is_copied_out_and_back_is_counted, .init = begin, .fini = end)
{
	struct abd_lease lease;

	abd_tuning_set("max_order", "0");
	abd_t *abd = abd_alloc(SIZE, false);

	cr_assert(abd != NULL && !abd_is_linear(abd));
	abd_zero(abd, SIZE);
	cr_assert(abd_lease_read(&lease, abd, 0, SIZE));
	abd_lease_end(&lease);
	expect_counted(1, 1, SIZE);
	cr_assert(abd_lease_write(&lease, __func__, abd, 0, SIZE));
	memset(lease.buf, 1, WRITTEN);
	abd_lease_put(&lease, abd, 0, WRITTEN);
	abd_lease_end(&lease);
	expect_counted(2, 2, SIZE + WRITTEN);

	/* Within one run: in place. */
	cr_assert(abd_lease_read(&lease, abd, 4096, 4096));
	abd_lease_end(&lease);
	cr_assert(abd_lease_write(&lease, __func__, abd, 1, 4095));
	abd_lease_put(&lease, abd, 1, 4095);
	abd_lease_end(&lease);
	expect_counted(4, 2, SIZE + WRITTEN);
	abd_free(abd);
}
