/* SPDX-License-Identifier: BSD-2-Clause */
#include "abd_arc_evict.h"
/*
 * Eviction: how much the cache uses, and what has to go. An evicted entry is retired, and stays in
 * the index until nobody holds it: it is found there under the lock.
 * OpenZFS: arc_evict_state_impl(), arc_evict_hdr(); there each header has a reference count, and is
 * in a list of what can be evicted only while that is 0.
 */

/*
 * For the policy a put evicts at most this many records, and frees at most this many ghosts, and
 * ABD_ARC_TRIM_STEP more with each record. The rest is left to the next puts.
 */
#define ABD_ARC_EVICT_PUT 256
#define ABD_ARC_TRIM_STEP 4
/* How many records are evicted for room at a time: that takes a quarter of a millisecond. */
#define ABD_ARC_EVICT_PIECE 1024
/* A cache is far over its capacity by more than this part of it. */
#define ABD_ARC_FAR_OVER_PART 16
/*
 * If memory is short, evict this part of the capacity more than the put needs, but not more than
 * that, so that the lock is not held for long.
 */
#define ABD_ARC_ROOM_PART 256
#define ABD_ARC_ROOM_MAX ((size_t)4 << 20)

size_t abd_arc_target(size_t capacity)
{
	return capacity - abd_arc_reserve(capacity);
}

void abd_arc_target_follow(struct abd_arc *arc)
{
	size_t target = abd_arc_target(arc->capacity) - abd_arc_admission_bytes(&arc->admission);
	size_t index_bytes = abd_arc_index_bytes(arc->index);
	size_t deducted = index_bytes - abd_min(index_bytes, ABD_ARC_INDEX_LEAST);

	deducted = abd_min(deducted, target / 2);
	abd_arc_policy_resize(&arc->policy, target - deducted);
	arc->policy.deducted = deducted;
}

static void abd_arc_unindex(struct abd_arc *arc, uint64_t hash, const struct abd_arc_entry *entry)
{
	bool was_in = abd_arc_index_remove(arc->index, hash, entry);

	assert(was_in); /* an entry in a list of the policy is in the index */
	(void)was_in;
}

/* reason: 0: evicted_cb is not to be called for it. */
static void abd_arc_drop_as(struct abd_arc *arc, struct abd_arc_entry *entry, unsigned reason)
{
	uint64_t left = abd_arc_entry_left(entry, reason);

	abd_arc_unindex(arc, abd_arc_hash(arc, &entry->key), entry);
	if (abd_arc_item_list(&entry->item) == ABD_ARC_NONE) {
		arc->leaving--;
		/* A look may set its mark meanwhile. */
		if (reason == ABD_ARC_EVICTED_DAMAGED) {
			atomic_fetch_and(&entry->item.stamp, ~(7 * ABD_ARC_STAMP_REASON));
			atomic_fetch_or(&entry->item.stamp, ABD_ARC_STAMP_REASON * reason);
		}
		return;
	}
	abd_arc_policy_remove(&arc->policy, &entry->item);
	abd_arc_record_retire(arc, entry, left);
}

void abd_arc_drop(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	abd_arc_drop_as(arc, entry, 0);
}

void abd_arc_drop_damaged(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	abd_arc_drop_as(arc, entry, ABD_ARC_EVICTED_DAMAGED);
	arc->stats.damaged++;
}

/* What is held, or pending for evicted_cb, may be more than the capacity. */
static size_t abd_arc_allowed(const struct abd_arc *arc)
{
	return arc->capacity + arc->waiting_bytes + arc->pinned_bytes +
	       abd_min(arc->pending_bytes, abd_arc_reserve(arc->capacity));
}

/*
 * Whether one more ghost would take memory that there is not: over the capacity, until what it is a
 * ghost of is freed, or while the cache is made smaller.
 */
static bool abd_arc_is_ghost_too_much(const struct abd_arc *arc)
{
	size_t bytes = abd_arc_ghosts_next_bytes(&arc->policy.ghosts);

	return bytes > 0 && (arc->trims || arc->goal < arc->capacity ||
				    abd_arc_used(arc) + bytes > abd_arc_allowed(arc));
}

/* Why records are evicted now. While a resize makes room, that is why, whoever needs some. */
static unsigned abd_arc_evict_reason(const struct abd_arc *arc)
{
	if (arc->is_ending)
		return ABD_ARC_EVICTED_DESTROY;
	if (arc->trims)
		return ABD_ARC_EVICTED_TRIM;
	return arc->ceiling > 0 ? ABD_ARC_EVICTED_RESIZE : ABD_ARC_EVICTED_CAPACITY;
}

