/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Eviction, and what follows. An evicted entry is retired. A grace period is begun for all that is
 * retired; when it has passed, they wait no longer: those that somebody holds are pinned, the
 * others are freed. An evicted entry stays in the index until nobody holds it, and is found there
 * under the lock.
 * The cache has no background thread. A put begins a grace period when enough is retired, and later
 * puts find that it has passed. So a put waits for readers only if they stay for longer than the
 * part of the capacity that is kept free for this lasts (abd_arc_target()). If memory runs short
 * in spite of that, because slabs are partly empty, puts evict ahead of need.
 * OpenZFS: arc_evict_state_impl(), arc_evict_hdr(); there each header has a reference count, and is
 * in a list of what can be evicted only while that is 0.
 */
#include "abd_arc_impl.h"
#include "abd_chunk.h"

#include <string.h>
#include <time.h>

/*
 * If memory is short, make room for this part of the capacity in addition, and for no more than
 * this: the lock is not held for long.
 */
#define ABD_ARC_ROOM_PART 256
#define ABD_ARC_ROOM_MAX ((size_t)4 << 20)
/* And no more records than this at a time: a quarter of a millisecond. */
#define ABD_ARC_EVICT_PIECE 1024
/* No call goes on to make room for what evicted_cb puts, once that is more than so many records. */
#define ABD_ARC_CALLBACK_PUTS 256
/* A cache is far over its capacity by more than this part of it. */
#define ABD_ARC_FAR_OVER_PART 16
/*
 * A put evicts no more records than this for the policy, and frees as many ghosts and some more
 * with each record. The rest is left to the next puts.
 */
#define ABD_ARC_EVICT_PUT 256
#define ABD_ARC_TRIM_STEP 4
/*
 * A grace period begins when this part of what is kept free is retired; beside very many holds, all
 * of which have to be looked at then, when this much larger part is.
 */
#define ABD_ARC_RETIRED_PART 8
#define ABD_ARC_RETIRED_PART_MOST 2
/* While one is under way, each eighth eviction looks whether it has passed. */
#define ABD_ARC_RETIRED_LOOK 8

size_t abd_arc_target(size_t capacity)
{
	return capacity - abd_arc_reserve(capacity);
}

void abd_arc_target_follow(struct abd_arc *arc)
{
	size_t target = abd_arc_target(arc->capacity) - abd_arc_seen_bytes(&arc->seen);
	size_t index_bytes = abd_arc_index_bytes(arc->index);
	size_t deducted = index_bytes - abd_min(index_bytes, ABD_ARC_INDEX_LEAST);

	deducted = arc->hit_batch > 1 ? abd_min(deducted, target / 2) : 0;
	abd_arc_policy_resize(&arc->policy, target - deducted);
	arc->policy.deducted = deducted;
}

static void abd_arc_unindex(struct abd_arc *arc, uint64_t hash, const struct abd_arc_entry *entry)
{
	bool was_in = abd_arc_index_remove(arc->index, hash, entry);

	assert(was_in); /* an entry in a list of the policy is in the index */
	(void)was_in;
}

void abd_arc_drop(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	abd_arc_unindex(arc, abd_arc_hash(arc, &entry->key), entry);
	if (abd_arc_item_list(&entry->item) == ABD_ARC_NONE) {
		arc->leaving--;
		return;
	}
	abd_arc_policy_remove(&arc->policy, &entry->item);
	abd_arc_record_retire(arc, entry);
}

/* What is held, or being told of, may be more than the capacity. */
static size_t abd_arc_allowed(const struct abd_arc *arc)
{
	return arc->capacity + arc->pinned_bytes +
	       abd_min(arc->untold_bytes, abd_arc_reserve(arc->capacity));
}

/* In the exact algorithm the policy has taken them into account. */
static size_t abd_arc_ghosts_next(const struct abd_arc *arc)
{
	return arc->hit_batch > 1 ? abd_arc_ghosts_next_bytes(&arc->policy.ghosts) : 0;
}

/*
 * Whether one more ghost would take the cache over its capacity, until what it is a ghost of is
 * freed.
 */
static bool abd_arc_is_ghost_too_much(const struct abd_arc *arc)
{
	size_t bytes = abd_arc_ghosts_next(arc);

	return bytes > 0 && abd_arc_used(arc) + bytes > abd_arc_allowed(arc);
}

