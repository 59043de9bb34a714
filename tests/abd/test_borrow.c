/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Borrowing from every kind: the first n bytes, in place where the kind is linear, a copy
 * elsewhere; written back only when asked.
 */
#include "abd_test_fixture.h"

typedef void check_t(struct abd_test_buffer *b, size_t n);

/* Each kind, n at each boundary. */
static void every_kind(check_t *check)
{
	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer b;
		size_t offsets[ABD_TEST_OFFSETS];

		abd_test_build(&b, kind, kind);

		size_t count = abd_test_offsets(&b, offsets);

		for (size_t i = 1; i < count; i++)
			check(&b, offsets[i]);
		abd_test_drop(&b);
	}
}

static void copy_and_return(struct abd_test_buffer *b, size_t n)
{
	struct abd_stats at = abd_test_stats(), now;
	char *buf = abd_borrow_buf_copy(b->abd, n);
	bool linear = abd_is_linear(b->abd);

	cr_assert(buf != NULL && memcmp(buf, b->model, n) == 0, "%s, %zu bytes", b->kind, n);
	cr_assert_eq(linear, buf == b->piece[0].iov_base, "%s", b->kind);
	abd_return_buf(b->abd, buf, n);
	now = abd_test_stats();
	cr_assert_eq(now.borrow_copy_bytes - at.borrow_copy_bytes, linear ? 0 : n);
	cr_assert_eq(abd_test_differs(b), b->size, "%s, %zu bytes", b->kind, n);
}

TestSuite(abd_borrow, .init = begin, .fini = end);

Test(abd_borrow, unchanged_copy_returns_without_writing)
{
	every_kind(copy_and_return);
}

static void write_back(struct abd_test_buffer *b, size_t n)
{
	char *buf;

	if (!b->writes)
		return;
	buf = abd_borrow_buf(b->abd, n);
	cr_assert_not_null(buf);
	memset(buf, (int)(n % 251), n);
	memset(b->model, (int)(n % 251), n);
	abd_return_buf_copy(b->abd, buf, n);
	cr_assert_eq(abd_test_differs(b), b->size, "%s, %zu bytes", b->kind, n);
}

Test(abd_borrow, what_was_written_is_in_the_buffer_and_nothing_behind_it)
{
	every_kind(write_back);
}

Test(abd_borrow, a_borrowed_copy_is_aligned_as_linear_memory)
{
	abd_t *abd = abd_alloc(5 << 12, false);

	abd_zero(abd, 5 << 12);
	for (size_t n = 1; n <= 5 << 12; n += 61) {
		void *buf = abd_borrow_buf_copy(abd, n);

		cr_assert_eq((uintptr_t)buf % (n >= 4096 ? 4096 : n >= 64 ? 64 : 1), 0);
		abd_return_buf(abd, buf, n);
	}
	abd_free(abd);
}

Test(abd_borrow, eight_kib_of_order_one_is_lent_twice_at_the_same_address)
{
	abd_tuning_set("max_order", "1");

	abd_t *abd = abd_alloc(8192, false);
	struct abd_stats at = abd_test_stats();
	void *first = abd_borrow_buf_copy(abd, 8192), *second;

	cr_assert(abd_is_linear(abd) && abd_is_linear_page(abd));
	abd_return_buf(abd, first, 8192);
	second = abd_borrow_buf_copy(abd, 8192);
	abd_return_buf_copy(abd, second, 8192);
	cr_assert_eq(first, second);
	cr_assert_eq(abd_test_stats().borrow_copy_cnt, at.borrow_copy_cnt);
	abd_free(abd);
}

Test(abd_borrow, without_the_rule_the_same_buffer_copies)
{
	abd_tuning_set("linear_page", "0");

	abd_t *abd = abd_alloc(8192, false);
	struct abd_stats at = abd_test_stats();
	void *buf;

	cr_assert(!abd_is_linear(abd) && !abd_is_linear_page(abd));
	abd_zero(abd, 8192);
	buf = abd_borrow_buf_copy(abd, 8192);
	abd_return_buf(abd, buf, 8192);
	cr_assert_eq(abd_test_stats().borrow_copy_cnt, at.borrow_copy_cnt + 1);
	cr_assert_eq(abd_test_stats().borrow_copy_bytes, at.borrow_copy_bytes + 8192);
	abd_free(abd);
}
