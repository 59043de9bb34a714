/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Removing: a key's record, what is held, or all records of a pool.
 * Invariant: who removes a key's record also overtakes its fill, which may have read what is no
 * longer true.
 * OpenZFS: arc_freed() in module/zfs/arc.c.
 */
#include "abd_arc_callback.h"
#include "abd_arc_filling.h"
#include "abd_arc_hold.h"
#include "abd_arc_read.h"
#include "abd_arc_walk.h"

#include <time.h>

/*
 * Take an entry out of the cache, and overtake its key's fill. An entry that is no longer found is
 * taken out too: a reader that has seen it may only now note its hold, and then it would be found
 * again. Returns whether it was found. Under lock.
 */
static bool abd_arc_remove_entry(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	bool found = abd_arc_is_found(entry);

	/* One that is leaving was counted when it was evicted. */
	arc->stats.removes += abd_arc_item_list(&entry->item) != ABD_ARC_NONE;
	abd_arc_filling_overtake(arc, abd_arc_hash(arc, &entry->key), &entry->key);
	abd_arc_drop(arc, entry);
	return found;
}

/*
 * Remove the record of key; if held is not NULL, only if the key's record is that one. Returns 0 or
 * -ENOENT.
 */
static int abd_arc_remove_if(
	struct abd_arc *first, const abd_arc_key_t *key, struct abd_arc_entry *held)
{
	uint64_t hash = abd_arc_hash(first, key);
	struct abd_arc *arc = abd_arc_shard(first, hash);
	bool found = false, reclaims;
	size_t left = ABD_ARC_CALLBACKS;

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_index_find_any(arc->index, hash, key);

	if (held != NULL && entry != NULL &&
		!(abd_arc_is_found(entry) && abd_arc_is_same(arc, held, entry)))
		entry = NULL;
	if (entry != NULL)
		found = abd_arc_remove_entry(arc, entry);
	else if (held == NULL)
		abd_arc_filling_overtake(arc, hash, key);
	reclaims = abd_arc_reclaim_is_due(arc) && abd_arc_reclaim_begin(arc);
	pthread_mutex_unlock(&arc->lock);
	if (reclaims)
		abd_arc_reclaim_end(arc, &left);
	return found ? 0 : -ENOENT;
}

int abd_arc_remove(abd_arc_t *arc, const abd_arc_key_t *key)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	abd_arc_rcu_require_outside(__func__);

	return abd_arc_remove_if(arc, key, NULL);
}

int abd_arc_hold_drop(abd_arc_t *arc, const abd_arc_hold_t *hold)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	struct abd_arc_entry *held = abd_arc_hold_check(__func__, hold);

	ABD_REQUIRE(abd_arc_first(abd_arc_handle_arc(hold->entry)) == arc,
		"the hold is of another cache");
	abd_arc_rcu_require_outside(__func__);

	return abd_arc_remove_if(arc, &held->key, held);
}

/* ---- pools ----------------------------------------------------------------------------------- */

/*
 * After so many steps with the lock, of about five records each, free what they removed, and pause.
 * Without a pause this thread takes the lock again before one that waits for it has woken: then
 * p99.9 of puts beside it is 250 us (AMD Zen 4, 2 cores), and with it 75 us. sched_yield() is no
 * pause where each thread has a core.
 */
#define ABD_ARC_POOL_STEPS 64
#define ABD_ARC_POOL_PAUSE_NS 50000

static void abd_arc_pool_pause(struct abd_arc *arc)
{
	ABD_KEEP_ERRNO;
	ABD_NO_CANCEL;
	const struct timespec pause = {0, ABD_ARC_POOL_PAUSE_NS};

	abd_arc_reclaim(arc);
	nanosleep(&pause, NULL);
}

/* Look without the lock whether this step may have something of the pool to remove. */
static bool abd_arc_pool_is_near(struct abd_arc_walk *walk, uint64_t pool)
{
	abd_arc_rcu_read_lock();
	abd_arc_walk_step(walk, false);
	bool near = walk->leaving;

	for (size_t i = 0; i < walk->count; i++)
		near |= walk->found[i]->key.pool == pool;
	abd_arc_rcu_read_unlock();
	return near;
}

/* Remove what this step finds of the pool. Returns how many records were there. */
static size_t abd_arc_pool_remove(struct abd_arc *arc, struct abd_arc_walk *walk, uint64_t pool)
{
	size_t removed = 0;

	pthread_mutex_lock(&arc->lock);
	abd_arc_walk_step(walk, true);
	for (size_t i = 0; i < walk->count; i++)
		if (walk->found[i]->key.pool == pool)
			removed += abd_arc_remove_entry(arc, walk->found[i]);
	pthread_mutex_unlock(&arc->lock);
	return removed;
}

static size_t abd_arc_pool_end(struct abd_arc *arc, uint64_t pool)
{
	struct abd_arc_walk walk = {.index = arc->index};
	size_t removed = 0, steps = 0;

	do {
		if (!abd_arc_pool_is_near(&walk, pool))
			continue;
		removed += abd_arc_pool_remove(arc, &walk, pool);
		if (++steps % ABD_ARC_POOL_STEPS == 0)
			abd_arc_pool_pause(arc);
	} while (abd_arc_walk_next(&walk));
	abd_arc_reclaim(arc);
	return removed;
}

ssize_t abd_arc_remove_pool(abd_arc_t *arc, uint64_t pool)
{
	size_t removed = 0;

	ABD_REQUIRE(arc != NULL, "arc is NULL");
	abd_arc_require_no_callback(__func__, arc);
	abd_arc_rcu_require_outside(__func__);
	for (uint32_t i = 0; i < arc->shards; i++) {
		pthread_mutex_lock(&arc[i].lock);
		abd_arc_filling_overtake_pool(&arc[i], pool);
		pthread_mutex_unlock(&arc[i].lock);
	}
	for (uint32_t i = 0; i < arc->shards; i++)
		removed += abd_arc_pool_end(&arc[i], pool);
	return (ssize_t)removed;
}
