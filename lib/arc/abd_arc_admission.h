/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which keys were put before: what a cache with ABD_ARC_SECOND_TIME remembers of records that it
 * did not store.
 *
 *   hash of a key   [ tag: its upper 32 bits | ........ | pair: its lowest bits ]
 *   table           [ tag tag ][ tag tag ][ tag tag ] ...
 *
 * Each key has one pair of places, and the last two keys that were put there are remembered. So
 * nothing has to be counted or freed, and a put looks at one line of memory. With single places,
 * two keys that come by turns would overwrite each other for ever: of 900 keys used in turn and
 * 16,384 places, 50 were never stored. A key is forgotten when two others have come: of keys since
 * which as many others came as there are places, 41 % are remembered.
 * Invariant: what a key is taken for decides only whether its record is stored. Two keys are taken
 * for one if pair and tag are equal; a place that was not used yet has the tag 0.
 * Threads: under the cache's lock.
 * OpenZFS: l2arc_mfuonly in module/zfs/arc.c, which lets only what was used twice into the second
 * level.
 */
#ifndef ABD_ARC_ADMISSION_H
#define ABD_ARC_ADMISSION_H

#include "abd_base.h"

/** All zero: a table without places, which takes every key for one that was put before. */
struct abd_arc_admission {
	uint32_t *tag;
	size_t places; /* a power of two, at least 2, or 0 */
};

/** How many places a cache of this capacity has: one for each 512 to 1,024 bytes. */
size_t abd_arc_admission_places(size_t capacity);
/** An empty table for a cache of this capacity. Without memory it has no places. */
void abd_arc_admission_init(struct abd_arc_admission *filter, size_t capacity);
void abd_arc_admission_fini(struct abd_arc_admission *filter);
/**
 * The cache gets this capacity. If that wants another number of places, exchange the table for
 * *other, which was made for that capacity. If there was no memory for other, which then has no
 * places, keep a table that is too small, but give up one that is too large.
 */
void abd_arc_admission_resize(
	struct abd_arc_admission *filter, struct abd_arc_admission *other, size_t capacity);

static inline size_t abd_arc_admission_bytes(const struct abd_arc_admission *filter)
{
	return filter->places * sizeof(*filter->tag);
}

/** Remember the key of this hash. Returns whether it was remembered before. */
static inline bool abd_arc_admission_admits(struct abd_arc_admission *filter, uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32);

	if (filter->places == 0)
		return true;
	uint32_t *pair = &filter->tag[2 * (size_t)(hash & (filter->places / 2 - 1))];

	if (pair[0] == tag || pair[1] == tag)
		return true;
	pair[1] = pair[0];
	pair[0] = tag;
	return false;
}

#endif
