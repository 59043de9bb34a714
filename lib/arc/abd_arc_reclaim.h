/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Freeing what was retired when its readers have left, and making room: abd_arc_reclaim.c.
 */
#ifndef ABD_ARC_RECLAIM_H
#define ABD_ARC_RECLAIM_H

#include "abd_arc_evict.h"

/**
 * Mark the waiting entries that some slot holds; kept_only: only those that the last look has kept.
 * Under reclaim_lock, after a grace period.
 */
void abd_arc_reclaim_look(struct abd_arc *arc, bool kept_only);

/** How far the decisions after a look have come. */
struct abd_arc_decision {
	struct abd_arc_link *next; /* the next entry to decide on, the oldest first */
	size_t held_bytes;         /* cost of the entries found in slots */
};

/**
 * After a look: pin entries that are counted, and move entries that nobody holds from the waiting
 * ones to freed. Decides on at most a few hundred entries. False: none is left. Under lock and
 * reclaim_lock.
 */
bool abd_arc_reclaim_decide(
	struct abd_arc *arc, struct abd_arc_decision *decision, struct abd_arc_link *freed);

/** Wait for readers, then free what is retired and not held. Outside of sections and locks. */
void abd_arc_reclaim(struct abd_arc *arc);
/** The same for a caller that has reclaim_lock, and no other lock. */
void abd_arc_reclaim_now(struct abd_arc *arc);
/** Let others reclaim, and run eviction callbacks that are pending, *left of them at most. */
void abd_arc_reclaim_unlock(struct abd_arc *arc, size_t *left);
/** The last hold of an entry that is pinned has ended: free it. Outside of sections and locks. */
void abd_arc_reclaim_pinned(struct abd_arc *arc, struct abd_arc_entry *entry);
/** The same under the registry's lock, where nothing may be freed: the next look frees it. */
void abd_arc_reclaim_pinned_later(struct abd_arc *arc, struct abd_arc_entry *entry);
/** How many records evicted_cb may put before a call stops making room for them. */
#define ABD_ARC_CALLBACK_PUTS 256
/**
 * This many retired records are freed even if there is room for more, so that no put frees many.
 */
#define ABD_ARC_RETIRED_MUCH 512
/** Whether enough is retired to reclaim. Under lock. */
bool abd_arc_reclaim_is_due(const struct abd_arc *arc);
/**
 * Begin to reclaim, unless another thread does it: evict ahead if memory is nearly short, and move
 * retired entries to the waiting ones. True: the caller then calls abd_arc_reclaim_end(), outside
 * of sections and locks, to wait for readers and free entries that nobody holds. Under lock.
 */
bool abd_arc_reclaim_begin(struct abd_arc *arc);
void abd_arc_reclaim_end(struct abd_arc *arc, size_t *left);
/**
 * Look again at entries that were found in slots. No section can see them, so there is no wait for
 * readers. If another thread reclaims, it does this afterwards. Outside of sections and locks.
 */
void abd_arc_reclaim_kept(struct abd_arc *arc);
/**
 * Reclaim, compact and evict, until there is no excess, or nothing left to free, or evicted_cb has
 * put some hundred records. More than *left callbacks run only if that makes room. Outside of
 * sections and locks.
 */
void abd_arc_make_room(struct abd_arc *arc, int class, size_t *left);
/**
 * An allocation has failed: evict an eighth of the cache's records and give the memory back. False:
 * nothing was left to evict. Outside of sections and locks.
 */
bool abd_arc_shrink(struct abd_arc *arc);

#endif
