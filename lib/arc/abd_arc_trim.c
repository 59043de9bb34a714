/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Trimming: memory goes back to the system when the engine asks, and the capacity stays.
 * Invariant: each step frees something, or the trim ends; and it looks at the clock before each.
 * OpenZFS: arc_reduce_target_size(), where the system's memory pressure asks.
 */
#include "abd_arc_callback.h"
#include "abd_arc_compact.h"
#include "abd_arc_rcu.h"
#include "abd_arc_reclaim.h"

/*
 * Take a step that frees about over bytes: empty slabs, or else evict. False: no step is possible.
 */
static bool abd_arc_trim_some(struct abd_arc *arc, size_t over)
{
	size_t all = SIZE_MAX;

	pthread_mutex_lock(&arc->reclaim_lock);
	pthread_mutex_lock(&arc->lock);
	/* Records that are held leave ghosts, and free nothing yet. */
	arc->trims = true;
	bool any = abd_arc_compact_some(arc, over) > 0 || abd_arc_evict_some(arc, over) > 0;

	arc->trims = false;
	pthread_mutex_unlock(&arc->lock);
	if (any)
		abd_arc_reclaim_now(arc);
	abd_arc_reclaim_unlock(arc, &all);
	return any;
}

/*
 * The memory that all shards use, that of held records too; *puts: how many records evicted_cb has
 * put into them.
 */
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

/* A trim under way: it ends when goal bytes are used, or max_ns have passed. */
struct abd_arc_trim {
	struct abd_arc *first;
	size_t goal;
	uint64_t begin_ns, max_ns;
	size_t puts; /* how many records evicted_cb had put when it began */
};

static bool abd_arc_trim_is_late(const struct abd_arc_trim *trim)
{
	return abd_arc_now_ns() - trim->begin_ns >= trim->max_ns;
}

/*
 * Take a step in each shard, for its part of the excess, until the time is up. The next round
 * begins with the shard behind the last one, so that short trims do not always free memory of the
 * same shard. False: no step is left, or callbacks have put much, or the time is up.
 */
static bool abd_arc_trim_round(const struct abd_arc_trim *trim)
{
	struct abd_arc *first = trim->first;
	size_t puts, used = abd_arc_trim_used(first, &puts);
	bool any = false;

	if (puts - trim->puts > ABD_ARC_CALLBACK_PUTS || used <= trim->goal)
		return false;
	size_t part = (used - trim->goal - 1) / first->shards + 1;

	for (uint32_t i = 0; i < first->shards; i++) {
		if (abd_arc_trim_is_late(trim))
			return false;
		uint32_t next = atomic_fetch_add(&first->trim_next, 1);

		any |= abd_arc_trim_some(&first[next % first->shards], part);
	}
	return any;
}

size_t abd_arc_trim(abd_arc_t *arc, size_t bytes, uint64_t max_ns)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	abd_arc_require_no_callback(__func__, arc);
	abd_arc_rcu_require_outside(__func__);
	struct abd_arc_trim trim = {.first = arc, .begin_ns = abd_arc_now_ns(), .max_ns = max_ns};
	size_t puts, before = abd_arc_trim_used(arc, &trim.puts);

	trim.goal = before - abd_min(before, bytes);
	/* What waits to be freed costs no record. */
	for (uint32_t i = 0; i < arc->shards && (max_ns == 0 || !abd_arc_trim_is_late(&trim)); i++)
		abd_arc_reclaim(&arc[i]);
	while (abd_arc_trim_round(&trim))
		continue;
	abd_cache_reap_now();

	size_t after = abd_arc_trim_used(arc, &puts);

	return before - abd_min(before, after);
}
