/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to keep: Megiddo and Modha's ARC, counted in bytes.
 *
 *        recent (T1)             frequent (T2)
 *   <- oldest   newest ->    <- oldest    newest ->       records, together at most c bytes
 *   [ ghosts of T1 (B1) ]    [ ghosts of T2 (B2) ]        what was evicted: no data, only
 *                                                         what it was and what it cost
 *
 * p is the size that T1 should have. It grows when a record comes back that T1 evicted too soon,
 * and shrinks when T2 evicted it.
 *
 * Invariants, after each call: every list's bytes are the sum of its items' costs; |T1| + |B1| <= c
 * and |T1| + |B1| + |T2| + |B2| <= 2c, unless a single record is larger; 0 <= p <= c. A key is in
 * one list at most.
 *
 * A ghost is found by the 64-bit hash of its key. If two keys have the same hash (2^-64 for a
 * pair), p moves once by mistake.
 * Two things differ from the paper: sizes are bytes instead of pages, and ghosts count as memory
 * (ghost_cost each), for which the records have to make room.
 * Threads: one at a time, under the cache's lock; but readers may look at an item's stamp.
 * OpenZFS: arc_access(), arc_adapt() and the states arc_mru, arc_mfu, arc_mru_ghost, arc_mfu_ghost
 * in module/zfs/arc.c.
 */
#ifndef ABD_ARC_POLICY_H
#define ABD_ARC_POLICY_H

#include "abd_arc_slab.h"

#include <stdatomic.h>

enum abd_arc_list_id {
	ABD_ARC_NONE,
	ABD_ARC_RECENT,
	ABD_ARC_FREQUENT,
};

struct abd_arc_link {
	struct abd_arc_link *next, *prev;
};

struct abd_arc_list {
	struct abd_arc_link head; /* next: the newest; prev: the oldest */
	size_t bytes;
	size_t count;
};

/** The policy's part of a record. */
struct abd_arc_item {
	struct abd_arc_link link;
	/* in T2: the clock when it last came to the front; in T1: a clock long ago */
	_Atomic uint32_t stamp;
	uint32_t cost;
	uint8_t list; /* enum abd_arc_list_id */
	/* flags, mark and size belong to the owner; the policy does not touch them */
	uint8_t flags;
	uint16_t mark;
	uint32_t size;
};

struct abd_arc_ghost;

struct abd_arc_policy {
	size_t capacity;      /* c */
	size_t target_recent; /* p */
	size_t reserved;      /* cost of records that are about to be inserted */
	size_t ghost_cost;    /* bytes of memory that a ghost takes */
	uint32_t clock;       /* moves to the front of T2 so far */
	struct abd_arc_list recent, frequent, ghost_recent, ghost_frequent;
	struct abd_arc_slab ghosts;
	struct abd_arc_ghost **bucket;
	size_t bucket_count; /* a power of two, or 0 */
};

/** The memory that one ghost takes, with its share of pages and buckets. */
size_t abd_arc_policy_ghost_cost(void);

void abd_arc_policy_init(struct abd_arc_policy *policy, size_t capacity, size_t ghost_cost);
/** Free all ghosts and buckets. Items that are still in a list are forgotten, not freed. */
void abd_arc_policy_fini(struct abd_arc_policy *policy);

/** A record was used. Does nothing if it is in no list. */
void abd_arc_policy_hit(struct abd_arc_policy *policy, struct abd_arc_item *item);

/**
 * A record that is in no list will be inserted. If it has a ghost, adapt p and free the ghost.
 * Returns the list it belongs in. *from_frequent: whether its ghost was T2's, for
 * abd_arc_policy_victim().
 */
enum abd_arc_list_id abd_arc_policy_ask(
	struct abd_arc_policy *policy, uint64_t hash, size_t cost, bool *from_frequent);

/** Whether records, ghosts and incoming bytes together exceed the capacity. */
bool abd_arc_policy_is_over(const struct abd_arc_policy *policy, size_t incoming);
/** The record to evict next (REPLACE), still in its list; NULL: there is none. */
struct abd_arc_item *abd_arc_policy_victim(const struct abd_arc_policy *policy, bool from_frequent);
/** Take a record out of its list, and leave a ghost if there is memory for one. */
void abd_arc_policy_evict(struct abd_arc_policy *policy, struct abd_arc_item *item, uint64_t hash);
/** Free the ghosts beyond the lists' bounds, where incoming bytes are about to go into list. */
void abd_arc_policy_trim(struct abd_arc_policy *policy, enum abd_arc_list_id list, size_t incoming);
/** Free the oldest ghost of the longer list; false: there is none. */
bool abd_arc_policy_drop_ghost(struct abd_arc_policy *policy);

/**
 * Put a record at the front of a list. The record's cost is set and it is in no list. A ghost
 * with the same hash is freed.
 */
void abd_arc_policy_insert(struct abd_arc_policy *policy, struct abd_arc_item *item,
	enum abd_arc_list_id list, uint64_t hash);
/** Take a record out of its list without a ghost. */
void abd_arc_policy_remove(struct abd_arc_policy *policy, struct abd_arc_item *item);
void abd_arc_policy_resize(struct abd_arc_policy *policy, size_t capacity);

/** Bytes of memory for ghosts and their buckets. */
size_t abd_arc_policy_ghost_bytes(const struct abd_arc_policy *policy);

#endif
