/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reclaiming: what was retired is freed when its readers have left, and memory is made where it is
 * short.
 * The cache has no background thread. A put that finds much retired waits for the readers, some
 * microseconds, without the lock; so does one that needs memory. One thread at a time does it, and
 * others go on while the part of the capacity that is kept free for this lasts (abd_arc_target()).
 * If memory runs short in spite of that, because slabs are partly empty, puts evict ahead of need.
 * OpenZFS: arc_reap_zthr and arc_evict_zthr, threads in the background.
 */
#include "abd_arc_callback.h"
#include "abd_arc_compact.h"
#include "abd_arc_free.h"
#include "abd_arc_reclaim.h"
#include "abd_arc_thread.h"

/*
 * It is time to reclaim when this part of the reserve is retired: other puts use the rest
 * meanwhile.
 */
#define ABD_ARC_RETIRED_PART 2
/* How many entries are decided on at a time under the lock. */
#define ABD_ARC_DECIDE_PIECE 256

/* ---- looking at the slots -------------------------------------------------------------------- */

/*
 * Mark an entry if it waits in this shard, as its stamp says. Only under the registry's lock may
 * the stamp of such an entry change now.
 */
static void abd_arc_reclaim_mark(struct abd_arc_entry *entry, void *arg)
{
	const struct abd_arc *arc = arg;
	uint64_t stamp = atomic_load_explicit(&entry->item.stamp, memory_order_relaxed);

	if ((stamp & ~ABD_ARC_STAMP_MARKS) == abd_arc_stamp_retired(arc))
		atomic_fetch_or_explicit(
			&entry->item.stamp, ABD_ARC_STAMP_HELD, memory_order_relaxed);
}

/*
 * Mark only entries that the last look has kept: nobody decides on newer ones after this look, so
 * they would keep the mark.
 */
static void abd_arc_reclaim_mark_kept(struct abd_arc_entry *entry, void *arc)
{
	if ((abd_arc_entry_count(entry) & ABD_ARC_COUNT_KEPT) != 0)
		abd_arc_reclaim_mark(entry, arc);
}

void abd_arc_reclaim_look(struct abd_arc *arc, bool kept_only)
{
	abd_arc_thread_lock();
	abd_arc_thread_visit(kept_only ? abd_arc_reclaim_mark_kept : abd_arc_reclaim_mark, arc);
	abd_arc_thread_unlock();
}

/* Clear the entry's mark. Returns whether it had one: the look has found it in a slot. */
static bool abd_arc_reclaim_unmark(struct abd_arc_entry *entry)
{
	uint64_t stamp = atomic_load_explicit(&entry->item.stamp, memory_order_relaxed);

	if ((stamp & ABD_ARC_STAMP_HELD) == 0)
		return false;
	atomic_store_explicit(
		&entry->item.stamp, stamp & ~ABD_ARC_STAMP_HELD, memory_order_relaxed);
	return true;
}

static void abd_arc_pinned_add(struct abd_arc *arc, const struct abd_arc_entry *entry, bool more)
{
	size_t bytes = entry->item.cost;

	arc->pinned_bytes = more ? arc->pinned_bytes + bytes : arc->pinned_bytes - bytes;
}

/* Set the stamp, but for what evicted_cb will get. */
static void abd_arc_entry_stamp(struct abd_arc_entry *entry, uint64_t stamp)
{
	stamp += abd_arc_item_stamp(&entry->item) & ABD_ARC_STAMP_LEFT;
	atomic_store_explicit(&entry->item.stamp, stamp, memory_order_relaxed);
}

/* Nobody finds or holds it any more. Under lock. */
static void abd_arc_entry_end(struct abd_arc_entry *entry, struct abd_arc_link *freed)
{
	*abd_arc_entry_holds(entry) = 0;
	abd_arc_link_pull(&entry->item.link);
	abd_arc_entry_stamp(entry, ABD_ARC_STAMP_ENDED);
	abd_arc_link_push(freed, &entry->item.link);
}