void abd_arc_evict(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	uint64_t hash = abd_arc_hash(arc, &entry->key);

	if (abd_arc_is_ghost_too_much(arc))
		(void)abd_arc_policy_drop_ghost(&arc->policy);

	abd_arc_index_leave(arc->index, hash, entry);
	arc->leaving++;
	abd_arc_policy_evict(&arc->policy, &entry->item, hash);
	abd_arc_record_retire(arc, entry);
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
	size_t most = arc->hit_batch > 1 ? ABD_ARC_EVICT_PUT : SIZE_MAX;
	size_t step = arc->hit_batch > 1 ? ABD_ARC_TRIM_STEP : SIZE_MAX;
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
		more = abd_arc_policy_trim(&arc->policy, list, incoming, step);
	}
	return more;
}

bool abd_arc_evict_share(struct abd_arc *arc, unsigned share, size_t cost, size_t most)
{
	struct abd_arc_item *item;

	for (; (item = abd_arc_policy_displaced(&arc->policy, share, cost)) != NULL; most--) {
		if (most == 0)
			return true;
		abd_arc_evict(arc, abd_arc_entry_of(item));
	}
	return false;
}

/* The same if so much more had been taken. */
static size_t abd_arc_excess_with(const struct abd_arc *arc, int class, size_t more)
{
	size_t used = abd_arc_used(arc) + more +
		      abd_arc_index_next_bytes(arc->index, abd_arc_indexed(arc)) +
		      abd_arc_ghosts_next(arc) +
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

/*
 * Evict so many bytes, or all there is, or ABD_ARC_EVICT_PIECE records. Returns how many bytes; 0:
 * there was nothing left. Under lock.
 */
static size_t abd_arc_evict_some(struct abd_arc *arc, size_t bytes)
{
	size_t before = arc->evicted_bytes;

	for (unsigned i = 0; i < ABD_ARC_EVICT_PIECE && arc->evicted_bytes - before < bytes; i++)
		if (!abd_arc_evict_one(arc, false))
			break;
	return arc->evicted_bytes - before;
}

static bool abd_arc_retired_much(const struct abd_arc *arc)
{
	size_t many = abd_min(arc->slots_looked / ABD_ARC_RETIRED_SLOTS, ABD_ARC_RETIRED_MOST);
	size_t reserve = abd_arc_reserve(arc->capacity);
	bool much = arc->retired_count >= ABD_ARC_RETIRED_MUCH ||
		    arc->retired_bytes >= reserve / ABD_ARC_RETIRED_PART;

	return (much && arc->retired_count >= many) ||
	       arc->retired_bytes >= reserve / ABD_ARC_RETIRED_PART_MOST;
}

/* How much more room than necessary is made, if memory is short. */
static size_t abd_arc_room(const struct abd_arc *arc)
{
	return abd_min(arc->capacity / ABD_ARC_ROOM_PART, ABD_ARC_ROOM_MAX);
}

/*
 * Whether memory is nearly short. Not in the exact algorithm, whose evictions don't depend on how
 * records are packed while there is room.
 */
bool abd_arc_is_nearly_short(const struct abd_arc *arc)
{
	return arc->hit_batch > 1 && abd_arc_excess_with(arc, -1, abd_arc_room(arc)) > 0;
}

/*
 * If memory is nearly short, empty slabs, or evict, so that nobody need wait. Returns whether
 * so much is retired that a grace period is to begin.
 */
static bool abd_arc_evict_ahead(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->lock);
	size_t room = abd_arc_room(arc);
	bool is_short = abd_arc_is_nearly_short(arc);

	if (is_short && arc->retired_bytes < room) {
		size_t emptied = abd_arc_move_some(arc, room);

		if (emptied < room)
			(void)abd_arc_evict_some(arc, room - emptied);
	}

	bool much = is_short || abd_arc_retired_much(arc);

	pthread_mutex_unlock(&arc->lock);
	return much;
}

/*
 * What is retired waits from now on. Nothing waits yet. Under reclaim_lock, as the next three: only
 * its holder changes period.
 */
static void abd_arc_reclaim_begin(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->lock);
	assert(arc->period == 0);
	abd_arc_link_splice(&arc->waiting, &arc->retired);
	memcpy(arc->waiting_bits, arc->retired_bits, sizeof(arc->waiting_bits));
	memset(arc->retired_bits, 0, sizeof(arc->retired_bits));
	arc->retired_count = 0;
	arc->retired_bytes = 0;
	arc->batch++;

	/*
	 * The same grace period serves for lines of the index that are no longer needed, if memory
	 * is nearly short: the engine may have asked for their room.
	 */
	bool shrunk = abd_arc_used(arc) + 2 * arc->store.slab_max > abd_arc_target(arc->capacity) &&
		      abd_arc_index_shrink_some(arc->index, abd_arc_indexed(arc));
	bool waits = shrunk || arc->waiting.next != &arc->waiting;

	arc->stats.grace_periods += waits;
	pthread_mutex_unlock(&arc->lock);
	if (waits)
		arc->period = abd_rcu_period_begin();
}

