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
 * and |T1| + |B1| + |T2| + |B2| <= 2c, unless a single record is larger, or calls that do no more
 * than a piece at a time have not come to it yet; 0 <= p <= c. A key is in one list at most.
 *
 * A ghost is found by the 64-bit hash of its key. If two keys have the same hash (2^-64 for a
 * pair), p moves once by mistake.
 * Three things differ from the paper: sizes are bytes instead of pages; ghosts count as memory
 * (ghost_cost each), for which the records have to make room; and the uses of a new record within a
 * short time are one use, unless period_us is 0, so that a scan that reads records in pieces looks
 * like one that reads them whole.
 * Threads: one at a time, under the cache's lock; but readers may look at an item's stamp.
 * OpenZFS: arc_access(), arc_evict(), arc_evict_adj() and the states arc_mru, arc_mfu,
 * arc_mru_ghost, arc_mfu_ghost in module/zfs/arc.c.
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

/*
 * An item's stamp. 0: it is in no list. Below ABD_ARC_STAMP_FREQUENT: it is in T1, and young until
 * twice this time. From there on: it is in T2, and the clock stood at half of the stamp's low bits
 * when it came to the front. The policy leaves two things to the item's owner: bit 0
 * (abd_arc_item_mark()), and, for items in no list, all stamps from ABD_ARC_STAMP_OWNER on.
 * The clock would reach 2^61 after centuries.
 */
#define ABD_ARC_STAMP_FREQUENT ((uint64_t)1 << 62)
#define ABD_ARC_STAMP_OWNER ((uint64_t)1 << 63)
#define ABD_ARC_STAMP_MARK ((uint64_t)1)
#define ABD_ARC_STAMP_GROWN ((uint64_t)2) /* in T1, and never young */

/** The policy's part of a record. */
struct abd_arc_item {
	struct abd_arc_link link;
	_Atomic uint64_t stamp;
	uint32_t cost;
	/* the owner's; the policy does not touch them */
	uint32_t size : 31;
	uint32_t indexed : 1;
};

struct abd_arc_ghost;

struct abd_arc_policy {
	size_t capacity;      /* c */
	size_t target_recent; /* p */
	size_t reserved;      /* cost of records that are about to be inserted */
	size_t ghost_cost;    /* bytes of memory that a ghost takes */
	uint64_t clock;       /* moves to the front of T2 so far */
	/* uses of a new record within this time are one use; 0: every use counts, as in the paper
	 */
	uint64_t period_us;
	size_t incoming; /* bytes inserted, less than one step of shared.hurry_us */
	struct abd_arc_list recent, frequent, ghost_recent, ghost_frequent;
	struct abd_arc_slab ghosts;
	/* pages of buckets; one bucket more or less at a time, as in the index */
	struct abd_arc_ghost ***bucket;
	size_t bucket_pages; /* room in bucket: a power of two, or 0 */
	size_t bucket_count; /* 0, or at least one page's */
	/*
	 * What readers look at on each hit. It changes rarely, and has a cache line of its own.
	 */
	struct {
		/* the stamp of an item that moved to T2's front lately */
		_Alignas(64) _Atomic uint64_t clock;
		/* an item of T2 that is less than this behind clock is in the newest quarter of T2
		 */
		_Atomic uint64_t fresh;
		/* time passes faster while much comes in: so much in addition to the clock's */
		_Atomic uint64_t hurry_us;
	} shared;
};

static inline enum abd_arc_list_id abd_arc_item_list(const struct abd_arc_item *item)
{
	uint64_t stamp = atomic_load_explicit(&item->stamp, memory_order_relaxed);

	if (stamp >= ABD_ARC_STAMP_OWNER || stamp <= ABD_ARC_STAMP_MARK)
		return ABD_ARC_NONE;
	return stamp >= ABD_ARC_STAMP_FREQUENT ? ABD_ARC_FREQUENT : ABD_ARC_RECENT;
}

/** Set the owner's mark, and say whether it was set; under the cache's lock. */
static inline bool abd_arc_item_mark(struct abd_arc_item *item, bool mark)
{
	uint64_t stamp = atomic_load_explicit(&item->stamp, memory_order_relaxed);

	atomic_store_explicit(&item->stamp,
		(stamp & ~ABD_ARC_STAMP_MARK) | (mark ? ABD_ARC_STAMP_MARK : 0),
		memory_order_relaxed);
	return (stamp & ABD_ARC_STAMP_MARK) != 0;
}

/** The memory that one ghost takes, with its share of pages and buckets. */
size_t abd_arc_policy_ghost_cost(void);

void abd_arc_policy_init(struct abd_arc_policy *policy, size_t capacity, size_t ghost_cost);
/** Free all ghosts and buckets. Items that are still in a list are forgotten, not freed. */
void abd_arc_policy_fini(struct abd_arc_policy *policy);

/** Whether an item of T1 with this stamp is so new that its use is not another one. Any thread. */
bool abd_arc_policy_is_young(const struct abd_arc_policy *policy, uint64_t stamp);
/**
 * Whether the policy wants to know of a hit: not if the item is in the newest quarter of T2, or
 * young. Any thread.
 */
static inline bool abd_arc_policy_wants(
	const struct abd_arc_policy *policy, const struct abd_arc_item *item)
{
	uint64_t stamp = atomic_load_explicit(&item->stamp, memory_order_relaxed);
	uint64_t clock = atomic_load_explicit(&policy->shared.clock, memory_order_relaxed);
	uint64_t fresh = atomic_load_explicit(&policy->shared.fresh, memory_order_relaxed);

	/* Signed: the item may have moved since clock was set. */
	if ((int64_t)(clock - stamp) < (int64_t)fresh)
		return false;
	return stamp >= ABD_ARC_STAMP_FREQUENT || !abd_arc_policy_is_young(policy, stamp);
}
/** Whether a record of this hash was evicted and has a ghost. */
bool abd_arc_policy_has_ghost(const struct abd_arc_policy *policy, uint64_t hash);
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
/**
 * Free the ghosts beyond the lists' bounds, where incoming bytes are about to go into list: so many
 * at most. True: some may be left.
 */
bool abd_arc_policy_trim(
	struct abd_arc_policy *policy, enum abd_arc_list_id list, size_t incoming, size_t most);
/**
 * Give back about a thousand of the buckets that the ghosts no longer need. False: there are none.
 */
bool abd_arc_policy_tidy(struct abd_arc_policy *policy);
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
/** Put a record that is in no list in the place of another one of the same cost. */
void abd_arc_policy_replace(struct abd_arc_item *from, struct abd_arc_item *to);
void abd_arc_policy_resize(struct abd_arc_policy *policy, size_t capacity);

/** Bytes of memory for ghosts and their buckets. */
size_t abd_arc_policy_ghost_bytes(const struct abd_arc_policy *policy);

#endif