/* Pin an entry if it is counted. */
static bool abd_arc_reclaim_pin(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	if (abd_arc_entry_count(entry) < ABD_ARC_COUNT_HOLD ||
		__atomic_fetch_or(abd_arc_entry_holds(entry), ABD_ARC_COUNT_PINNED,
			__ATOMIC_ACQ_REL) < ABD_ARC_COUNT_HOLD)
		return false;
	abd_arc_link_pull(&entry->item.link);
	abd_arc_link_push(&arc->pinned, &entry->item.link);
	abd_arc_entry_stamp(entry, ABD_ARC_STAMP_OWNER);
	abd_arc_pinned_add(arc, entry, true);
	return true;
}

bool abd_arc_reclaim_decide(
	struct abd_arc *arc, struct abd_arc_decision *decision, struct abd_arc_link *freed)
{
	struct abd_arc_link *link = decision->next;

	for (unsigned i = 0; i < ABD_ARC_DECIDE_PIECE && link != &arc->waiting; i++) {
		struct abd_arc_entry *entry = abd_arc_link_entry(link);

		link = link->prev;
		if (abd_arc_reclaim_unmark(entry)) {
			__atomic_fetch_or(
				abd_arc_entry_holds(entry), ABD_ARC_COUNT_KEPT, __ATOMIC_RELAXED);
			decision->held_bytes += entry->item.cost;
		} else if (!abd_arc_reclaim_pin(arc, entry)) {
			abd_arc_entry_end(entry, freed);
			continue;
		}
		/* If its slab is being emptied, the entry stays in it now. */
		abd_arc_store_keep(&arc->store, entry);
	}
	decision->next = link;
	if (link != &arc->waiting)
		return true;
	arc->waiting_bytes = decision->held_bytes;
	return false;
}

/* ---- reclaiming ------------------------------------------------------------------------------ */

void abd_arc_reclaim_pinned(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	struct abd_arc_link freed = {&freed, &freed};

	pthread_mutex_lock(&arc->lock);
	abd_arc_pinned_add(arc, entry, false);
	abd_arc_entry_end(entry, &freed);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_callback_released(arc, &freed);
}

void abd_arc_reclaim_pinned_later(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	pthread_mutex_lock(&arc->lock);
	abd_arc_pinned_add(arc, entry, false);
	*abd_arc_entry_holds(entry) = 0;
	abd_arc_link_pull(&entry->item.link);
	/* It was retired before, and is so once more. */
	abd_arc_record_count(arc, entry, true);
	arc->evicted_bytes -= entry->item.cost;
	abd_arc_record_retire(arc, entry, abd_arc_item_stamp(&entry->item) & ABD_ARC_STAMP_LEFT);
	pthread_mutex_unlock(&arc->lock);
}

bool abd_arc_reclaim_is_due(const struct abd_arc *arc)
{
	return arc->retired_count >= ABD_ARC_RETIRED_MUCH ||
	       arc->retired_bytes >= abd_arc_reserve(arc->capacity) / ABD_ARC_RETIRED_PART;
}

/*
 * Move the retired entries to those that wait for readers. False: there are none. Under lock and
 * reclaim_lock.
 */
static bool abd_arc_reclaim_take(struct abd_arc *arc)
{
	bool any = arc->retired_count > 0;

	abd_arc_link_splice(&arc->waiting, &arc->retired);
	arc->retired_count = 0;
	arc->retired_bytes = 0;
	/*
	 * The same grace period serves for lines of the index that are no longer needed, if memory
	 * is nearly short: the engine may have asked for their room.
	 */
	if (abd_arc_used(arc) + 2 * arc->store.slab_max > abd_arc_target(arc->capacity))
		any |= abd_arc_index_shrink_some(arc->index, abd_arc_indexed(arc));
	arc->stats.grace_periods += any;
	arc->stats.waits += any;
	return any;
}

/*
 * Free the entries that do not lie in slots, or put them into pending. Returns the memory that was
 * freed since the last time.
 */
static struct abd_arc_loose abd_arc_reclaim_rest(struct abd_arc *arc, struct abd_arc_link *freed)
{
	if (ABD_UNLIKELY(arc->evicted_cb != NULL))
		abd_arc_pending_add(arc, freed);
	else
		abd_arc_free_list(arc, freed);
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_loose loose = abd_arc_loose_take(arc);

	pthread_mutex_unlock(&arc->lock);
	return loose;
}

