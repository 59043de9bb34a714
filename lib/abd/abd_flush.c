/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flush-copy over buffers: the iterator gives spans, lib/flush writes lines and fences.
 * Invariant: the policy is chosen once, by the size of the whole call and not of a run, because the
 * cost of the one fence is spread over the whole call.
 */
#include "abd_check.h"
#include "abd_flush_span.h"
#include "abd_iter.h"

#include <abd/flush.h>

void abd_flush_copy_off(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t size, unsigned flags)
{
	struct abd_flush_walk walk;
	struct abd_iter d, s;

	abd_check_range(__func__, dst, dst_off, size);
	abd_check_range(__func__, src, src_off, size);
	abd_flush_begin(&walk, __func__, size, flags);
	abd_iter_begin_write(&d, __func__, dst, dst_off, size);
	abd_iter_begin(&s, src, src_off, size);
	abd_require_apart(__func__, dst, src, dst_off, src_off, size);
	while (d.len > 0) {
		size_t n = abd_min(d.len, s.len);

		abd_require_apart_spans(__func__, d.addr, s.addr, n);
		abd_flush_span(&walk, d.addr, s.addr, n);
		abd_iter_advance(&d, n);
		abd_iter_advance(&s, n);
	}
	abd_flush_end(&walk, flags);
}

void abd_flush_copy_to_buf_off(
	void *dst, const abd_t *src, size_t src_off, size_t size, unsigned flags)
{
	struct abd_flush_walk walk;
	struct abd_iter iter;
	char *to = dst;

	abd_check_range(__func__, src, src_off, size);
	ABD_REQUIRE(dst != NULL || size == 0, "memory is NULL");
	abd_flush_begin(&walk, __func__, size, flags);
	abd_iter_begin(&iter, src, src_off, size);
	while (iter.len > 0) {
		abd_require_apart_spans(__func__, to, iter.addr, iter.len);
		abd_flush_span(&walk, to, iter.addr, iter.len);
		to += iter.len;
		abd_iter_advance(&iter, iter.len);
	}
	abd_flush_end(&walk, flags);
}

void abd_flush_copy_from_buf_off(
	abd_t *dst, const void *src, size_t dst_off, size_t size, unsigned flags)
{
	struct abd_flush_walk walk;
	struct abd_iter iter;
	const char *from = src;

	abd_check_range(__func__, dst, dst_off, size);
	ABD_REQUIRE(src != NULL || size == 0, "memory is NULL");
	abd_flush_begin(&walk, __func__, size, flags);
	abd_iter_begin_write(&iter, __func__, dst, dst_off, size);
	while (iter.len > 0) {
		abd_require_apart_spans(__func__, iter.addr, from, iter.len);
		abd_flush_span(&walk, iter.addr, from, iter.len);
		from += iter.len;
		abd_iter_advance(&iter, iter.len);
	}
	abd_flush_end(&walk, flags);
}
