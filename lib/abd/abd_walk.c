/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking pieces for lanes, from one cursor or two.
 */
#include "abd_walk.h"

void abd_walk_begin(struct abd_iter *iter, struct abd_side side, size_t size, const char *writer)
{
	if (side.abd == NULL)
		abd_iter_flat(iter, side.to, size);
	else
		abd_iter_start(iter, side.abd, side.off, size, writer);
}

/* The next piece; false: there is none. */
static bool abd_walk_take_piece(
	struct abd_walk_piece *piece, struct abd_iter *a, struct abd_iter *b)
{
	size_t n = b != NULL ? abd_min(a->len, b->len) : a->len;

	if (n == 0)
		return false;
	*piece = (struct abd_walk_piece){.a = a->addr, .size = n, .lane = n >= ABD_LANE_MIN};
	abd_iter_advance(a, n);
	if (b != NULL) {
		piece->b = b->addr;
		abd_iter_advance(b, n);
	}
	return true;
}

/* Whether the next count spans of n bytes are at hand: in this span, or in it and the runs behind.
 */
static inline bool abd_walk_is_even(const struct abd_iter *iter, size_t n, unsigned count)
{
	if (n <= iter->len / count)
		return true;
	if (iter->len != n || iter->leaf_left / (count - 1) < n)
		return false;
	for (unsigned i = 0; i < count - 1; i++)
		if (iter->run[i * iter->run_step].iov_len != n)
			return false;
	return true;
}

/* The address of the ith of those spans. */
static inline char *abd_walk_even_at(const struct abd_iter *iter, size_t n, unsigned i)
{
	return i == 0 || iter->len > n ? iter->addr + i * n
				       : iter->run[(i - 1) * iter->run_step].iov_base;
}

/* Pass over those spans. */
static inline void abd_walk_even_pass(struct abd_iter *iter, size_t n, unsigned count)
{
	size_t skip = (count - 1) * n;

	if (iter->len > n) {
		abd_iter_advance(iter, skip + n);
		return;
	}
	iter->left -= skip;
	iter->leaf_left -= skip;
	iter->run += (count - 1) * iter->run_step;
	abd_iter_advance(iter, n);
}

/*
 * Take lane_count pieces that are as long as each other, without listing them; false: they are not.
 * Inline, for numbers that are constant: the loops are taken apart.
 */
ABD_WALK_INLINE bool abd_walk_take_even(
	struct abd_walk_batch *batch, struct abd_iter *a, struct abd_iter *b, unsigned lane_count)
{
	size_t n = b != NULL ? abd_min(a->len, b->len) : a->len;

	if (n < ABD_LANE_MIN || !abd_walk_is_even(a, n, lane_count) ||
		(b != NULL && !abd_walk_is_even(b, n, lane_count)))
		return false;
	for (unsigned i = 0; i < lane_count; i++) {
		batch->lanes.a[i] = abd_walk_even_at(a, n, i);
		batch->lanes.b[i] = b != NULL ? abd_walk_even_at(b, n, i) : NULL;
	}
	abd_walk_even_pass(a, n, lane_count);
	if (b != NULL)
		abd_walk_even_pass(b, n, lane_count);
	batch->count = batch->lane_count = lane_count;
	batch->common = n;
	return true;
}

void abd_walk_list(struct abd_walk_batch *batch)
{
	for (size_t i = 0; batch->even && i < batch->count; i++)
		batch->piece[i] = (struct abd_walk_piece){
			batch->lanes.a[i], batch->lanes.b[i], batch->common, true};
	batch->even = false;
}

void abd_walk_take(
	struct abd_walk_batch *batch, struct abd_iter *a, struct abd_iter *b, unsigned lane_count)
{
	batch->even = lane_count == ABD_LANES ? abd_walk_take_even(batch, a, b, ABD_LANES)
					      : abd_walk_take_even(batch, a, b, ABD_LANES / 2);
	if (batch->even)
		return;
	batch->count = 0;
	batch->lane_count = 0;
	batch->common = SIZE_MAX;
	while (batch->count < ABD_WALK_PIECES && batch->lane_count < lane_count) {
		struct abd_walk_piece *piece = &batch->piece[batch->count];

		if (!abd_walk_take_piece(piece, a, b))
			break;
		batch->count++;
		if (!piece->lane)
			continue;
		batch->lanes.a[batch->lane_count] = piece->a;
		batch->lanes.b[batch->lane_count] = piece->b;
		batch->lane_count++;
		batch->common = abd_min(batch->common, piece->size);
	}
	/* A kernel for four lanes may take two as its hints. */
	for (unsigned i = batch->lane_count; i > 0 && i < ABD_LANES; i++) {
		batch->lanes.a[i] = batch->lanes.a[0];
		batch->lanes.b[i] = batch->lanes.b[0];
	}
}

void abd_walk_batch_apart(const char *call, const struct abd_walk_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		abd_require_apart_spans(call, batch->even ? batch->lanes.a[i] : batch->piece[i].a,
			batch->even ? batch->lanes.b[i] : batch->piece[i].b,
			batch->even ? batch->common : batch->piece[i].size);
}
