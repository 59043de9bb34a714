/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iterating, copying and zeroing: bodies for the walk.
 * OpenZFS: the calls of the same names in module/zfs/abd.c.
 */
#include "abd_check.h"
#include "abd_copy_span.h"
#include "abd_walk.h"
#include "abd_zero_span.h"

#include <abd/operate.h>

#include <string.h>

/* ---- iterating ---- */

struct abd_iterate {
	union {
		abd_iter_func_t *one;
		abd_iter_const_func_t *one_const;
		abd_iter_func2_t *two;
	} func;
	void *priv;
	int result;
};

static inline bool abd_iterate_segment(void *priv, const struct abd_segment *s)
{
	struct abd_iterate *op = priv;

	op->result = op->func.one(s->a, s->size, op->priv);
	return op->result == 0;
}

static const struct abd_body abd_iterate_body = {.segment = abd_iterate_segment};

int abd_iterate_func(abd_t *abd, size_t off, size_t size, abd_iter_func_t *func, void *priv)
{
	struct abd_iterate op = {.func.one = func, .priv = priv};
	struct abd_side a = abd_side(abd, off);

	abd_check_pieces(__func__, abd, off, size);
	ABD_REQUIRE(func != NULL, "func is NULL");
	abd_walk(NULL, &a, NULL, size, 0, abd_iterate_body, &op);
	return op.result;
}

static inline bool abd_iterate_const_segment(void *priv, const struct abd_segment *s)
{
	struct abd_iterate *op = priv;

	op->result = op->func.one_const(s->a, s->size, op->priv);
	return op->result == 0;
}

static const struct abd_body abd_iterate_const_body = {.segment = abd_iterate_const_segment};

int abd_iterate_func_const(
	const abd_t *abd, size_t off, size_t size, abd_iter_const_func_t *func, void *priv)
{
	struct abd_iterate op = {.func.one_const = func, .priv = priv};
	struct abd_side a = abd_side(abd, off);

	abd_check_pieces(__func__, abd, off, size);
	ABD_REQUIRE(func != NULL, "func is NULL");
	abd_walk(NULL, &a, NULL, size, 0, abd_iterate_const_body, &op);
	return op.result;
}

static inline bool abd_iterate2_segment(void *priv, const struct abd_segment *s)
{
	struct abd_iterate *op = priv;

	/* Side b is not const either: the caller's function may write to it. */
	op->result = op->func.two(s->a, (void *)(uintptr_t)s->b, s->size, op->priv);
	return op->result == 0;
}

static const struct abd_body abd_iterate2_body = {.segment = abd_iterate2_segment};

int abd_iterate_func2(abd_t *dabd, abd_t *sabd, size_t doff, size_t soff, size_t size,
	abd_iter_func2_t *func, void *priv)
{
	struct abd_iterate op = {.func.two = func, .priv = priv};
	struct abd_side d = abd_side(dabd, doff), s = abd_side(sabd, soff);

	abd_check_pieces(__func__, dabd, doff, size);
	abd_check_pieces(__func__, sabd, soff, size);
	ABD_REQUIRE(func != NULL, "func is NULL");
	abd_walk(NULL, &d, &s, size, 0, abd_iterate2_body, &op);
	return op.result;
}

/* ---- copying ---- */

struct abd_copy_op {
	const struct abd_copy_kernel *kernel;
};

static inline bool abd_copy_segment(void *priv, const struct abd_segment *s)
{
	const struct abd_copy_op *op = priv;

	op->kernel->span(s->a, s->b, s->size, s->next_a, s->next_b);
	return true;
}

static inline size_t abd_copy_lanes(
	void *priv, const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	const struct abd_copy_op *op = priv;

	op->kernel->lanes(now, size, next);
	return size;
}

static const struct abd_body abd_copy_body = {
	.segment = abd_copy_segment, .lanes = abd_copy_lanes, .writes = true, .small = true};

/* Inlined into the calls that check, which know at compile time which side is memory. */
ABD_WALK_INLINE void abd_copy_walk_by(const struct abd_copy_kernel *kernel, const char *call,
	struct abd_side to, struct abd_side from, size_t size)
{
	struct abd_copy_op op = {kernel};

	abd_walk(call, &to, &from, size, op.kernel->lane_count, abd_copy_body, &op);
	abd_copy_finish(op.kernel);
}

ABD_WALK_INLINE void abd_copy_walk(
	const char *call, struct abd_side to, struct abd_side from, size_t size)
{
	abd_copy_walk_by(abd_copy_for(size), call, to, from, size);
}

/* Small copies are the C library's: kernels do the same below their smallest block. */
static inline bool abd_copy_small(char *to, const char *from, size_t size)
{
	if (!abd_spans_are_apart(to, from, size))
		return false;
	memcpy(to, from, size);
	return true;
}

