/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparing buffers: the iterator gives spans, and a kernel of lib/compare compares them. The
 * kernel also gets the addresses of the next spans, to fetch them while it compares these. A kernel
 * with lanes gets several spans at a time.
 * OpenZFS: abd_cmp(), abd_cmp_buf_off(), abd_cmp_zero_off() in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_compare_kernel.h"
#include "abd_iter.h"
#include "abd_pieces.h"
#include "abd_step.h"

#include <abd/compare.h>
#include <abd/operate.h>

/* ---- by lanes ---- */

struct abd_difference {
	size_t off; /* of the first difference; the size of the operation if there is none */
	int order;  /* memcmp's sign */
};

/*
 * Compares several spans together, a lane for each. A later lane may be the first to find a
 * difference. So what is left of each span is then compared one by one, in order.
 */
static bool abd_pieces_differ(const struct abd_compare_kernel *kernel, struct abd_pieces *now,
	struct abd_pieces *next, struct abd_difference *first)
{
	size_t same = 0;

	if (now->lane_count == kernel->lane_count)
		same = kernel->lanes(&now->lanes, now->common, abd_pieces_hint(now, next));
	if (now->even && same == now->common) {
		first->off += now->count * same;
		return false;
	}
	abd_pieces_list(now);
	abd_pieces_list(next);
	for (size_t i = 0; i < now->count; i++) {
		const struct abd_piece *piece = &now->piece[i], *behind;
		size_t done = piece->lane ? same : 0, left = piece->size - done, at;

		first->off += done;
		if (left == 0)
			continue;
		behind = abd_piece_next(now, i, next);
		at = kernel->diff(piece->a + done, piece->b + done, left,
			behind != NULL ? behind->a : NULL, behind != NULL ? behind->b : NULL);
		first->off += at;
		if (at < left) {
			first->order = (uint8_t)piece->a[done + at] - (uint8_t)piece->b[done + at];
			return true;
		}
	}
	return false;
}

static struct abd_difference abd_cmp_lanes(
	const struct abd_compare_kernel *kernel, struct abd_sides *sides)
{
	struct abd_difference first = {0, 0};
	struct abd_pieces pieces[2];
	unsigned turn = 0;

	abd_pieces_take(&pieces[0], sides, kernel->lane_count);
	while (pieces[turn].count > 0) {
		abd_pieces_take(&pieces[turn ^ 1], sides, kernel->lane_count);
		if (abd_pieces_differ(kernel, &pieces[turn], &pieces[turn ^ 1], &first))
			break;
		turn ^= 1;
	}
	return first;
}

static struct abd_difference abd_cmp_lanes_of(
	const struct abd_compare_kernel *kernel, struct abd_iter *ia, struct abd_iter *ib)
{
	struct abd_sides sides = {.ia = ia, .ib = ib};

	return abd_cmp_lanes(kernel, &sides);
}

static struct abd_difference abd_cmp_lanes_with(
	const struct abd_compare_kernel *kernel, struct abd_iter *ia, const char *with)
{
	struct abd_sides sides = {.ia = ia, .b = with};

	return abd_cmp_lanes(kernel, &sides);
}

/* ---- the calls ---- */

/* Not inline, so that small operations don't pay for the iterators' registers and stack. */
static __attribute__((noinline)) int abd_cmp_spans(
	const struct abd_compare_kernel *kernel, const abd_t *a, const abd_t *b, size_t size)
{
	struct abd_iter ia, ib;
	struct abd_step step;
	int order = 0;

	if (kernel->lanes == NULL && abd_step_begin(&step, a, b, 0, 0, size)) {
		for (; step.len > 0 && order == 0; abd_step_advance(&step))
			order = kernel->order(abd_step_a(&step), abd_step_b(&step), step.len,
				abd_step_next_a(&step), abd_step_next_b(&step));
		return order;
	}
	abd_iter_begin(&ia, a, 0, size);
	abd_iter_begin(&ib, b, 0, size);
	if (kernel->lanes != NULL)
		return abd_cmp_lanes_of(kernel, &ia, &ib).order;
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

	const struct abd_compare_kernel *kernel = abd_compare_for(dabd->abd_size);
	const char *d = abd_small(dabd, 0, dabd->abd_size);
	const char *s = abd_small(sabd, 0, dabd->abd_size);

	if (d != NULL && s != NULL)
		return kernel->order(d, s, dabd->abd_size, NULL, NULL);
	return abd_cmp_spans(kernel, dabd, sabd, dabd->abd_size);
}

static int abd_cmp_buf_as(
	const char *call, const abd_t *abd, const void *buf, size_t off, size_t size)
{
	const char *with = buf;
	struct abd_iter iter;
	int order = 0;

	abd_check_pieces(call, abd, off, size);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "memory is NULL");

	const struct abd_compare_kernel *kernel = abd_compare_for(size);

	abd_iter_begin(&iter, abd, off, size);
	if (kernel->lanes != NULL)
		return abd_cmp_lanes_with(kernel, &iter, with).order;
	while (iter.len > 0 && order == 0) {
		order = kernel->order(
			iter.addr, with, iter.len, abd_iter_next(&iter, iter.len), NULL);
		with += iter.len;
		abd_iter_advance(&iter, iter.len);
	}
	return order;
}

int abd_cmp_buf_off(const abd_t *abd, const void *buf, size_t off, size_t size)
{
	return abd_cmp_buf_as(__func__, abd, buf, off, size);
}

