/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ghosts: what is remembered of records that were evicted. In two lists, by age; and in a hash
 * table.
 *
 *   cells, in pages of 128; each of them is a ghost, or free, and also a bucket of the table
 *   +-----------------+-----------------+-----------------+--
 *   | ghost    bucket | (free)   bucket | ghost    bucket |
 *   +-----------------+-----------------+-----------------+--
 *     n = 1             n = 2             n = 3
 *
 * Ghosts refer to each other by the number of their cell, which takes half of a pointer. So there
 * are as many buckets as cells, and the table grows by one cell at a time. It does not shrink: the
 * policy keeps it to a small part of the capacity, and a cache that becomes far smaller begins a
 * new one.
 *
 * Invariants: a ghost is in one list, and in its bucket; a free cell is in list ABD_ARC_NONE. A
 * list's bytes are the sum of its ghosts' costs.
 * Threads: one at a time, under the cache's lock.
 */
#ifndef ABD_ARC_GHOSTS_H
#define ABD_ARC_GHOSTS_H

#include "abd_mem_cache.h"

enum abd_arc_list_id {
	ABD_ARC_NONE,
	ABD_ARC_RECENT,
	ABD_ARC_FREQUENT,
};

struct abd_arc_ghost {
	uint64_t hash;
	uint32_t newer, older; /* in its list. This and all numbers: 0 is none */
	uint32_t chain;        /* the next ghost in the same bucket */
	uint32_t bucket;       /* the first ghost of the bucket that lies here */
	uint32_t cost;         /* the cost of the record, not of the ghost */
	uint32_t list;         /* the list that the record was evicted from */
};

struct abd_arc_ghost_list {
	uint32_t newest, oldest;
	size_t bytes;
	size_t count;
};

struct abd_arc_ghosts {
	struct abd_arc_ghost_list list[ABD_ARC_FREQUENT + 1];
	struct abd_arc_ghost **page;
	size_t page_room;  /* in page: a power of two, or 0 */
	size_t cells;      /* 0, or at least one page's */
	unsigned provider; /* of the pages */
};

/** The memory that one ghost takes, with an eighth for cells that are free. */
#define ABD_ARC_GHOST_COST (sizeof(struct abd_arc_ghost) * 9 / 8 + 1)

/** Free all ghosts. A struct that is all zero has none. */
void abd_arc_ghosts_fini(struct abd_arc_ghosts *ghosts);
/** Bytes of memory for all cells. */
size_t abd_arc_ghosts_bytes(const struct abd_arc_ghosts *ghosts);
/** By how many bytes that grows with one more ghost. */
size_t abd_arc_ghosts_next_bytes(const struct abd_arc_ghosts *ghosts);
static inline size_t abd_arc_ghosts_count(const struct abd_arc_ghosts *ghosts)
{
	return ghosts->list[ABD_ARC_RECENT].count + ghosts->list[ABD_ARC_FREQUENT].count;
}

/** The ghost of a number; and the number of a hash's ghost, or 0. */
struct abd_arc_ghost *abd_arc_ghost_at(const struct abd_arc_ghosts *ghosts, uint32_t number);
uint32_t abd_arc_ghost_find(const struct abd_arc_ghosts *ghosts, uint64_t hash);
/** Remember a record, which has no ghost. Without memory it is forgotten. */
void abd_arc_ghost_make(struct abd_arc_ghosts *ghosts, unsigned list, uint64_t hash, uint32_t cost);
void abd_arc_ghost_end(struct abd_arc_ghosts *ghosts, uint32_t number);

#endif
