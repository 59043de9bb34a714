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
 * If metadata has a minimum or maximum, T1 and T2 consist of two lists each: metadata's, and that
 * of all other records. The oldest of T1 is the older one of its lists' oldest, unless that is
 * metadata that may not go (abd_arc_policy_victim()). With one quota it is the algorithm of the
 * paper.
 *
 * A ghost is found by the 64-bit hash of its key. If two keys have the same hash (2^-64 for a
 * pair), p moves once by mistake.
 * Four things differ from the paper: sizes are bytes instead of pages; ghosts count as memory
 * (ghost_cost each), for which the records have to make room, and take a small part of the capacity
 * at most; and unless period_us is 0, the uses of a new record within a short time are one use, so
 * that a scan that reads records in pieces looks like one that reads them whole.
 * Threads: one at a time, under the cache's lock; but readers may look at an item's stamp.
 * OpenZFS: arc_access(), arc_evict(), arc_adapt() and the states arc_mru, arc_mfu, arc_mru_ghost,
 * arc_mfu_ghost in module/zfs/arc.c, with a list for data and one for metadata in each.
 */
#ifndef ABD_ARC_POLICY_H
#define ABD_ARC_POLICY_H

#include "abd_arc_ghosts.h"

#include <stdatomic.h>

struct abd_arc_link {
	struct abd_arc_link *next, *prev;
};

static inline void abd_arc_link_push(struct abd_arc_link *head, struct abd_arc_link *link)
{
	link->next = head->next;
	link->prev = head;
	link->next->prev = link;
	head->next = link;
}

static inline void abd_arc_link_pull(struct abd_arc_link *link)
{
	link->next->prev = link->prev;
	link->prev->next = link->next;
}

/** Move all links of from to the front of to, which may be empty or not. */
static inline void abd_arc_link_splice(struct abd_arc_link *to, struct abd_arc_link *from)
{
	if (from->next == from)
		return;
	from->next->prev = to;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	from->next = from->prev = from;
}

struct abd_arc_list {
	struct abd_arc_link head; /* next: the newest; prev: the oldest */
	size_t bytes;
	size_t count;
};

/* Quota 0 has the records that are not metadata's quota. */
enum { ABD_ARC_QUOTA_METADATA = 1, ABD_ARC_QUOTAS };

struct abd_arc_quota {
	size_t bytes;                /* what its records cost */
	struct abd_arc_link head[2]; /* of its lists in T1 and T2; quota 0 has T1's and T2's own */
};

/*
 * An item's stamp. 0: it is in no list. Below ABD_ARC_STAMP_FREQUENT: it is in T1. From
 * ABD_ARC_STAMP_YOUNG on, it is young until the time in units of ABD_ARC_STAMP_STEP; below that it
 * never is, and that is the clock. From ABD_ARC_STAMP_FREQUENT on: it is in T2, and that is the
 * clock when it came to the front, in units of ABD_ARC_STAMP_TURN. So of two items in T1, or in T2,
 * the one with the smaller stamp came first, in T1 as exactly as time is measured.
 * The low bits are the item's quota, and in T2, from ABD_ARC_STAMP_USE on, how often it was used.
 * Bit 0 the policy leaves to the item's owner (abd_arc_item_mark()), as it does, for items in no
 * list, all stamps from ABD_ARC_STAMP_OWNER on.
 * The time in microseconds would reach 2^59 after millennia; the clock of T2, which has 2^54 turns,
 * after 50 years of 10 million hits a second.
 */
#define ABD_ARC_STAMP_FREQUENT ((uint64_t)1 << 62)
#define ABD_ARC_STAMP_OWNER ((uint64_t)1 << 63)
#define ABD_ARC_STAMP_MARK ((uint64_t)1)
#define ABD_ARC_STAMP_STEP ((uint64_t)2 * ABD_ARC_QUOTAS)
#define ABD_ARC_STAMP_YOUNG ((uint64_t)1 << 61)
#define ABD_ARC_STAMP_USE ((uint64_t)2 * ABD_ARC_QUOTAS)
/** Uses are counted up to this. */
#define ABD_ARC_USES_MAX 63
#define ABD_ARC_STAMP_TURN (ABD_ARC_STAMP_USE * (ABD_ARC_USES_MAX + 1))

/** The policy's part of a record. */
struct abd_arc_item {
	struct abd_arc_link link;
	_Atomic uint64_t stamp;
	uint32_t cost;
	/* set by the cache; the policy neither reads nor writes them */
	uint32_t size : 31;
	uint32_t indexed : 1;
};

struct abd_arc_policy {
	size_t capacity;      /* c */
	size_t deducted;      /* what c would be larger by, if other memory did not take it now */
	size_t target_recent; /* p */
	size_t reserved;      /* cost of records that are about to be inserted */
	size_t ghost_cost;    /* bytes of memory that a ghost takes */
	bool forgets;         /* there are no ghosts: p stays 0, and T1 loses records before T2 */
	uint64_t clock;       /* moves to the front of T2 so far, and of T1 if none is young */
	/* uses of a new record within this time are one use; 0: every use counts, as in the paper
	 */
	uint64_t period_us;
	size_t incoming; /* bytes inserted, less than one step of shared.hurry_us */
	size_t metadata_min, metadata_max; /* what metadata's quota may cost */
	struct abd_arc_quota quota[ABD_ARC_QUOTAS];
	unsigned quotas; /* 1: metadata has no minimum and no maximum, and no quota of its own */
	struct abd_arc_list recent, frequent;
	struct abd_arc_ghosts ghosts;
	/*
	 * What readers look at on each hit. It changes rarely, and has a cache line of its own.
	 */
	struct {
		/* the stamp of an item that moved to T2's front lately */
		_Alignas(64) _Atomic uint64_t clock;
		/*
		 * an item of T2 that is less than this behind clock is in the newest quarter of T2,
		 * or if there are quotas in the newest 64th
		 */
		_Atomic uint64_t fresh;
		/* time passes faster while much comes in: so much in addition to the clock's */
		_Atomic uint64_t hurry_us;
	} shared;
};