int abd_cmp_buf(const abd_t *abd, const void *buf, size_t size)
{
	return abd_cmp_buf_as(__func__, abd, buf, 0, size);
}

static bool abd_pieces_zero(
	const struct abd_compare_kernel *kernel, struct abd_pieces *now, struct abd_pieces *next)
{
	size_t done = 0;
	bool zero = true;

	if (now->lane_count == kernel->lane_count) {
		if (!kernel->zero_lanes(&now->lanes, now->common, abd_pieces_hint(now, next)))
			return false;
		if (now->even)
			return true;
		done = now->common;
	}
	abd_pieces_list(next);
	for (size_t i = 0; i < now->count && zero; i++) {
		const struct abd_piece *piece = &now->piece[i];
		const struct abd_piece *behind = abd_piece_next(now, i, next);
		size_t before = piece->lane ? done : 0;

		if (before < piece->size)
			zero = kernel->zero(piece->a + before, piece->size - before,
				behind != NULL ? behind->a : NULL);
	}
	return zero;
}

static bool abd_zero_lanes(const struct abd_compare_kernel *kernel, struct abd_iter *iter)
{
	struct abd_sides sides = {.ia = iter};
	struct abd_pieces pieces[2];
	unsigned turn = 0;
	bool zero = true;

	abd_pieces_take(&pieces[0], &sides, kernel->lane_count);
	while (pieces[turn].count > 0 && zero) {
		abd_pieces_take(&pieces[turn ^ 1], &sides, kernel->lane_count);
		zero = abd_pieces_zero(kernel, &pieces[turn], &pieces[turn ^ 1]);
		turn ^= 1;
	}
	return zero;
}

/* One side fills caches half as fast as two, for which the plans are made. */
static int abd_cmp_zero_as(const char *call, const abd_t *abd, size_t off, size_t size)
{
	struct abd_iter iter;
	bool zero = true;

	abd_check_pieces(call, abd, off, size);

	const struct abd_compare_kernel *kernel = abd_compare_for(size / 2);

	abd_iter_begin(&iter, abd, off, size);
	if (kernel->lanes != NULL)
		return abd_zero_lanes(kernel, &iter) ? 0 : 1;
	while (iter.len > 0 && zero) {
		zero = kernel->zero(iter.addr, iter.len, abd_iter_next(&iter, iter.len));
		abd_iter_advance(&iter, iter.len);
	}
	return zero ? 0 : 1;
}

int abd_cmp_zero_off(const abd_t *abd, size_t off, size_t size)
{
	return abd_cmp_zero_as(__func__, abd, off, size);
}

int abd_cmp_zero(const abd_t *abd, size_t size)
{
	return abd_cmp_zero_as(__func__, abd, 0, size);
}

static __attribute__((noinline)) bool abd_equal_spans(const struct abd_compare_kernel *kernel,
	const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size)
{
	struct abd_iter ia, ib;
	struct abd_step step;
	bool equal = true;

	if (kernel->lanes == NULL && abd_step_begin(&step, a, b, a_off, b_off, size)) {
		for (; step.len > 0 && equal; abd_step_advance(&step))
			equal = kernel->equal(abd_step_a(&step), abd_step_b(&step), step.len,
				abd_step_next_a(&step), abd_step_next_b(&step));
		return equal;
	}
	abd_iter_begin(&ia, a, a_off, size);
	abd_iter_begin(&ib, b, b_off, size);
	if (kernel->lanes != NULL)
		return abd_cmp_lanes_of(kernel, &ia, &ib).off == size;
	while (ia.len > 0 && equal) {
		size_t n = abd_min(ia.len, ib.len);

		equal = kernel->equal(
			ia.addr, ib.addr, n, abd_iter_next(&ia, n), abd_iter_next(&ib, n));
		abd_iter_advance(&ia, n);
		abd_iter_advance(&ib, n);
	}
	return equal;
}

bool abd_equal_off(const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size)
{
	abd_check_range(__func__, a, a_off, size);
	abd_check_range(__func__, b, b_off, size);

	const struct abd_compare_kernel *kernel = abd_compare_for(size);
	const char *x = abd_small(a, a_off, size), *y = abd_small(b, b_off, size);

	if (x != NULL && y != NULL)
		return kernel->equal(x, y, size, NULL, NULL);
	return abd_equal_spans(kernel, a, b, a_off, b_off, size);
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
	if (kernel->lanes != NULL)
		return abd_cmp_lanes_with(kernel, &iter, with).off == size;
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
	struct abd_step step;

	abd_check_range(__func__, a, a_off, size);
	abd_check_range(__func__, b, b_off, size);

	const struct abd_compare_kernel *kernel = abd_compare_for(size);

	if (kernel->lanes == NULL && abd_step_begin(&step, a, b, a_off, b_off, size)) {
		for (; step.len > 0; abd_step_advance(&step)) {
			size_t same = kernel->diff(abd_step_a(&step), abd_step_b(&step), step.len,
				abd_step_next_a(&step), abd_step_next_b(&step));

			if (same < step.len)
				return size - step.left + same;
		}
		return size;
	}
	abd_iter_begin(&ia, a, a_off, size);
	abd_iter_begin(&ib, b, b_off, size);
	if (kernel->lanes != NULL)
		return abd_cmp_lanes_of(kernel, &ia, &ib).off;
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
