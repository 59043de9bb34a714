/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leases over every kind and range: in place if the range is one piece. Otherwise the lease is a
 * copy, and only its written part is copied back to the buffer.
 */
#include "abd_lease.h"
#include "abd_test_fixture.h"

static bool one_piece(const struct abd_test_buffer *b, size_t off, size_t size)
{
	size_t start = 0;

	for (size_t i = 0; i < b->piece_count; start += b->piece[i++].iov_len)
		if (off >= start && off + size <= start + b->piece[i].iov_len)
			return true;
	return false;
}

static void check_lease(struct abd_test_buffer *b, size_t off, size_t size)
{
	uint64_t copies = abd_test_stats().borrow_copy_cnt;
	struct abd_lease lease;

	abd_test_check(abd_lease_read(&lease, b->abd, off, size), "no memory");
	abd_test_check(lease.buf != NULL && memcmp(lease.buf, b->model + off, size) == 0,
		"%s: [%zu, +%zu)", b->kind, off, size);
	if (size > 0 && one_piece(b, off, size))
		abd_test_check(abd_test_stats().borrow_copy_cnt == copies,
			"%s: [%zu, +%zu) was copied", b->kind, off, size);
	abd_lease_end(&lease);
	if (!b->writes || size == 0)
		return;

	size_t written = size - size / 3;

	abd_test_check(abd_lease_write(&lease, __func__, b->abd, off, size), "no memory");
	memset(lease.buf, (int)off & 0xff, written);
	memset(b->model + off, (int)off & 0xff, written);
	abd_lease_put(&lease, b->abd, off, written);
	abd_lease_end(&lease);
	abd_test_check(abd_test_differs(b) == b->size, "%s: [%zu, +%zu) at %zu", b->kind, off,
		written, abd_test_differs(b));
}

Test(abd_lease, every_kind_and_range_is_lent_as_one_piece, .init = begin, .fini = end)
{
	abd_test_each_range(check_lease);
}

Test(abd_lease, zeros_are_not_leased_to_write, .init = begin, .fini = end)
{
	abd_t *zeros = abd_get_zeros(100);
	struct abd_lease lease;

	abd_test_expect_contract(
		abd_lease_write(&lease, __func__, zeros, 0, 1), "can't be written");
	abd_free(zeros);
}

enum { SIZE = 3 * 4096, WRITTEN = 5000 };

static void expect_counted(uint64_t borrows, uint64_t copies, uint64_t bytes)
{
	struct abd_stats now = abd_test_stats();

	cr_assert_eq(now.borrow_cnt - before.borrow_cnt, borrows);
	cr_assert_eq(now.borrow_copy_cnt - before.borrow_copy_cnt, copies);
	cr_assert_eq(now.borrow_copy_bytes - before.borrow_copy_bytes, bytes);
}

Test(abd_lease, what_is_copied_out_and_back_is_counted, .init = begin, .fini = end)
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
