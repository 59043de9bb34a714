/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * THE walk: every operation over bytes of buffers is a check, the choice of a kernel, this walk and
 * an answer.
 *
 * A walk goes over one side or two. It finds the next segment, which is contiguous on all sides,
 * and hands it to the operation's body. The body is a constant, so that the compiler puts its code
 * into the loop.
 *
 *   side a     | run 0   | run 1   | run 2   |
 *   side b     | memory of the caller's      |
 *   segments   | 0       | 1       | 2       |
 *
 * Cases, from the cheapest on:
 *   contiguous   all sides are one piece of memory: one segment, no cursor
 *   in step      two scatter buffers whose runs are of one size, begin and end together: both run
 *                tables are walked as they lie
 *   lanes        the kernel takes several long segments together (abd_lanes.h)
 *   general      a cursor (abd_iter.h) for each side
 *
 * Two cursors do all that walking in step does, but have to ask at each run for gangs, zeros,
 * several orders and linear buffers. That costs a run of 4 KiB in L2 one twentieth of its time.
 * OpenZFS: abd_iterate_func2() in module/zfs/abd.c and its callbacks of four lines.
 */
#ifndef ABD_WALK_H
#define ABD_WALK_H

#include "abd_iter.h"
#include "abd_lanes.h"

/* One side of an operation: bytes of a buffer, or memory. */
struct abd_side {
	const abd_t *abd; /* NULL: memory */
	union {
		size_t off;       /* in abd */
		char *to;         /* memory that may be written */
		const char *from; /* memory that is only read */
	};
};

/* The side of a buffer. For an operation on 0 bytes, abd may be NULL. */
static inline struct abd_side abd_side(const abd_t *abd, size_t off)
{
	return (struct abd_side){.abd = abd, .off = off};
}

static inline struct abd_side abd_side_to(void *buf)
{
	return (struct abd_side){.to = buf};
}

static inline struct abd_side abd_side_from(const void *buf)
{
	return (struct abd_side){.from = buf};
}

struct abd_segment {
	char *a;
	const char *b; /* NULL: there is one side */
	size_t size;   /* > 0 */
	/* Hints: where the walk goes on after this segment; NULL: unknown, or right behind it. */
	char *next_a;
	const char *next_b;
	size_t at; /* bytes from the start of the operation to this segment */
};

/* What lanes() returns if its answer ends the walk. */
#define ABD_WALK_STOP SIZE_MAX

/*
 * What an operation does with the bytes: a constant. lanes() gets size bytes of each lane, and
 * returns how many bytes from the start of each are done. What it leaves goes to segment(), in
 * order.
 */
struct abd_body {
	/* False ends the walk. */
	bool (*segment)(void *op, const struct abd_segment *segment);
	size_t (*lanes)(void *op, const struct abd_lanes *now, size_t size,
		const struct abd_lanes *next); /* NULL: no kernel has lanes */
	/* Side a is written, if a call says so: it must not be of zeros, and side b must be apart.
	 */
	bool writes;
	/* The call handles ranges for which abd_small() is true itself, without the walk. */
	bool small;
};

/* ---- contiguous ---- */

/*
 * Whether size > 0 bytes at off are one piece of memory; if so, *at is where. False also if it
 * takes a cursor to find out (gangs, zeros, runs of several orders).
 */
static inline bool abd_contiguous(const abd_t *abd, size_t off, size_t size, char **at)
{
	if (abd_is_linear(abd)) {
		*at = (char *)ABD_BUF(abd) + off;
		return true;
	}
	/* In gangs the number of orders is 0. */
	if (abd->abd_class_count != 1 || abd_is_zeros(abd))
		return false;

	unsigned shift = ABD_CHUNK_SHIFT + abd->abd_order;
	size_t place = ABD_SCATTER(abd).abd_offset + off;
	size_t within = place & (((size_t)1 << shift) - 1);

	if (size > ((size_t)1 << shift) - within)
		return false;
	*at = (char *)ABD_SCATTER(abd).abd_runs[place >> shift].iov_base + within;
	return true;
}

static inline bool abd_side_contiguous(const struct abd_side *side, size_t size, char **at)
{
	if (side->abd != NULL)
		return abd_contiguous(side->abd, side->off, size, at);
	*at = side->to;
	return true;
}