void abd_arc_evict(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	uint64_t hash = abd_arc_hash(arc, &entry->key);
	uint64_t left = abd_arc_entry_left(entry, abd_arc_evict_reason(arc));

	if (abd_arc_is_ghost_too_much(arc))
		(void)abd_arc_policy_drop_ghost(&arc->policy);

	abd_arc_index_leave(arc->index, hash, entry);
	arc->leaving++;
	abd_arc_policy_evict(&arc->policy, &entry->item, hash);
	abd_arc_record_retire(arc, entry, left);
	arc->stats.evictions++;
}

/* One step of REPLACE: evict a record, or free a ghost if there is no record. False: neither. */
static bool abd_arc_evict_one(struct abd_arc *arc, bool from_frequent)
{
	struct abd_arc_item *victim = abd_arc_policy_victim(&arc->policy, from_frequent);

	if (victim == NULL)
		return abd_arc_policy_drop_ghost(&arc->policy);
	abd_arc_evict(arc, abd_arc_entry_of(victim));
	return true;
}

bool abd_arc_evict_for(
	struct abd_arc *arc, enum abd_arc_list_id list, size_t incoming, bool from_frequent)
{
	size_t most = ABD_ARC_EVICT_PUT;
	/*
	 * Trim at each step too: each eviction leaves a ghost, which takes memory, and many would
	 * leave more ghosts than their bounds allow.
	 */
	bool more = abd_arc_policy_trim(&arc->policy, list, incoming, most);

	/* Ghosts that have to go anyway must not cost records, where nothing needs room now. */
	if (more && incoming == 0)
		return true;
	while (abd_arc_policy_is_over(&arc->policy, incoming)) {
		if (most == 0)
			return true;
		if (!abd_arc_evict_one(arc, from_frequent))
			break;
		most--;
		more = abd_arc_policy_trim(&arc->policy, list, incoming, ABD_ARC_TRIM_STEP);
	}
	return more;
}

bool abd_arc_evict_quota(struct abd_arc *arc, unsigned quota, size_t cost, size_t most)
{
	struct abd_arc_item *item;

	for (; (item = abd_arc_policy_displaced(&arc->policy, quota, cost)) != NULL; most--) {
		if (most == 0)
			return true;
		abd_arc_evict(arc, abd_arc_entry_of(item));
	}
	return false;
}

/* The excess if more bytes had been taken. */
static size_t abd_arc_excess_with(const struct abd_arc *arc, int class, size_t more)
{
	size_t used = abd_arc_used(arc) + more +
		      abd_arc_index_next_bytes(arc->index, abd_arc_indexed(arc)) +
		      abd_arc_ghosts_next_bytes(&arc->policy.ghosts) +
		      (class >= 0 ? abd_arc_store_next_bytes(&arc->store, class) : 0);
	size_t allowed = abd_arc_allowed(arc);

	return used > allowed ? used - allowed : 0;
}

size_t abd_arc_excess(const struct abd_arc *arc, int class)
{
	return abd_arc_excess_with(arc, class, 0);
}

bool abd_arc_has_room(const struct abd_arc *arc, int class, size_t more)
{
	return abd_arc_used(arc) + more < arc->ceiling || abd_arc_excess(arc, class) == 0;
}

bool abd_arc_is_over(const struct abd_arc *arc)
{
	size_t used = abd_arc_used(arc);

	return used > abd_arc_allowed(arc) && used >= arc->ceiling;
}

bool abd_arc_is_far_over(const struct abd_arc *arc)
{
	return abd_arc_excess(arc, -1) > arc->capacity / ABD_ARC_FAR_OVER_PART;
}

size_t abd_arc_evict_some(struct abd_arc *arc, size_t bytes)
{
	size_t before = arc->evicted_bytes;

	for (unsigned i = 0; i < ABD_ARC_EVICT_PIECE && arc->evicted_bytes - before < bytes; i++)
		if (!abd_arc_evict_one(arc, false))
			break;
	return arc->evicted_bytes - before;
}

size_t abd_arc_room(const struct abd_arc *arc)
{
	return abd_min(arc->capacity / ABD_ARC_ROOM_PART, ABD_ARC_ROOM_MAX);
}

bool abd_arc_is_nearly_short(const struct abd_arc *arc)
{
	return abd_arc_excess_with(arc, -1, abd_arc_room(arc)) > 0;
}

void abd_arc_ceiling_follow(struct abd_arc *arc)
{
	arc->ceiling = abd_min(arc->ceiling, abd_arc_used(arc) + arc->leeway);
}
