/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the cache uses, and what has to go: abd_arc_evict.c.
 */
#ifndef ABD_ARC_EVICT_H
#define ABD_ARC_EVICT_H

#include "abd_arc_record.h"

/** All bytes that count towards the capacity. Under lock. */
static inline size_t abd_arc_used(const struct abd_arc *arc)
{
	return arc->store.bytes + arc->run_bytes + abd_arc_ghosts_bytes(&arc->policy.ghosts) +
	       abd_arc_index_bytes(arc->index) + abd_arc_admission_bytes(&arc->admission);
}

/** How much of a capacity the policy may use for records, and for the index. */
size_t abd_arc_target(size_t capacity);
/**
 * Compute anew what is left for records: the capacity has changed, or the part of it that the index
 * takes. At least half is left, even while an index shrinks that was made for a far larger cache.
 */
void abd_arc_target_follow(struct abd_arc *arc);
/**
 * Evict takes an entry out of the policy, which keeps a ghost, and marks it as leaving. Drop takes
 * one, leaving or not, out of index and policy; if it is damaged, evicted_cb gets to know. Under
 * lock.
 */
void abd_arc_evict(struct abd_arc *arc, struct abd_arc_entry *entry);
void abd_arc_drop(struct abd_arc *arc, struct abd_arc_entry *entry);
void abd_arc_drop_damaged(struct abd_arc *arc, struct abd_arc_entry *entry);
/**
 * Evict until incoming more bytes, which will go into list, fit the policy's capacity; but not many
 * records at once. True: some are left to evict. Under lock.
 */
bool abd_arc_evict_for(
	struct abd_arc *arc, enum abd_arc_list_id list, size_t incoming, bool from_frequent);
/**
 * Evict records of this quota, most at most, so that a new one of this cost does not take the quota
 * over its maximum. This must be done before the new record comes: afterwards it would be the one
 * that goes, if all others were used more often. True: more has to go. Under lock.
 */
bool abd_arc_evict_quota(struct abd_arc *arc, unsigned quota, size_t cost, size_t most);
/** How many bytes more than necessary are evicted, if memory is short. */
size_t abd_arc_room(const struct abd_arc *arc);
/**
 * Evict records until bytes are evicted, or no record is left, or about a thousand have gone.
 * Returns how many bytes; 0: there was no record. Under lock.
 */
size_t abd_arc_evict_some(struct abd_arc *arc, size_t bytes);
/** Whether memory is nearly short: then a put that took some reclaims at once. Under lock. */
bool abd_arc_is_nearly_short(const struct abd_arc *arc);
/**
 * How much memory would be in use beyond the capacity with one more slot of this class (-1: without
 * one). Memory of pinned entries does not count. Under lock.
 */
size_t abd_arc_excess(const struct abd_arc *arc, int class);
/**
 * Whether more bytes can be taken without making room: there would be no excess, or a resize makes
 * the room. Under lock.
 */
bool abd_arc_has_room(const struct abd_arc *arc, int class, size_t more);
/** Whether the cache is over its capacity, and no resize is making room. Under lock. */
bool abd_arc_is_over(const struct abd_arc *arc);
/** Whether the excess is more than a 16th of the capacity. Under lock. */
bool abd_arc_is_far_over(const struct abd_arc *arc);
/** While a resize makes room, lower the ceiling as used memory falls. Under lock. */
void abd_arc_ceiling_follow(struct abd_arc *arc);

/** The most that a record may cost. Under lock. */
static inline size_t abd_arc_quota_cost_max(const struct abd_arc *arc, bool is_metadata)
{
	return abd_arc_policy_cost_max(&arc->policy, abd_arc_quota_of(arc, is_metadata));
}

#endif
