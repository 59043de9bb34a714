/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparing buffers: the iterator gives spans, and a kernel of lib/compare compares them. The
 * kernel also gets the addresses of the next spans, to fetch them while it compares these.
 * OpenZFS: abd_cmp(), abd_cmp_buf_off(), abd_cmp_zero_off() in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_compare_kernel.h"
#include "abd_iter.h"

#include <abd/compare.h>
#include <abd/operate.h>

static int abd_cmp_spans(const abd_t *a, const abd_t *b, size_t size)
{
	const struct abd_compare_kernel *kernel = abd_compare_for(size);
	struct abd_iter ia, ib;
	int order = 0;

	abd_iter_begin(&ia, a, 0, size);
	abd_iter_begin(&ib, b, 0, size);
	while (ia.len > 0 && order == 0) {
		size_t n = abd_min(ia.len, ib.len);

		order = kernel->order(
			ia.addr, ib.addr, n, abd_iter_next(&ia, n), abd_iter_next(&ib, n));
		abd_iter_advance(&ia, n);
		abd_iter_advance(&ib, n);
	}
	return order;
}

int abd_cmp(const abd_t *dabd, const abd_t *sabd)
{
	abd_check(__func__, dabd);
	abd_check(__func__, sabd);
	ABD_REQUIRE(dabd->abd_size == sabd->abd_size,
		"buffers of %zu and %zu bytes are compared; their sizes must be equal",
		dabd->abd_size, sabd->abd_size);
	return abd_cmp_spans(dabd, sabd, dabd->abd_size);
}

int abd_cmp_buf_off(const abd_t *abd, const void *buf, size_t off, size_t size)
{
	const char *with = buf;
	struct abd_iter iter;
	int order = 0;

	abd_check_pieces(__func__, abd, off, size);
	ABD_REQUIRE(buf != NULL || size == 0, "memory is NULL");

	const struct abd_compare_kernel *kernel = abd_compare_for(size);

	abd_iter_begin(&iter, abd, off, size);
	while (iter.len > 0 && order == 0) {
		order = kernel->order(
			iter.addr, with, iter.len, abd_iter_next(&iter, iter.len), NULL);
		with += iter.len;
		abd_iter_advance(&iter, iter.len);
	}
	return order;
}

int abd_cmp_zero_off(const abd_t *abd, size_t off, size_t size)
{
	struct abd_iter iter;
	bool zero = true;

	abd_check_pieces(__func__, abd, off, size);

	const struct abd_compare_kernel *kernel = abd_compare_for(size);

	abd_iter_begin(&iter, abd, off, size);
	while (iter.len > 0 && zero) {
		zero = kernel->zero(iter.addr, iter.len, abd_iter_next(&iter, iter.len));
		abd_iter_advance(&iter, iter.len);
	}
	return zero ? 0 : 1;
}

bool abd_equal_off(const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size)
{
	struct abd_iter ia, ib;
	bool equal = true;

	abd_check_range(__func__, a, a_off, size);
	abd_check_range(__func__, b, b_off, size);

	const struct abd_compare_kernel *kernel = abd_compare_for(size);

	abd_iter_begin(&ia, a, a_off, size);
	abd_iter_begin(&ib, b, b_off, size);
	while (ia.len > 0 && equal) {
		size_t n = abd_min(ia.len, ib.len);

		equal = kernel->equal(
			ia.addr, ib.addr, n, abd_iter_next(&ia, n), abd_iter_next(&ib, n));
		abd_iter_advance(&ia, n);
		abd_iter_advance(&ib, n);
	}
	return equal;
}

bool abd_equal(const abd_t *a, const abd_t *b)
{
	abd_check(__func__, a);
	abd_check(__func__, b);
	return a->abd_size == b->abd_size && abd_equal_off(a, b, 0, 0, a->abd_size);
}

bool abd_equal_buf_off(const abd_t *abd, const void *buf, size_t off, size_t size)
{
	const char *with = buf;
	struct abd_iter iter;
	bool equal = true;

	abd_check_range(__func__, abd, off, size);
	ABD_REQUIRE(buf != NULL || size == 0, "memory is NULL");

	const struct abd_compare_kernel *kernel = abd_compare_for(size);

	abd_iter_begin(&iter, abd, off, size);
	while (iter.len > 0 && equal) {
		equal = kernel->equal(
			iter.addr, with, iter.len, abd_iter_next(&iter, iter.len), NULL);
		with += iter.len;
		abd_iter_advance(&iter, iter.len);
	}
	return equal;
}

size_t abd_diff_off(const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size)
{
	struct abd_iter ia, ib;

	abd_check_range(__func__, a, a_off, size);
	abd_check_range(__func__, b, b_off, size);

	const struct abd_compare_kernel *kernel = abd_compare_for(size);

	abd_iter_begin(&ia, a, a_off, size);
	abd_iter_begin(&ib, b, b_off, size);
	while (ia.len > 0) {
		size_t n = abd_min(ia.len, ib.len);
		size_t same = kernel->diff(
			ia.addr, ib.addr, n, abd_iter_next(&ia, n), abd_iter_next(&ib, n));

		if (same < n)
			return size - ia.left + same;
		abd_iter_advance(&ia, n);
		abd_iter_advance(&ib, n);
	}
	return size;
}