/* No section can see what waits: free what nobody holds. Under reclaim_lock only. */
static void abd_arc_reclaim_free(struct abd_arc *arc, bool kept_only)
{
	struct abd_arc_decision decision = {arc->waiting.prev, 0};
	struct abd_arc_loose loose;
	bool more, any_runs = false;

	abd_arc_reclaim_look(arc, kept_only);
	do {
		struct abd_arc_link freed = {&freed, &freed};

		pthread_mutex_lock(&arc->lock);
		if (arc->index->is_shrinking)
			abd_arc_index_shrink_end(arc->index);
		more = abd_arc_reclaim_decide(arc, &decision, &freed);
		abd_arc_free_slots(arc, &freed);
		loose = abd_arc_loose_take(arc);
		pthread_mutex_unlock(&arc->lock);
		if (freed.next != &freed)
			loose = abd_arc_reclaim_rest(arc, &freed);
		any_runs |= loose.has_runs;
	} while (more);
	loose.has_runs = any_runs;
	abd_arc_loose_trim(arc, loose);
}

/* Wait for readers, then free what nobody holds. Under reclaim_lock only. */
static void abd_arc_reclaim_wait(struct abd_arc *arc)
{
	abd_arc_rcu_synchronize();
	abd_arc_reclaim_free(arc, false);
}

/* Look again if a release asked for it; unless somebody else reclaims, who does it then. */
static void abd_arc_reclaim_again(struct abd_arc *arc)
{
	while (atomic_load(&arc->looks_again) && pthread_mutex_trylock(&arc->reclaim_lock) == 0) {
		atomic_store(&arc->looks_again, false);
		abd_arc_reclaim_free(arc, true);
		pthread_mutex_unlock(&arc->reclaim_lock);
		atomic_thread_fence(memory_order_seq_cst);
	}
}

void abd_arc_reclaim_unlock(struct abd_arc *arc, size_t *left)
{
	pthread_mutex_unlock(&arc->reclaim_lock);
	atomic_thread_fence(memory_order_seq_cst);
	abd_arc_reclaim_again(arc);
	abd_arc_callback_run(arc, left);
}

/* If memory is nearly short, empty slabs, or evict, so that nobody need wait. Under lock. */
static void abd_arc_evict_ahead(struct abd_arc *arc)
{
	size_t room = abd_arc_room(arc);

	if (!abd_arc_is_nearly_short(arc) || arc->retired_bytes >= room)
		return;
	size_t emptied = abd_arc_compact_some(arc, room);

	if (emptied < room)
		(void)abd_arc_evict_some(arc, room - emptied);
}

bool abd_arc_reclaim_begin(struct abd_arc *arc)
{
	if (abd_arc_in_callback(arc) || pthread_mutex_trylock(&arc->reclaim_lock) != 0)
		return false;
	abd_arc_evict_ahead(arc);
	if (abd_arc_reclaim_take(arc))
		return true;
	pthread_mutex_unlock(&arc->reclaim_lock);
	atomic_thread_fence(memory_order_seq_cst);
	/* A release that asked for a look meanwhile has found the lock taken. */
	return atomic_load(&arc->looks_again) && pthread_mutex_trylock(&arc->reclaim_lock) == 0;
}

void abd_arc_reclaim_end(struct abd_arc *arc, size_t *left)
{
	abd_arc_reclaim_wait(arc);
	abd_arc_reclaim_unlock(arc, left);
}

void abd_arc_reclaim_kept(struct abd_arc *arc)
{
	size_t left = ABD_ARC_CALLBACKS;

	atomic_store(&arc->looks_again, true);
	if (abd_arc_in_callback(arc))
		return;
	abd_arc_reclaim_again(arc);
	abd_arc_callback_run(arc, &left);
}

void abd_arc_reclaim_now(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->lock);
	bool any = abd_arc_reclaim_take(arc);

	pthread_mutex_unlock(&arc->lock);
	if (any)
		abd_arc_reclaim_wait(arc);
	else
		abd_arc_reclaim_free(arc, true);
}

void abd_arc_reclaim(struct abd_arc *arc)
{
	size_t all = SIZE_MAX;

	pthread_mutex_lock(&arc->reclaim_lock);
	abd_arc_reclaim_now(arc);
	abd_arc_reclaim_unlock(arc, &all);
}