/*
 * The one segment of an operation; false: there are several, or none. b NULL: there is one side.
 */
static inline bool abd_walk_whole(struct abd_segment *segment, const struct abd_side *a,
	const struct abd_side *b, size_t size)
{
	char *at_a, *at_b = NULL;

	if (size == 0 || !abd_side_contiguous(a, size, &at_a) ||
		(b != NULL && !abd_side_contiguous(b, size, &at_b)))
		return false;
	*segment = (struct abd_segment){.a = at_a, .b = at_b, .size = size};
	return true;
}

/*
 * Operations on up to this many bytes of one segment are done by the public call itself: to begin
 * and end a walk takes longer than comparing 512 bytes. Up to 512, because a kernel's choice and
 * hints don't matter below.
 */
enum { ABD_SMALL = 512 };

/*
 * Whether a range is small, within the buffer, and one piece of memory, which is then *at: nothing
 * else is left to check. False in checked builds, where more is checked.
 */
static inline bool abd_small(const abd_t *abd, size_t off, size_t size, char **at)
{
	return !ABD_CHECKED && size > 0 && size <= ABD_SMALL && abd != NULL &&
	       off <= abd->abd_size && size <= abd->abd_size - off &&
	       abd_contiguous(abd, off, size, at);
}

/* ---- in step ---- */

struct abd_step {
	const struct iovec *a, *b; /* these runs */
	size_t within;             /* where the segment begins in them */
	size_t run_size;
};

/*
 * Whether the second runs of both sides are the first ones' neighbours in memory. Then most runs
 * are, as those of a fresh buffer; cursors make one span of them, and a kernel that is called once
 * for four runs in L1 takes 0.8 of the time.
 */
static inline bool abd_step_is_span(const struct abd_step *step)
{
	return (char *)step->a->iov_base + step->run_size == step->a[1].iov_base &&
	       (char *)step->b->iov_base + step->run_size == step->b[1].iov_base;
}

/*
 * Whether the walk, which has several segments, goes in step. If so, step is at the first. The
 * second runs exist, as the walk would be contiguous else.
 */
static inline bool abd_step_begin(
	struct abd_step *step, const struct abd_side *a, const struct abd_side *b)
{
	if (a->abd == NULL || b->abd == NULL || abd_is_zeros(a->abd) || abd_is_zeros(b->abd) ||
		a->abd->abd_class_count != 1 || b->abd->abd_class_count != 1 ||
		a->abd->abd_order != b->abd->abd_order)
		return false;

	unsigned shift = ABD_CHUNK_SHIFT + a->abd->abd_order;
	size_t a_at = ABD_SCATTER(a->abd).abd_offset + a->off;
	size_t b_at = ABD_SCATTER(b->abd).abd_offset + b->off;

	step->run_size = (size_t)1 << shift;
	step->within = a_at & (step->run_size - 1);
	if (step->within != (b_at & (step->run_size - 1)))
		return false;
	step->a = &ABD_SCATTER(a->abd).abd_runs[a_at >> shift];
	step->b = &ABD_SCATTER(b->abd).abd_runs[b_at >> shift];
	return !abd_step_is_span(step);
}

/* ---- lanes ---- */

enum { ABD_WALK_PIECES = 3 * ABD_LANES };

struct abd_walk_piece {
	char *a;
	const char *b;
	size_t size;
	bool lane;
};

/*
 * The next segments, of which up to lane_count are long enough for a lane.
 *
 *   segments, in order:   [ 4032 ][ 64 ][ 4032 ][ 64 ]      boundaries shifted by 64 bytes
 *   lanes:                [ 4032 ]      [ 4032 ]            the kernel takes these together
 *
 * Mostly the runs of both sides begin and end together. Then the addresses come straight from the
 * run tables, and there is no list of pieces until the body needs one: piece by piece, taking four
 * of 4 KiB costs as much as comparing one of them in L2.
 */
struct abd_walk_batch {
	size_t count;
	unsigned lane_count;
	size_t common; /* bytes that every lane has */
	bool even;     /* every piece is a lane and has that many; they are not listed */
	struct abd_lanes lanes;
	struct abd_walk_piece piece[ABD_WALK_PIECES];
};

