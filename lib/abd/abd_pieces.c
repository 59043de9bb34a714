/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking pieces from two iterators, or from one and linear memory.
 */
#include "abd_pieces.h"

/* The next piece; false: there is none. */
static bool abd_piece_take(struct abd_piece *piece, struct abd_sides *sides)
{
	size_t n = sides->ia != NULL ? sides->ia->len : SIZE_MAX;

	if (sides->ib != NULL)
		n = abd_min(n, sides->ib->len);
	if (n == 0)
		return false;
	*piece = (struct abd_piece){.a = sides->a, .b = sides->b, .size = n};
	if (sides->ia != NULL) {
		piece->a = sides->ia->addr;
		abd_iter_advance(sides->ia, n);
	} else {
		sides->a += n;
	}
	if (sides->ib != NULL) {
		piece->b = sides->ib->addr;
		abd_iter_advance(sides->ib, n);
	} else if (sides->b != NULL) {
		sides->b += n;
	}
	return true;
}

/* Whether the next count spans of n bytes are at hand: in this span, or in it and the runs behind.
 */
static inline bool abd_iter_is_even(const struct abd_iter *iter, size_t n, unsigned count)
{
	if (iter == NULL || n <= iter->len / count)
		return true;
	if (iter->len != n || iter->leaf_left / (count - 1) < n)
		return false;
	for (unsigned i = 0; i < count - 1; i++)
		if (iter->run[i * iter->run_step].iov_len != n)
			return false;
	return true;
}

/* Take those spans. */
static inline void abd_iter_take_even(
	struct abd_iter *iter, size_t n, unsigned count, char *span[ABD_LANES])
{
	bool within = iter->len > n;
	size_t skip = (count - 1) * n;

	span[0] = iter->addr;
	for (unsigned i = 1; i < count; i++)
		span[i] = within ? iter->addr + i * n
				 : (char *)iter->run[(i - 1) * iter->run_step].iov_base;
	if (within) {
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
__attribute__((always_inline)) static inline bool abd_pieces_take_even(
	struct abd_pieces *pieces, struct abd_sides *sides, unsigned lane_count)
{
	size_t n = sides->ia != NULL ? sides->ia->len : SIZE_MAX;
	char *b[ABD_LANES];

	if (sides->ib != NULL)
		n = abd_min(n, sides->ib->len);
	if (n < ABD_LANE_MIN || !abd_iter_is_even(sides->ia, n, lane_count) ||
		!abd_iter_is_even(sides->ib, n, lane_count))
		return false;
	if (sides->ia != NULL)
		abd_iter_take_even(sides->ia, n, lane_count, pieces->lanes.a);
	for (unsigned i = 0; sides->ia == NULL && i < lane_count; i++, sides->a += n)
		pieces->lanes.a[i] = sides->a;
	if (sides->ib != NULL) {
		abd_iter_take_even(sides->ib, n, lane_count, b);
		for (unsigned i = 0; i < lane_count; i++)
			pieces->lanes.b[i] = b[i];
	}
	for (unsigned i = 0; sides->ib == NULL && i < lane_count; i++) {
		pieces->lanes.b[i] = sides->b;
		if (sides->b != NULL)
			sides->b += n;
	}
	pieces->count = pieces->lane_count = lane_count;
	pieces->common = n;
	return true;
}

void abd_pieces_list(struct abd_pieces *pieces)
{
	for (size_t i = 0; pieces->even && i < pieces->count; i++)
		pieces->piece[i] = (struct abd_piece){
			pieces->lanes.a[i], pieces->lanes.b[i], pieces->common, true};
	pieces->even = false;
}

void abd_pieces_take(struct abd_pieces *pieces, struct abd_sides *sides, unsigned lane_count)
{
	pieces->even = lane_count == ABD_LANES ? abd_pieces_take_even(pieces, sides, ABD_LANES)
					       : abd_pieces_take_even(pieces, sides, ABD_LANES / 2);
	if (pieces->even)
		return;
	pieces->count = 0;
	pieces->lane_count = 0;
	pieces->common = SIZE_MAX;
	while (pieces->count < ABD_PIECES && pieces->lane_count < lane_count) {
		struct abd_piece *piece = &pieces->piece[pieces->count];

		if (!abd_piece_take(piece, sides))
			break;
		pieces->count++;
		piece->lane = piece->size >= ABD_LANE_MIN;
		if (!piece->lane)
			continue;
		pieces->lanes.a[pieces->lane_count] = piece->a;
		pieces->lanes.b[pieces->lane_count] = piece->b;
		pieces->lane_count++;
		pieces->common = abd_min(pieces->common, piece->size);
	}
	/* A kernel for four lanes may take two as its hints. */
	for (unsigned i = pieces->lane_count; i > 0 && i < ABD_LANES; i++) {
		pieces->lanes.a[i] = pieces->lanes.a[0];
		pieces->lanes.b[i] = pieces->lanes.b[0];
	}
}
