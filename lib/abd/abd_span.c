/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk for callers that want no callback. A span carries a cursor (abd_iter.h) in a public
 * struct: abd_left counts the bytes of the range behind the span.
 */
#include "abd_check.h"
#include "abd_iter.h"

#include <abd/operate.h>

/* Note where the cursor goes on after its span, which is returned. */
static inline struct iovec abd_span_leave(struct abd_span_place *place, const struct abd_iter *iter)
{
	*place = (struct abd_span_place){
		iter->left - iter->len, iter->leaf_left, iter->run_step, iter->run, iter->entry};
	return (struct iovec){iter->addr, iter->len};
}

static inline struct iovec abd_span_begin_at(
	const char *call, struct abd_span_place *place, const abd_t *abd, size_t off, size_t size)
{
	struct abd_iter iter = {.addr = NULL};

	abd_check_pieces(call, abd, off, size);
	abd_iter_begin(&iter, abd, off, size);
	return abd_span_leave(place, &iter);
}

/* The next child of a gang, or the end. */
static ABD_NOINLINE struct iovec abd_span_child(struct abd_span_place *place)
{
	struct abd_iter iter = {.left = place->abd_left, .entry = place->abd_entry};

	if (iter.left > 0)
		abd_iter_child(&iter, 0);
	return abd_span_leave(place, &iter);
}

static inline struct iovec abd_span_go_on(struct abd_span_place *place)
{
	if (ABD_UNLIKELY(place->abd_leaf_left == 0))
		return abd_span_child(place);

	struct abd_iter iter = {.leaf_left = place->abd_leaf_left,
		.run = place->abd_run,
		.run_step = place->abd_run_step};

	abd_iter_map(&iter, 0);
	place->abd_leaf_left = iter.leaf_left;
	place->abd_run = iter.run;
	place->abd_left -= iter.len;
	return (struct iovec){iter.addr, iter.len};
}

void abd_span_begin(abd_span_t *span, abd_t *abd, size_t off, size_t size)
{
	ABD_REQUIRE(span != NULL, "span is NULL");

	struct iovec found = abd_span_begin_at(__func__, &span->abd_place, abd, off, size);

	span->buf = found.iov_base;
	span->len = found.iov_len;
	span->off = off;
}

void abd_span_next(abd_span_t *span)
{
	ABD_REQUIRE(span != NULL, "span is NULL");

	struct iovec found = abd_span_go_on(&span->abd_place);

	span->buf = found.iov_base;
	span->off += span->len;
	span->len = found.iov_len;
}

void abd_span_begin_const(abd_span_const_t *span, const abd_t *abd, size_t off, size_t size)
{
	ABD_REQUIRE(span != NULL, "span is NULL");

	struct iovec found = abd_span_begin_at(__func__, &span->abd_place, abd, off, size);

	span->buf = found.iov_base;
	span->len = found.iov_len;
	span->off = off;
}

void abd_span_next_const(abd_span_const_t *span)
{
	ABD_REQUIRE(span != NULL, "span is NULL");

	struct iovec found = abd_span_go_on(&span->abd_place);

	span->buf = found.iov_base;
	span->off += span->len;
	span->len = found.iov_len;
}