/** Begin a cursor over a side; writer: the call that writes to it, or NULL. */
void abd_walk_begin(struct abd_iter *iter, struct abd_side side, size_t size, const char *writer);

/** Take the next pieces, with up to lane_count lanes. None: the walk has ended. b may be NULL. */
void abd_walk_take(
	struct abd_walk_batch *batch, struct abd_iter *a, struct abd_iter *b, unsigned lane_count);

/** List the pieces, whether they are even or not. */
void abd_walk_list(struct abd_walk_batch *batch);

/* The piece behind the nth; NULL: nothing follows. Both are listed. */
static inline const struct abd_walk_piece *abd_walk_behind(
	const struct abd_walk_batch *now, size_t n, const struct abd_walk_batch *next)
{
	if (n + 1 < now->count)
		return &now->piece[n + 1];
	return next->count > 0 ? next->piece : NULL;
}

#define ABD_WALK_INLINE static inline __attribute__((always_inline))

/* The pieces of a batch, but for the first done bytes of each lane, segment by segment. */
ABD_WALK_INLINE bool abd_walk_batch_rest(struct abd_walk_batch *now, struct abd_walk_batch *next,
	size_t done, size_t *at, const struct abd_body body, void *op)
{
	abd_walk_list(now);
	abd_walk_list(next);
	for (size_t i = 0; i < now->count; i++) {
		const struct abd_walk_piece *piece = &now->piece[i];
		const struct abd_walk_piece *behind = abd_walk_behind(now, i, next);
		size_t skip = piece->lane ? done : 0;
		struct abd_segment segment = {
			.a = piece->a + skip,
			.b = piece->b != NULL ? piece->b + skip : NULL,
			.size = piece->size - skip,
			.next_a = behind != NULL ? behind->a : NULL,
			.next_b = behind != NULL ? behind->b : NULL,
			.at = *at + skip,
		};

		if (segment.size > 0 && !body.segment(op, &segment))
			return false;
		*at += piece->size;
	}
	return true;
}

/*
 * A later lane may be the first to find an answer. So what lanes() has left is then handed out
 * piece by piece, in order.
 */
ABD_WALK_INLINE bool abd_walk_batch(struct abd_walk_batch *now, struct abd_walk_batch *next,
	unsigned lane_count, size_t *at, const struct abd_body body, void *op)
{
	size_t done = 0;

	if (now->lane_count == lane_count)
		done = body.lanes(op, &now->lanes, now->common,
			next->lane_count > 0 ? &next->lanes : &now->lanes);
	if (now->even && done == now->common) {
		*at += now->count * done;
		return true;
	}
	return done != ABD_WALK_STOP && abd_walk_batch_rest(now, next, done, at, body, op);
}

/* Pieces of a copy, before any of them is copied. */
void abd_walk_batch_apart(const char *call, const struct abd_walk_batch *batch);

/* Has cursors of its own, because it passes their addresses on: see abd_iter_zeros(). */
ABD_WALK_INLINE bool abd_walk_lanes(const char *call, const struct abd_side *a,
	const struct abd_side *b, size_t size, unsigned lane_count, const struct abd_body body,
	void *op)
{
	struct abd_iter ia, ib, *two = NULL;
	struct abd_walk_batch batch[2];
	unsigned turn = 0;
	size_t at = 0;
	bool more = true;

	abd_walk_begin(&ia, *a, size, body.writes ? call : NULL);
	if (b != NULL) {
		abd_walk_begin(&ib, *b, size, NULL);
		two = &ib;
	}
	abd_walk_take(&batch[0], &ia, two, lane_count);
	while (more && batch[turn].count > 0) {
		abd_walk_take(&batch[turn ^ 1], &ia, two, lane_count);
		if (body.writes && b != NULL)
			abd_walk_batch_apart(call, &batch[turn]);
		more = abd_walk_batch(&batch[turn], &batch[turn ^ 1], lane_count, &at, body, op);
		turn ^= 1;
	}
	return more;
}

/* ---- the walk ---- */

