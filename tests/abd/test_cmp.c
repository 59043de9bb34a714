/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparing every pair of kinds at every boundary, against flat bytes: equal ranges, and ranges
 * with one byte changed.
 */
#include "abd_test.h"

static void begin(void)
{
	abd_test_provider_begin();
}

static void end(void)
{
	cr_assert_eq(abd_test_runs_out_all(), 0);
	abd_test_provider_end();
}

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static size_t model_diff(const uint8_t *a, const uint8_t *b, size_t n)
{
	size_t at = 0;

	while (at < n && a[at] == b[at])
		at++;
	return at;
}

static void check_range(const struct abd_test_buffer *a, const struct abd_test_buffer *b,
	size_t a_off, size_t b_off, size_t n)
{
	size_t diff = model_diff(a->model + a_off, b->model + b_off, n);
	int order = sign(memcmp(a->model + a_off, b->model + b_off, n));

	abd_test_check(abd_diff_off(a->abd, b->abd, a_off, b_off, n) == diff,
		"diff_off: %s at %zu, %s at %zu, %zu bytes: not %zu", a->kind, a_off, b->kind,
		b_off, n, diff);
	abd_test_check(abd_equal_off(a->abd, b->abd, a_off, b_off, n) == (diff == n),
		"equal_off: %s at %zu, %s at %zu, %zu bytes", a->kind, a_off, b->kind, b_off, n);
	abd_test_check(sign(abd_cmp_buf_off(a->abd, b->model + b_off, a_off, n)) == order,
		"cmp_buf_off: %s at %zu, %zu bytes", a->kind, a_off, n);
	abd_test_check(abd_equal_buf_off(a->abd, b->model + b_off, a_off, n) == (diff == n),
		"equal_buf_off: %s at %zu, %zu bytes", a->kind, a_off, n);
}

static void check_whole(const struct abd_test_buffer *a, const struct abd_test_buffer *b)
{
	int order = sign(memcmp(a->model, b->model, a->size));

	abd_test_check(sign(abd_cmp(a->abd, b->abd)) == order, "cmp: %s, %s", a->kind, b->kind);
	abd_test_check(sign(abd_cmp(b->abd, a->abd)) == -order, "cmp: %s, %s", b->kind, a->kind);
	abd_test_check(
		abd_equal(a->abd, b->abd) == (order == 0), "equal: %s, %s", a->kind, b->kind);
}

/* Make b the same as a, as far as it can be written: through memory, not through the library. */
static void make_same(const struct abd_test_buffer *a, struct abd_test_buffer *b)
{
	size_t at = 0;

	for (size_t i = 0; i < b->piece_count; at += b->piece[i].iov_len, i++) {
		memcpy(b->piece[i].iov_base, a->model + at, b->piece[i].iov_len);
		memcpy(b->model + at, a->model + at, b->piece[i].iov_len);
	}
}

static void flip(struct abd_test_buffer *b, size_t at, uint8_t bits)
{
	size_t start = 0, i = 0;

	while (at - start >= b->piece[i].iov_len)
		start += b->piece[i++].iov_len;
	((uint8_t *)b->piece[i].iov_base)[at - start] ^= bits;
	b->model[at] ^= bits;
}

/*
 * With one byte of b changed at each boundary of either side: ranges that stop before it, end with
 * it, and start there.
 */
static void check_changed(struct abd_test_buffer *a, struct abd_test_buffer *b, size_t at)
{
	if (at == a->size)
		return;
	flip(b, at, 0x80);
	check_whole(a, b);
	check_range(a, b, 0, 0, at);
	check_range(a, b, 0, 0, at + 1);
	check_range(a, b, at, at, a->size - at);
	check_range(a, b, at / 2, at / 2, a->size - at / 2);
	flip(b, at, 0x80);
}

static void check_pair(struct abd_test_buffer *a, struct abd_test_buffer *b)
{
	size_t a_off[ABD_TEST_OFFSETS], b_off[ABD_TEST_OFFSETS];
	size_t a_count = abd_test_offsets(a, a_off), b_count = abd_test_offsets(b, b_off);

	for (size_t i = 0; i < a_count * b_count; i++) {
		size_t x = a_off[i / b_count], y = b_off[i % b_count];

		check_range(a, b, x, y, a->size - (x > y ? x : y));
	}
	check_whole(a, b);
	if (!b->writes)
		return;
	make_same(a, b);
	check_whole(a, b);
	for (size_t i = 0; i < a_count; i++)
		check_changed(a, b, a_off[i]);
	for (size_t i = 0; i < b_count; i++)
		check_changed(a, b, b_off[i]);
}

TestSuite(abd_cmp, .init = begin, .fini = end);

Test(abd_cmp, every_pair_of_kinds_compares_at_every_boundary)
{
	abd_test_each_pair(check_pair);
}

Test(abd_cmp, every_pair_of_kinds_compares_by_the_scalar_kernel)
{
	abd_tuning_set("compare", "scalar");
	abd_test_each_pair(check_pair);
}

static void check_zero(struct abd_test_buffer *b)
{
	size_t off[ABD_TEST_OFFSETS], count = abd_test_offsets(b, off);

	if (!b->writes)
		return;
	abd_zero(b->abd, b->size);
	memset(b->model, 0, b->size);
	cr_assert_eq(abd_test_differs(b), b->size);
	for (size_t i = 0; i + 1 < count; i++) {
		size_t at = off[i];

		flip(b, at, 1);
		cr_assert(abd_cmp_zero(b->abd, b->size) != 0, "%s: %zu", b->kind, at);
		cr_assert(abd_cmp_zero_off(b->abd, at, 1) != 0, "%s: %zu", b->kind, at);
		cr_assert(abd_cmp_zero_off(b->abd, 0, at) == 0, "%s: %zu", b->kind, at);
		cr_assert(abd_cmp_zero_off(b->abd, at + 1, b->size - at - 1) == 0, "%s", b->kind);
		flip(b, at, 1);
	}
}

Test(abd_cmp, one_byte_that_is_not_zero_is_found_anywhere)
{
	abd_test_each_kind(check_zero);
}

Test(abd_cmp, bytes_compare_as_unsigned)
{
	uint8_t low[3] = {1, 0x7f, 9}, high[3] = {1, 0x80, 0};
	abd_t a, b;

	abd_get_from_buf_struct(&a, low, 3);
	abd_get_from_buf_struct(&b, high, 3);
	cr_assert_lt(abd_cmp(&a, &b), 0);
	cr_assert_gt(abd_cmp(&b, &a), 0);
	cr_assert_lt(abd_cmp_buf(&a, high, 3), 0);
	abd_free(&a);
	abd_free(&b);
}

Test(abd_cmp, sizes_that_differ_are_not_equal)
{
	abd_t *a = abd_get_zeros(5000), *b = abd_get_zeros(5001);

	cr_assert(!abd_equal(a, b));
	cr_assert(abd_equal_off(a, b, 0, 0, 5000));
	abd_free(a);
	abd_free(b);
}
