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
	} else {
		sides->b += n;
	}
	return true;
}

void abd_pieces_take(struct abd_pieces *pieces, struct abd_sides *sides, unsigned lane_count)
{
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