ABD_WALK_INLINE bool abd_walk_segment(
	const char *call, const struct abd_segment *segment, const struct abd_body body, void *op)
{
	if (body.writes && segment->b != NULL)
		abd_require_apart_spans(call, segment->a, segment->b, segment->size);
	return body.segment(op, segment);
}

ABD_WALK_INLINE bool abd_walk_in_step(
	const char *call, struct abd_step *step, size_t size, const struct abd_body body, void *op)
{
	size_t left = size, n;
	bool more = true;

	for (; more && left > 0; left -= n) {
		n = abd_min(left, step->run_size - step->within);

		struct abd_segment segment = {
			.a = (char *)step->a->iov_base + step->within,
			.b = (char *)step->b->iov_base + step->within,
			.size = n,
			.next_a = left > n ? step->a[1].iov_base : NULL,
			.next_b = left > n ? step->b[1].iov_base : NULL,
			.at = size - left,
		};

		more = abd_walk_segment(call, &segment, body, op);
		step->within = 0;
		step->a++;
		step->b++;
	}
	return more;
}

/*
 * A side is a cursor, or memory (flat_a, flat_b) if its cursor is NULL. any is the cursor of a
 * side that has one. The loop ends when any is at its end: a count of its own would take a
 * register.
 */
ABD_WALK_INLINE bool abd_walk_general(const char *call, const struct abd_iter *any,
	struct abd_iter *a, char *flat_a, struct abd_iter *b, const char *flat_b,
	const struct abd_body body, void *op)
{
	size_t at = 0, n;
	bool more = true;

	for (; more && any->len > 0; at += n) {
		n = a != NULL && b != NULL ? abd_min(a->len, b->len) : any->len;

		struct abd_segment segment = {
			.a = a != NULL ? a->addr : flat_a + at,
			.size = n,
			.next_a = a != NULL ? abd_iter_next(a, n) : NULL,
			.at = at,
		};

		if (b != NULL) {
			segment.b = b->addr;
			segment.next_b = abd_iter_next(b, n);
		} else if (flat_b != NULL) {
			segment.b = flat_b + at;
		}
		more = abd_walk_segment(call, &segment, body, op);
		if (a != NULL)
			abd_iter_advance(a, n);
		if (b != NULL)
			abd_iter_advance(b, n);
	}
	return more;
}

/**
 * Walk over size bytes of one side, or of two; b NULL: of one. The caller has checked that they are
 * there. lane_count: of the kernel, 0 if it has no lanes. call: the public call that writes to
 * side a; NULL: it is only read.
 *
 * Returns: false if the body ended the walk.
 */
ABD_WALK_INLINE bool abd_walk(const char *call, const struct abd_side *a, const struct abd_side *b,
	size_t size, unsigned lane_count, const struct abd_body body, void *op)
{
	struct abd_segment whole;
	struct abd_iter ia, ib;
	struct abd_step step;

	if ((ABD_CHECKED || !body.small || size > ABD_SMALL) && abd_walk_whole(&whole, a, b, size))
		return abd_walk_segment(call, &whole, body, op);
	if (size == 0)
		return true;
	if (body.writes && b != NULL)
		abd_require_apart(call, a->abd, b->abd, a->off, b->off, size);
	if (b != NULL && lane_count == 0 && abd_step_begin(&step, a, b))
		return abd_walk_in_step(call, &step, size, body, op);
	if (body.lanes != NULL && lane_count > 0)
		return abd_walk_lanes(call, a, b, size, lane_count, body, op);
	if (b != NULL && b->abd != NULL) {
		abd_iter_start(&ib, b->abd, b->off, size, NULL);
		if (a->abd == NULL)
			return abd_walk_general(call, &ib, NULL, a->to, &ib, NULL, body, op);
	}
	abd_iter_start(&ia, a->abd, a->off, size, body.writes ? call : NULL);
	if (b == NULL)
		return abd_walk_general(call, &ia, &ia, NULL, NULL, NULL, body, op);
	if (b->abd == NULL)
		return abd_walk_general(call, &ia, &ia, NULL, NULL, b->from, body, op);
	return abd_walk_general(call, &ia, &ia, NULL, &ib, NULL, body, op);
}

#endif
