/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iterating, copying and zeroing. Every loop is the same: take the next piece that is contiguous on
 * all sides, work on it, advance.
 * OpenZFS: the calls of the same names in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_copy_span.h"
#include "abd_iter.h"
#include "abd_pieces.h"
#include "abd_step.h"
#include "abd_zero_span.h"

#include <abd/operate.h>

#include <string.h>

int abd_iterate_func(abd_t *abd, size_t off, size_t size, abd_iter_func_t *func, void *priv)
{
	struct abd_iter iter;
	int result = 0;

	abd_check_pieces(__func__, abd, off, size);
	ABD_REQUIRE(func != NULL, "function is NULL");
	abd_iter_begin(&iter, abd, off, size);
	while (iter.len > 0 && result == 0) {
		result = func(iter.addr, iter.len, priv);
		abd_iter_advance(&iter, iter.len);
	}
	return result;
}

int abd_iterate_func_const(
	const abd_t *abd, size_t off, size_t size, abd_iter_const_func_t *func, void *priv)
{
	struct abd_iter iter;
	int result = 0;

	abd_check_pieces(__func__, abd, off, size);
	ABD_REQUIRE(func != NULL, "function is NULL");
	abd_iter_begin(&iter, abd, off, size);
	while (iter.len > 0 && result == 0) {
		result = func(iter.addr, iter.len, priv);
		abd_iter_advance(&iter, iter.len);
	}
	return result;
}

int abd_iterate_func2(abd_t *dabd, abd_t *sabd, size_t doff, size_t soff, size_t size,
	abd_iter_func2_t *func, void *priv)
{
	struct abd_iter d, s;
	int result = 0;

	abd_check_pieces(__func__, dabd, doff, size);
	abd_check_pieces(__func__, sabd, soff, size);
	ABD_REQUIRE(func != NULL, "function is NULL");
	abd_iter_begin(&d, dabd, doff, size);
	abd_iter_begin(&s, sabd, soff, size);
	while (d.len > 0 && result == 0) {
		size_t n = abd_min(d.len, s.len);

		result = func(d.addr, s.addr, n, priv);
		abd_iter_advance(&d, n);
		abd_iter_advance(&s, n);
	}
	return result;
}

static void abd_pieces_copy_even(const char *call, const struct abd_copy_kernel *kernel,
	const struct abd_pieces *now, const struct abd_pieces *next)
{
	for (unsigned i = 0; i < now->lane_count; i++)
		abd_require_apart_spans(call, now->lanes.a[i], now->lanes.b[i], now->common);
	kernel->lanes(&now->lanes, now->common, abd_pieces_hint(now, next));
}

static void abd_pieces_copy(const char *call, const struct abd_copy_kernel *kernel,
	struct abd_pieces *now, struct abd_pieces *next)
{
	size_t done = 0;

	if (now->even) {
		abd_pieces_copy_even(call, kernel, now, next);
		return;
	}
	abd_pieces_list(next);
	for (size_t i = 0; i < now->count; i++)
		abd_require_apart_spans(call, now->piece[i].a, now->piece[i].b, now->piece[i].size);
	if (now->lane_count == kernel->lane_count) {
		done = now->common;
		kernel->lanes(&now->lanes, done, abd_pieces_hint(now, next));
	}
	for (size_t i = 0; i < now->count; i++) {
		const struct abd_piece *piece = &now->piece[i], *behind;
		size_t before = piece->lane ? done : 0;

		if (before == piece->size)
			continue;
		behind = abd_piece_next(now, i, next);
		kernel->span(piece->a + before, piece->b + before, piece->size - before,
			behind != NULL ? behind->a : NULL, behind != NULL ? behind->b : NULL);
	}
}

static void abd_copy_lanes(
	const char *call, const struct abd_copy_kernel *kernel, struct abd_sides *sides)
{
	struct abd_pieces pieces[2];
	unsigned turn = 0;

	abd_pieces_take(&pieces[0], sides, kernel->lane_count);
	while (pieces[turn].count > 0) {
		abd_pieces_take(&pieces[turn ^ 1], sides, kernel->lane_count);
		abd_pieces_copy(call, kernel, &pieces[turn], &pieces[turn ^ 1]);
		turn ^= 1;
	}
	abd_copy_finish(kernel);
}