/* By the kernel for copies of kernel_size bytes. */
static ABD_NOINLINE void abd_copy_checked(const char *call, abd_t *dabd, const abd_t *sabd,
	size_t doff, size_t soff, size_t size, size_t kernel_size)
{
	abd_check_pieces(call, dabd, doff, size);
	abd_check_pieces(call, sabd, soff, size);
	abd_copy_walk_by(
		abd_copy_for(kernel_size), call, abd_side(dabd, doff), abd_side(sabd, soff), size);
}

static inline void abd_copy_as(const char *call, abd_t *dabd, const abd_t *sabd, size_t doff,
	size_t soff, size_t size, size_t kernel_size)
{
	char *to, *from;

	if (!abd_small(dabd, doff, size, &to) || !abd_small(sabd, soff, size, &from) ||
		!abd_copy_small(to, from, size))
		abd_copy_checked(call, dabd, sabd, doff, soff, size, kernel_size);
}

void abd_copy_off(abd_t *dabd, const abd_t *sabd, size_t doff, size_t soff, size_t size)
{
	abd_copy_as(__func__, dabd, sabd, doff, soff, size, size);
}

void abd_copy(abd_t *dabd, const abd_t *sabd, size_t size)
{
	abd_copy_as(__func__, dabd, sabd, 0, 0, size, size);
}

/* By the kernel for copies that no cache holds: the plan's last. */
void abd_copy_stream_off(abd_t *dabd, const abd_t *sabd, size_t doff, size_t soff, size_t size)
{
	abd_copy_as(__func__, dabd, sabd, doff, soff, size, SIZE_MAX);
}

static ABD_NOINLINE void abd_copy_from_checked(
	const char *call, abd_t *abd, const void *buf, size_t off, size_t size)
{
	abd_check_pieces(call, abd, off, size);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "buf is NULL");
	abd_copy_walk(call, abd_side(abd, off), abd_side_from(buf), size);
}

static inline void abd_copy_from(
	const char *call, abd_t *abd, const void *buf, size_t off, size_t size)
{
	char *to;

	if (!abd_small(abd, off, size, &to) || buf == NULL || !abd_copy_small(to, buf, size))
		abd_copy_from_checked(call, abd, buf, off, size);
}

void abd_copy_from_buf_as(const char *call, abd_t *abd, const void *buf, size_t off, size_t size)
{
	abd_copy_from(call, abd, buf, off, size);
}

void abd_copy_from_buf_off(abd_t *abd, const void *buf, size_t off, size_t size)
{
	abd_copy_from(__func__, abd, buf, off, size);
}

void abd_copy_from_buf(abd_t *abd, const void *buf, size_t size)
{
	abd_copy_from(__func__, abd, buf, 0, size);
}

static ABD_NOINLINE void abd_copy_to_checked(
	const char *call, void *buf, const abd_t *abd, size_t off, size_t size)
{
	abd_check_pieces(call, abd, off, size);
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "buf is NULL");
	abd_copy_walk(call, abd_side_to(buf), abd_side(abd, off), size);
}

static inline void abd_copy_to(
	const char *call, void *buf, const abd_t *abd, size_t off, size_t size)
{
	char *from;

	if (!abd_small(abd, off, size, &from) || buf == NULL || !abd_copy_small(buf, from, size))
		abd_copy_to_checked(call, buf, abd, off, size);
}

void abd_copy_to_buf_off(void *buf, const abd_t *abd, size_t off, size_t size)
{
	abd_copy_to(__func__, buf, abd, off, size);
}

void abd_copy_to_buf(void *buf, const abd_t *abd, size_t size)
{
	abd_copy_to(__func__, buf, abd, 0, size);
}

/* ---- zeroing ---- */

struct abd_zero_op {
	const struct abd_zero_kernel *kernel;
};

static inline bool abd_zero_segment(void *priv, const struct abd_segment *s)
{
	const struct abd_zero_op *op = priv;

	op->kernel->span(s->a, s->size, s->next_a);
	return true;
}

static inline size_t abd_zero_lanes(
	void *priv, const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	const struct abd_zero_op *op = priv;

	op->kernel->lanes(now, size, next);
	return size;
}

static const struct abd_body abd_zero_body = {
	.segment = abd_zero_segment, .lanes = abd_zero_lanes, .writes = true, .small = true};

static ABD_NOINLINE void abd_zero_checked(const char *call, abd_t *abd, size_t off, size_t size)
{
	struct abd_zero_op op = {abd_zero_for(size)};
	struct abd_side a = abd_side(abd, off);

	abd_check_pieces(call, abd, off, size);
	abd_walk(call, &a, NULL, size, op.kernel->lane_count, abd_zero_body, &op);
	abd_zero_finish(op.kernel);
}

static inline void abd_zero_as(const char *call, abd_t *abd, size_t off, size_t size)
{
	char *at;

	if (abd_small(abd, off, size, &at))
		memset(at, 0, size);
	else
		abd_zero_checked(call, abd, off, size);
}

void abd_zero_off(abd_t *abd, size_t off, size_t size)
{
	abd_zero_as(__func__, abd, off, size);
}

void abd_zero(abd_t *abd, size_t size)
{
	abd_zero_as(__func__, abd, 0, size);
}
