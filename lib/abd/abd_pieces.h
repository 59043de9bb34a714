/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces of an operation on two sides, a batch at a time, for kernels that walk several lanes
 * together (abd_lanes.h). A piece is contiguous on both sides.
 *
 *   pieces, in order:   [ 4032 ][ 64 ][ 4032 ][ 64 ]        boundaries shifted by 64 bytes
 *   lanes:              [ 4032 ]      [ 4032 ]              the kernel walks these together
 *
 * What is too short for a lane, and what a lane has beyond the length that all have, is left to the
 * caller, piece by piece.
 *
 * Mostly the runs of both sides begin and end together. Then the addresses come straight from the
 * run tables, and there is no list of pieces until someone asks for it: piece by piece, taking four
 * of 4 KiB costs as much as comparing one of them in L2.
 */
#ifndef ABD_PIECES_H
#define ABD_PIECES_H

#include "abd_iter.h"
#include "abd_lanes.h"

enum { ABD_PIECES = 3 * ABD_LANES };

/* The two sides. One of them may be linear memory, and then has no iterator, or be missing. */
struct abd_sides {
	struct abd_iter *ia, *ib; /* NULL: memory at a or b */
	char *a;
	const char *b; /* NULL without ib: there is only one side */
};

struct abd_piece {
	char *a;
	const char *b;
	size_t size;
	bool lane;
};

struct abd_pieces {
	size_t count;
	unsigned lane_count;
	size_t common; /* bytes that every lane has */
	bool even;     /* every piece is a lane and has that many; they are not listed */
	struct abd_lanes lanes;
	struct abd_piece piece[ABD_PIECES];
};

/* Take the next pieces, with up to lane_count lanes. None: the operation has ended. */
void abd_pieces_take(struct abd_pieces *pieces, struct abd_sides *sides, unsigned lane_count);

/* List the pieces, whether they are even or not. */
void abd_pieces_list(struct abd_pieces *pieces);

/* Where to go on after these pieces; where nothing follows, any lanes will do. */
static inline const struct abd_lanes *abd_pieces_hint(
	const struct abd_pieces *now, const struct abd_pieces *next)
{
	return next->lane_count > 0 ? &next->lanes : &now->lanes;
}

/* The piece behind the nth; NULL where nothing follows. Both are listed. */
static inline const struct abd_piece *abd_piece_next(
	const struct abd_pieces *now, size_t n, const struct abd_pieces *next)
{
	if (n + 1 < now->count)
		return &now->piece[n + 1];
	return next->count > 0 ? next->piece : NULL;
}

#endif