/* Not inline, so that small copies don't pay for the iterators' registers and stack. */
static __attribute__((noinline)) void abd_copy_spans(const char *call,
	const struct abd_copy_kernel *kernel, abd_t *dabd, const abd_t *sabd, size_t doff,
	size_t soff, size_t size)
{
	struct abd_iter d, s;
	struct abd_step step;

	abd_require_apart(call, dabd, sabd, doff, soff, size);
	if (kernel->lanes == NULL && abd_step_begin(&step, dabd, sabd, doff, soff, size)) {
		for (; step.len > 0; abd_step_advance(&step)) {
			abd_require_apart_spans(
				call, abd_step_a(&step), abd_step_b(&step), step.len);
			kernel->span(abd_step_a(&step), abd_step_b(&step), step.len,
				abd_step_next_a(&step), abd_step_next_b(&step));
		}
		abd_copy_finish(kernel);
		return;
	}
	abd_iter_begin_write(&d, call, dabd, doff, size);
	abd_iter_begin(&s, sabd, soff, size);
	if (kernel->lanes != NULL) {
		abd_copy_lanes(call, kernel, &(struct abd_sides){.ia = &d, .ib = &s});
		return;
	}
	while (d.len > 0) {
		size_t n = abd_min(d.len, s.len);

		abd_require_apart_spans(call, d.addr, s.addr, n);
		kernel->span(d.addr, s.addr, n, abd_iter_next(&d, n), abd_iter_next(&s, n));
		abd_iter_advance(&d, n);
		abd_iter_advance(&s, n);
	}
	abd_copy_finish(kernel);
}

/* Copy a small piece, by the C library: kernels do the same below their smallest block. */
static inline bool abd_copy_small(const char *call, char *to, const char *from, size_t size)
{
	if (to == NULL || from == NULL)
		return false;
	abd_require_apart_spans(call, to, from, size);
	memcpy(to, from, size);
	return true;
}

static inline void abd_copy_as(
	const char *call, abd_t *dabd, const abd_t *sabd, size_t doff, size_t soff, size_t size)
{
	abd_check_pieces(call, dabd, doff, size);
	abd_check_pieces(call, sabd, soff, size);
	if (!abd_copy_small(call, abd_small(dabd, doff, size), abd_small(sabd, soff, size), size))
		abd_copy_spans(call, abd_copy_for(size), dabd, sabd, doff, soff, size);
}

void abd_copy_off(abd_t *dabd, const abd_t *sabd, size_t doff, size_t soff, size_t size)
{
	abd_copy_as(__func__, dabd, sabd, doff, soff, size);
}

void abd_copy(abd_t *dabd, const abd_t *sabd, size_t size)
{
	abd_copy_as(__func__, dabd, sabd, 0, 0, size);
}

void abd_copy_from_buf_as(const char *call, abd_t *abd, const void *buf, size_t off, size_t size)
{
	const char *from = buf;
	struct abd_iter iter;

	abd_check_pieces(call, abd, off, size);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "memory is NULL");
	if (abd_copy_small(call, abd_small(abd, off, size), buf, size))
		return;

	const struct abd_copy_kernel *kernel = abd_copy_for(size);

	abd_iter_begin_write(&iter, call, abd, off, size);
	if (kernel->lanes != NULL) {
		abd_copy_lanes(call, kernel, &(struct abd_sides){.ia = &iter, .b = from});
		return;
	}
	while (iter.len > 0) {
		abd_require_apart_spans(call, iter.addr, from, iter.len);
		kernel->span(iter.addr, from, iter.len, abd_iter_next(&iter, iter.len), NULL);
		from += iter.len;
		abd_iter_advance(&iter, iter.len);
	}
	abd_copy_finish(kernel);
}