/*
 * What evicted_cb is called for is freed only then. Between two steps that free memory: run *left
 * callbacks, or all if there is no room without them. False: they put so much that there shall be
 * no next step. puts: how many records they had put before the first.
 */
static bool abd_arc_reclaim_pause(struct abd_arc *arc, size_t puts, size_t *left)
{
	size_t all = SIZE_MAX;

	if (ABD_LIKELY(arc->evicted_cb == NULL))
		return true;
	abd_arc_reclaim_unlock(arc, left);
	pthread_mutex_lock(&arc->lock);
	bool more = *left == 0 && arc->pending_count > 0 && abd_arc_excess(arc, -1) > 0;

	pthread_mutex_unlock(&arc->lock);
	if (more)
		abd_arc_callback_run(arc, &all);
	pthread_mutex_lock(&arc->reclaim_lock);
	pthread_mutex_lock(&arc->lock);
	puts = arc->puts_of_callbacks - puts;
	pthread_mutex_unlock(&arc->lock);
	return puts <= ABD_ARC_CALLBACK_PUTS;
}

/*
 * Take a step towards less excess: reclaim what was retired, if that is much, which is the first
 * thing to try; or empty slabs; or evict. It makes more room than necessary, so that one wait for
 * readers serves many puts. False: no step is needed, or possible. Under reclaim_lock.
 */
static bool abd_arc_make_some_room(struct abd_arc *arc, int class, bool is_first)
{
	bool any = false;

	pthread_mutex_lock(&arc->lock);
	abd_arc_ceiling_follow(arc);
	size_t excess =
		abd_arc_excess(arc, class >= 0 ? abd_arc_store_near(&arc->store, class) : class);
	size_t room = abd_arc_room(arc);

	if (excess > 0 && is_first)
		any = arc->retired_bytes >= room;
	if (excess > 0 && !any)
		any = abd_arc_compact_some(arc, excess + room) > 0 ||
		      abd_arc_evict_some(arc, excess + room) > 0;
	pthread_mutex_unlock(&arc->lock);
	if (any)
		abd_arc_reclaim_now(arc);
	return any;
}

void abd_arc_make_room(struct abd_arc *arc, int class, size_t *left)
{
	pthread_mutex_lock(&arc->lock);
	bool is_sparse = abd_arc_index_is_sparse(arc->index, abd_arc_indexed(arc));
	bool is_needed = abd_arc_excess(arc, class) > 0, is_first = true;
	size_t puts = arc->puts_of_callbacks;

	pthread_mutex_unlock(&arc->lock);
	/* What a callback puts may be too much until the next put. */
	if (!is_needed || abd_arc_in_callback(arc))
		return;

	pthread_mutex_lock(&arc->reclaim_lock);
	/* An index that is too large must not cost records. */
	if (is_sparse)
		abd_arc_reclaim_now(arc);
	while (abd_arc_reclaim_pause(arc, puts, left) &&
		abd_arc_make_some_room(arc, class, is_first))
		is_first = false;
	abd_arc_reclaim_unlock(arc, left);
}

/* Evict an eighth of a shard's records. False: nothing was left to evict. */
static bool abd_arc_shrink_some(struct abd_arc *arc)
{
	size_t evicted = 0;
	bool any;

	pthread_mutex_lock(&arc->lock);
	size_t bytes = (arc->policy.recent.bytes + arc->policy.frequent.bytes) / 8;

	any = arc->evicted_bytes > arc->waiting_bytes + arc->pinned_bytes + arc->pending_bytes;
	for (size_t got = 1; got > 0 && evicted <= bytes; evicted += got)
		got = abd_arc_evict_some(arc, bytes + 1 - evicted);
	any |= evicted > 0;
	pthread_mutex_unlock(&arc->lock);

	abd_arc_reclaim(arc);
	return any;
}

bool abd_arc_shrink(struct abd_arc *arc)
{
	struct abd_arc *first = abd_arc_first(arc);
	bool any = false;

	if (abd_arc_in_callback(arc))
		return false;
	/* The memory that is refused may be with any shard. */
	for (uint32_t i = 0; i < arc->shards; i++)
		any |= abd_arc_shrink_some(&first[i]);
	pthread_mutex_lock(&arc->lock);
	arc->stats.shrinks += any;
	pthread_mutex_unlock(&arc->lock);
	abd_cache_reap_now();
	return any;
}
