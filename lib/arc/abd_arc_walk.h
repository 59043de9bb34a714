/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk over the index, a line at a time. Between its steps entries come and go, and lines are
 * split and joined. The walk goes over hashes with their bits reversed, in ascending order. A line
 * is chosen by a hash's low bits, so it has one range of these numbers. A split halves this range,
 * and a join puts two together:
 *
 *   4 lines   | line 0 (00) | line 2 (10) | line 1 (01) | line 3 (11) |
 *   2 lines   |       line 0 (.0)         |        line 1 (.1)        |
 *             0                                                      2^64
 *
 * A step takes what lies between where the walk is and the end of that line's range, however far
 * the range extends by then.
 *
 * Invariants: what is in the index from the walk's begin to its end is found once. A key is found
 * twice only if it was taken out meanwhile and put in again. Without the lock, nothing that is
 * leaving is looked into. A step looks again when a look-up would (abd_arc_index_find()), so it
 * ends for the same reason.
 * OpenZFS: nothing walks buf_hash_table; arc_flush() in module/zfs/arc.c goes over lists.
 * Source: the cursor of Redis's SCAN, which counts in reversed bits.
 */
#ifndef ABD_ARC_WALK_H
#define ABD_ARC_WALK_H

#include "abd_arc_entry.h"
#include "abd_arc_index.h"

#define ABD_ARC_WALK_MOST 64

struct abd_arc_walk {
	struct abd_arc_index *index;
	uint64_t at; /* what is below was found; as last, with its bits reversed */
	/* of the step: */
	uint64_t last; /* the end of its range */
	bool leaving;  /* something that is leaving was met, and not looked into */
	size_t count;
	struct abd_arc_entry *found[ABD_ARC_WALK_MOST];
};

static inline uint64_t abd_arc_walk_reverse(uint64_t x)
{
	x = (x & 0x5555555555555555u) << 1 | (x >> 1 & 0x5555555555555555u);
	x = (x & 0x3333333333333333u) << 2 | (x >> 2 & 0x3333333333333333u);
	x = (x & 0x0f0f0f0f0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0f0f0f0f0fu);
	return __builtin_bswap64(x);
}

/* How many of the low bits of this hash say which of so many lines is its home. */
static inline unsigned abd_arc_walk_bits(uint64_t hash, size_t lines)
{
	unsigned bits = abd_log2(lines - 1);
	size_t half = (size_t)1 << bits;

	return (((size_t)hash & (half - 1)) | half) < lines ? bits + 1 : bits;
}

/* Note the entry in a slot, if it lies in the step's range. False: there is no room for it. */
static inline bool abd_arc_walk_note(
	struct abd_arc_walk *walk, struct abd_arc_entry *entry, bool locked)
{
	if (abd_arc_index_is_leaving(entry)) {
		bool empty = entry == ABD_ARC_SLOT_EMPTY;

		walk->leaving |= !empty;
		if (empty || !locked)
			return true;
		entry = abd_arc_index_open(entry);
	}

	uint64_t place = abd_arc_walk_reverse(abd_arc_hash_key(walk->index->seed, &entry->key));

	if (place < walk->at || place > walk->last)
		return true;
	if (walk->count == ABD_ARC_WALK_MOST)
		return false;
	walk->found[walk->count++] = entry;
	return true;
}

/*
 * Note the entries that have their home in this line and lie in the range. False: there is no room.
 */
static inline bool abd_arc_walk_line(struct abd_arc_walk *walk, size_t home, bool locked)
{
	struct abd_arc_line *page = abd_arc_index_page(walk->index, home);

	walk->count = 0;
	walk->leaving = false;
	for (size_t i = 0; i < ABD_ARC_PAGE_LINES; i++) {
		struct abd_arc_line *line = &page[(home + i) % ABD_ARC_PAGE_LINES];
		uint64_t tags = atomic_load_explicit(&line->tags, memory_order_acquire);

		for (unsigned slot = 0; slot < ABD_ARC_LINE_SLOTS; slot++)
			if (!abd_arc_walk_note(walk,
				    atomic_load_explicit(&line->slot[slot], memory_order_acquire),
				    locked))
				return false;
		if (tags >> 56 == 0)
			break;
	}
	return true;
}

/**
 * A step: find the entries between at and the end of the line's range, at most ABD_ARC_WALK_MOST of
 * them. Inside a read-side section; or under lock, and then leaving entries too.
 */
static inline void abd_arc_walk_step(struct abd_arc_walk *walk, bool locked)
{
	struct abd_arc_index *index = walk->index;
	uint64_t hash = abd_arc_walk_reverse(walk->at);
	unsigned bits, bits_now, narrower = 0;
	size_t turn, turn_now;
	bool fits;

	do {
		turn = atomic_load_explicit(&index->turns, memory_order_acquire);
		bits = abd_arc_walk_bits(
			hash, atomic_load_explicit(&index->lines, memory_order_acquire));
		assert(bits + narrower < 64); /* else so many entries have one hash */
		walk->last = walk->at | UINT64_MAX >> (bits + narrower);
		fits = abd_arc_walk_line(walk, (size_t)hash & (((size_t)1 << bits) - 1), locked);
		narrower += !fits;
		bits_now = abd_arc_walk_bits(
			hash, atomic_load_explicit(&index->lines, memory_order_acquire));
		turn_now = atomic_load_explicit(&index->turns, memory_order_acquire);
	} while (!fits || bits_now != bits || turn_now != turn);
}

/** Go on to the next step. False: the walk has ended. */
static inline bool abd_arc_walk_next(struct abd_arc_walk *walk)
{
	if (walk->last == UINT64_MAX)
		return false;
	walk->at = walk->last + 1;
	return true;
}

#endif