/* Nothing waits any longer: free what nobody holds. waited: for readers. */
static void abd_arc_reclaim_end(struct abd_arc *arc, bool waited)
{
	struct abd_arc_link freed = {&freed, &freed};
	bool passed = arc->period != 0;

	arc->period = 0;
	pthread_mutex_lock(&arc->lock);
	arc->stats.waits += waited;
	if (arc->index->is_shrinking)
		abd_arc_index_shrink_end(arc->index);
	abd_arc_pin(arc, arc->batch, passed, &freed);
	abd_arc_link_splice(&freed, &arc->waiting);
	pthread_mutex_unlock(&arc->lock);
	if (ABD_UNLIKELY(arc->evicted_cb != NULL)) {
		abd_arc_untold_add(arc, &freed);
		return;
	}
	abd_arc_free_list(arc, &freed);
	abd_arc_free_end(arc, 0);
}

/* End it if the grace period of what waits has passed. False: it has not. */
static bool abd_arc_reclaim_try(struct abd_arc *arc)
{
	if (arc->period != 0 && !abd_rcu_period_has_passed(arc->period))
		return false;
	abd_arc_reclaim_end(arc, false);
	return true;
}

/* Wait, and end it. */
static void abd_arc_reclaim_wait(struct abd_arc *arc)
{
	if (abd_arc_reclaim_try(arc))
		return;
	abd_rcu_period_wait(arc->period);
	abd_arc_reclaim_end(arc, true);
}

void abd_arc_reclaim_finish(struct abd_arc *arc)
{
	if (arc->period != 0)
		abd_arc_reclaim_wait(arc);
}

void abd_arc_reclaim_unlock(struct abd_arc *arc)
{
	pthread_mutex_unlock(&arc->reclaim_lock);
	abd_arc_tell(arc);
}

/*
 * What is told of is freed only then. Between two steps that free memory. False: the callbacks put
 * so much that there shall be no next step. puts: how many records they had put before the first.
 */
static bool abd_arc_reclaim_pause(struct abd_arc *arc, size_t puts)
{
	if (ABD_LIKELY(arc->evicted_cb == NULL))
		return true;
	abd_arc_reclaim_unlock(arc);
	pthread_mutex_lock(&arc->reclaim_lock);
	pthread_mutex_lock(&arc->lock);
	puts = arc->puts_of_callbacks - puts;
	pthread_mutex_unlock(&arc->lock);
	return puts <= ABD_ARC_CALLBACK_PUTS;
}

static void abd_arc_reclaim_now(struct abd_arc *arc)
{
	abd_arc_reclaim_finish(arc);
	abd_arc_reclaim_begin(arc);
	abd_arc_reclaim_wait(arc);
}

bool abd_arc_reclaim_is_due(const struct abd_arc *arc)
{
	bool waits = arc->waiting.next != &arc->waiting;

	return abd_arc_retired_much(arc) ||
	       (waits && arc->retired_count % ABD_ARC_RETIRED_LOOK == 0);
}

void abd_arc_reclaim_some(struct abd_arc *arc)
{
	if (abd_arc_is_telling(arc) || pthread_mutex_trylock(&arc->reclaim_lock) != 0)
		return; /* somebody is at it */
	bool passed = arc->period == 0 || abd_arc_reclaim_try(arc);

	if (passed && abd_arc_evict_ahead(arc)) {
		abd_arc_reclaim_begin(arc);
		(void)abd_arc_reclaim_try(arc);
	}
	abd_arc_reclaim_unlock(arc);
}

void abd_arc_reclaim(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->reclaim_lock);
	abd_arc_reclaim_now(arc);
	abd_arc_reclaim_unlock(arc);
}

void abd_arc_ceiling_follow(struct abd_arc *arc)
{
	arc->ceiling = abd_min(arc->ceiling, abd_arc_used(arc) + arc->leeway);
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
	(void)abd_arc_ghosts_tidy(&arc->policy.ghosts);

	abd_arc_ceiling_follow(arc);
	size_t excess =
		abd_arc_excess(arc, class >= 0 ? abd_arc_store_near(&arc->store, class) : class);
	size_t room = abd_arc_room(arc);

	if (excess > 0 && is_first)
		any = arc->retired_bytes >= room;
	if (excess > 0 && !any)
		any = abd_arc_move_some(arc, excess + room) > 0 ||
		      abd_arc_evict_some(arc, excess + room) > 0;
	pthread_mutex_unlock(&arc->lock);
	if (any)
		abd_arc_reclaim_now(arc);
	return any;
}