static inline uint64_t abd_arc_item_stamp(const struct abd_arc_item *item)
{
	return atomic_load_explicit(&item->stamp, memory_order_relaxed);
}

static inline enum abd_arc_list_id abd_arc_item_list(const struct abd_arc_item *item)
{
	uint64_t stamp = abd_arc_item_stamp(item);

	if (stamp >= ABD_ARC_STAMP_OWNER || stamp <= ABD_ARC_STAMP_MARK)
		return ABD_ARC_NONE;
	return stamp >= ABD_ARC_STAMP_FREQUENT ? ABD_ARC_FREQUENT : ABD_ARC_RECENT;
}

static inline unsigned abd_arc_item_quota(const struct abd_arc_item *item)
{
	return (unsigned)(abd_arc_item_stamp(item) / 2 % ABD_ARC_QUOTAS);
}

/** How often an item in a list was used, its first time included, as far as the policy knows. */
static inline unsigned abd_arc_item_uses(const struct abd_arc_item *item)
{
	if (abd_arc_item_list(item) != ABD_ARC_FREQUENT)
		return 1;
	return (unsigned)(abd_arc_item_stamp(item) / ABD_ARC_STAMP_USE & ABD_ARC_USES_MAX);
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

void abd_arc_policy_init(struct abd_arc_policy *policy, size_t capacity, size_t ghost_cost);
/** Free all ghosts. Items that are still in a list are forgotten, not freed. */
static inline void abd_arc_policy_fini(struct abd_arc_policy *policy)
{
	abd_arc_ghosts_fini(&policy->ghosts);
}

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
/** A record was used, and belongs to this quota from now on. Does nothing if it is in no list. */
void abd_arc_policy_hit(struct abd_arc_policy *policy, struct abd_arc_item *item, unsigned quota);

/**
 * A record that is in no list will be inserted. If it has a ghost, adapt p and free the ghost.
 * Returns the list it belongs in. *from_frequent: whether its ghost was T2's, for
 * abd_arc_policy_victim().
 */
enum abd_arc_list_id abd_arc_policy_ask(
	struct abd_arc_policy *policy, uint64_t hash, size_t cost, bool *from_frequent);

/** The most that a record of this quota may cost. */
size_t abd_arc_policy_cost_max(const struct abd_arc_policy *policy, unsigned quota);
/** Whether records, ghosts and incoming bytes together exceed the capacity, or metadata its max. */
bool abd_arc_policy_is_over(const struct abd_arc_policy *policy, size_t incoming);
/**
 * The record to evict next (REPLACE), still in its list; NULL: there is none. If metadata is above
 * its maximum, it is metadata. Else metadata does not fall below its minimum by it, while there are
 * other records.
 */
struct abd_arc_item *abd_arc_policy_victim(struct abd_arc_policy *policy, bool from_frequent);
/**
 * The record to evict next before one of this quota, and of this cost, comes, so that the quota
 * stays below its maximum; NULL: none.
 */
struct abd_arc_item *abd_arc_policy_displaced(
	struct abd_arc_policy *policy, unsigned quota, size_t cost);
/** Take a record out of its list, and leave a ghost, if the bounds and memory allow one. */
void abd_arc_policy_evict(struct abd_arc_policy *policy, struct abd_arc_item *item, uint64_t hash);
/**
 * Free the ghosts beyond the lists' bounds, where incoming bytes are about to go into list: so many
 * at most. True: some may be left.
 */
bool abd_arc_policy_trim(
	struct abd_arc_policy *policy, enum abd_arc_list_id list, size_t incoming, size_t most);
/** Free the oldest ghost of the longer list; false: there is none. */
bool abd_arc_policy_drop_ghost(struct abd_arc_policy *policy);

/**
 * Put a record of this quota at the front of a list. The record's cost is set and it is in no
 * list. A ghost with the same hash is freed.
 */
void abd_arc_policy_insert(struct abd_arc_policy *policy, struct abd_arc_item *item,
	enum abd_arc_list_id list, unsigned quota, uint64_t hash);
/**
 * The same at the back, for a record that was used so often, the last time before any of those that
 * are there.
 */
void abd_arc_policy_restore(struct abd_arc_policy *policy, struct abd_arc_item *item,
	enum abd_arc_list_id list, unsigned quota, uint64_t hash, unsigned uses);
/** Take a record out of its list without a ghost. */
void abd_arc_policy_remove(struct abd_arc_policy *policy, struct abd_arc_item *item);
/** Put a record that is in no list, and whose cost is set, in the place of another one. */
void abd_arc_policy_replace(
	struct abd_arc_policy *policy, struct abd_arc_item *from, struct abd_arc_item *to);
void abd_arc_policy_resize(struct abd_arc_policy *policy, size_t capacity);

#endif
