/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flush-copy over buffers: the walk gives segments, lib/flush writes lines and fences.
 * Invariant: the policy is chosen once, by the size of the whole call and not of a run, because the
 * cost of the one fence is spread over the whole call.
 */
#include "abd_check.h"
#include "abd_flush_span.h"
#include "abd_walk.h"

#include <abd/flush.h>

static inline bool abd_flush_segment(void *priv, const struct abd_segment *s)
{
	struct abd_flush_walk *op = priv;

	abd_flush_span(op, s->a, s->b, s->size);
	return true;
}

static const struct abd_body abd_flush_body = {.segment = abd_flush_segment, .writes = true};

static ABD_NOINLINE void abd_flush_sides(
	const char *call, struct abd_side to, struct abd_side from, size_t size, unsigned flags)
{
	struct abd_flush_walk op;

	abd_flush_begin(&op, call, size, flags);
	abd_walk(call, &to, &from, size, 0, abd_flush_body, &op);
	abd_flush_end(&op, flags);
}

void abd_flush_copy_off(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t size, unsigned flags)
{
	abd_check_range(__func__, dst, dst_off, size);
	abd_check_range(__func__, src, src_off, size);
	abd_flush_sides(__func__, abd_side(dst, dst_off), abd_side(src, src_off), size, flags);
}

void abd_flush_copy_to_buf_off(
	void *dst, const abd_t *src, size_t src_off, size_t size, unsigned flags)
{
	abd_check_range(__func__, src, src_off, size);
	ABD_REQUIRE(dst != NULL || size == 0, "dst is NULL");
	abd_flush_sides(__func__, abd_side_to(dst), abd_side(src, src_off), size, flags);
}

void abd_flush_copy_from_buf_off(
	abd_t *dst, const void *src, size_t dst_off, size_t size, unsigned flags)
{
	abd_check_range(__func__, dst, dst_off, size);
	ABD_REQUIRE(src != NULL || size == 0, "src is NULL");
	abd_flush_sides(__func__, abd_side(dst, dst_off), abd_side_from(src), size, flags);
}