void abd_arc_make_room(struct abd_arc *arc, int class)
{
	pthread_mutex_lock(&arc->lock);
	bool is_sparse = abd_arc_index_is_sparse(arc->index, abd_arc_indexed(arc));
	bool is_needed = abd_arc_excess(arc, class) > 0, is_first = true;
	size_t puts = arc->puts_of_callbacks;

	pthread_mutex_unlock(&arc->lock);
	/* What a callback puts may be too much until the next put. */
	if (!is_needed || abd_arc_is_telling(arc))
		return;

	pthread_mutex_lock(&arc->reclaim_lock);
	abd_arc_reclaim_finish(arc); /* this is the shortest wait */
	/* An index that is too large must not cost records. */
	if (is_sparse)
		abd_arc_reclaim_now(arc);
	while (abd_arc_reclaim_pause(arc, puts) && abd_arc_make_some_room(arc, class, is_first))
		is_first = false;
	abd_arc_reclaim_unlock(arc);
}

/* Evict an eighth of a shard's records. False: nothing was left to evict. */
static bool abd_arc_shrink_some(struct abd_arc *arc)
{
	size_t evicted = 0;
	bool any;

	pthread_mutex_lock(&arc->lock);
	size_t bytes = (arc->policy.recent.bytes + arc->policy.frequent.bytes) / 8;

	any = arc->evicted_bytes > arc->pinned_bytes + arc->untold_bytes;
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

	if (abd_arc_is_telling(arc))
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

/* Take a step: empty slabs of so many bytes, or evict, and free that. False: none is possible. */
static bool abd_arc_trim_some(struct abd_arc *arc, size_t over)
{
	pthread_mutex_lock(&arc->reclaim_lock);
	pthread_mutex_lock(&arc->lock);
	(void)abd_arc_ghosts_tidy(&arc->policy.ghosts);

	size_t before = abd_arc_used(arc);
	bool any = abd_arc_move_some(arc, over) > 0 || abd_arc_evict_some(arc, over) > 0;

	pthread_mutex_unlock(&arc->lock);
	if (any)
		abd_arc_reclaim_now(arc);
	pthread_mutex_lock(&arc->lock);
	/* Records that are held leave ghosts, and free nothing yet. */
	for (unsigned i = 0; i < ABD_ARC_EVICT_PIECE && abd_arc_used(arc) > before; i++)
		(void)abd_arc_policy_drop_ghost(&arc->policy);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_reclaim_unlock(arc);
	return any;
}

static uint64_t abd_arc_trim_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What all shards use, also for what is held; *puts: how many records evicted_cb has put there. */
static size_t abd_arc_trim_used(struct abd_arc *first, size_t *puts)
{
	size_t used = 0;

	*puts = 0;
	for (uint32_t i = 0; i < first->shards; i++) {
		pthread_mutex_lock(&first[i].lock);
		used += abd_arc_used(&first[i]);
		*puts += first[i].puts_of_callbacks;
		pthread_mutex_unlock(&first[i].lock);
	}
	return used;
}

/*
 * Take a step in each shard, for its part of what is too much. False: no step is left, or callbacks
 * have put much since they had put so many records.
 */
static bool abd_arc_trim_round(struct abd_arc *first, size_t goal, size_t puts)
{
	size_t puts_now, used = abd_arc_trim_used(first, &puts_now);
	bool any = false;

	if (puts_now - puts > ABD_ARC_CALLBACK_PUTS)
		return false;
	for (uint32_t i = 0; used > goal && i < first->shards; i++)
		any |= abd_arc_trim_some(&first[i], (used - goal - 1) / first->shards + 1);
	return any;
}

size_t abd_arc_trim(abd_arc_t *arc, size_t bytes, uint64_t max_ns)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	abd_arc_require_untelling(__func__, arc);
	uint64_t begin = abd_arc_trim_clock();
	size_t puts, before = abd_arc_trim_used(arc, &puts), goal = before - abd_min(before, bytes);

	for (uint32_t i = 0; i < arc->shards; i++)
		abd_arc_reclaim(&arc[i]); /* what waits to be freed costs no record */
	while (abd_arc_trim_clock() - begin < max_ns && abd_arc_trim_round(arc, goal, puts))
		continue;
	abd_cache_reap_now();

	size_t after = abd_arc_trim_used(arc, &puts);

	return before - abd_min(before, after);
}

static void abd_arc_held_add(struct abd_arc_entry *entry, void *bytes)
{
	*(size_t *)bytes += entry->item.cost;
}

size_t abd_arc_held_bytes(struct abd_arc *arc)
{
	size_t bytes = 0;

	abd_arc_reader_holds(arc, abd_arc_held_add, &bytes);
	return bytes;
}
