/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Removing.
 * Invariant: who removes a key's record also overtakes its fill, which may have read what is no
 * longer true.
 * OpenZFS: arc_freed() in module/zfs/arc.c.
 */
#include "abd_arc_impl.h"

#include <abd/compare.h>

/*
 * Whether these are one record: the same entry, or copies made by a move. Only what lies in a slot
 * is moved, so no large record is compared with the lock. Under lock.
 */
static bool abd_arc_is_same(
	const struct abd_arc *arc, struct abd_arc_entry *a, struct abd_arc_entry *b)
{
	return a == b ||
	       (a->item.size == b->item.size &&
		       abd_arc_entry_bytes(arc, a) == abd_arc_store_bytes_of(&arc->store, a) &&
		       abd_equal(abd_arc_entry_abd(a), abd_arc_entry_abd(b)));
}

/* Remove the record of key, but if held is not NULL only if that is it. Returns 0 or -ENOENT. */
static int abd_arc_remove_if(
	struct abd_arc *arc, const abd_arc_key_t *key, struct abd_arc_entry *held)
{
	uint64_t hash = abd_arc_hash(arc, key);
	bool much;

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_find(arc, hash, key);
	bool found = entry != NULL && (held == NULL || abd_arc_is_same(arc, held, entry));

	if (found || held == NULL)
		abd_arc_filling_overtake(arc, hash, key);
	if (found) {
		abd_arc_drop(arc, entry);
		arc->stats.removes++;
	}
	/* More waits to be freed than the cache keeps room for: free it before the next put. */
	much = arc->evicted_bytes - arc->pinned_bytes > arc->capacity - arc->policy.capacity;
	pthread_mutex_unlock(&arc->lock);
	if (much)
		abd_arc_reclaim(arc);
	return found ? 0 : -ENOENT;
}

int abd_arc_remove(abd_arc_t *arc, const abd_arc_key_t *key)
{
	ABD_REQUIRE(arc != NULL && key != NULL, "cache or key is NULL");

	return abd_arc_remove_if(arc, key, NULL);
}

int abd_arc_hold_drop(abd_arc_t *arc, const abd_arc_hold_t *hold)
{
	ABD_REQUIRE(arc != NULL, "cache is NULL");
	ABD_REQUIRE(abd_arc_hold_check(__func__, hold) == arc, "the hold is of another cache");
	struct abd_arc_entry *held = abd_arc_held_entry(hold);

	return abd_arc_remove_if(arc, &held->key, held);
}