void abd_copy_from_buf_off(abd_t *abd, const void *buf, size_t off, size_t size)
{
	abd_copy_from_buf_as(__func__, abd, buf, off, size);
}

void abd_copy_from_buf(abd_t *abd, const void *buf, size_t size)
{
	abd_copy_from_buf_as(__func__, abd, buf, 0, size);
}

static void abd_copy_to_buf_as(
	const char *call, void *buf, const abd_t *abd, size_t off, size_t size)
{
	char *to = buf;
	struct abd_iter iter;

	abd_check_pieces(call, abd, off, size);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "memory is NULL");
	if (abd_copy_small(call, buf, abd_small(abd, off, size), size))
		return;

	const struct abd_copy_kernel *kernel = abd_copy_for(size);

	abd_iter_begin(&iter, abd, off, size);
	if (kernel->lanes != NULL) {
		abd_copy_lanes(call, kernel, &(struct abd_sides){.ib = &iter, .a = to});
		return;
	}
	while (iter.len > 0) {
		abd_require_apart_spans(call, to, iter.addr, iter.len);
		kernel->span(to, iter.addr, iter.len, NULL, abd_iter_next(&iter, iter.len));
		to += iter.len;
		abd_iter_advance(&iter, iter.len);
	}
	abd_copy_finish(kernel);
}

void abd_copy_to_buf_off(void *buf, const abd_t *abd, size_t off, size_t size)
{
	abd_copy_to_buf_as(__func__, buf, abd, off, size);
}

void abd_copy_to_buf(void *buf, const abd_t *abd, size_t size)
{
	abd_copy_to_buf_as(__func__, buf, abd, 0, size);
}

static void abd_pieces_zero(
	const struct abd_zero_kernel *kernel, struct abd_pieces *now, const struct abd_pieces *next)
{
	size_t done = 0;

	if (now->lane_count == kernel->lane_count) {
		done = now->common;
		kernel->lanes(&now->lanes, done, abd_pieces_hint(now, next));
	}
	for (size_t i = 0; i < now->count && !now->even; i++) {
		const struct abd_piece *piece = &now->piece[i];
		size_t before = piece->lane ? done : 0;

		if (before < piece->size)
			kernel->span(piece->a + before, piece->size - before, NULL);
	}
}

static void abd_zero_lanes(const struct abd_zero_kernel *kernel, struct abd_iter *iter)
{
	struct abd_sides sides = {.ia = iter};
	struct abd_pieces pieces[2];
	unsigned turn = 0;

	abd_pieces_take(&pieces[0], &sides, kernel->lane_count);
	while (pieces[turn].count > 0) {
		abd_pieces_take(&pieces[turn ^ 1], &sides, kernel->lane_count);
		abd_pieces_zero(kernel, &pieces[turn], &pieces[turn ^ 1]);
		turn ^= 1;
	}
}

static __attribute__((noinline)) void abd_zero_spans(
	const char *call, abd_t *abd, size_t off, size_t size)
{
	const struct abd_zero_kernel *kernel = abd_zero_for(size);
	struct abd_iter iter;

	abd_iter_begin_write(&iter, call, abd, off, size);
	if (kernel->lanes != NULL)
		abd_zero_lanes(kernel, &iter);
	while (iter.len > 0) {
		kernel->span(iter.addr, iter.len, abd_iter_next(&iter, iter.len));
		abd_iter_advance(&iter, iter.len);
	}
	abd_zero_finish(kernel);
}

static void abd_zero_as(const char *call, abd_t *abd, size_t off, size_t size)
{
	char *small;

	abd_check_pieces(call, abd, off, size);
	small = abd_small(abd, off, size);
	if (small != NULL)
		memset(small, 0, size);
	else
		abd_zero_spans(call, abd, off, size);
}

void abd_zero_off(abd_t *abd, size_t off, size_t size)
{
	abd_zero_as(__func__, abd, off, size);
}

void abd_zero(abd_t *abd, size_t size)
{
	abd_zero_as(__func__, abd, 0, size);
}
