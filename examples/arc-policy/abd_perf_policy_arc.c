/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARC as in its paper, with bytes in place of pages, ghosts that cost nothing, and every hit a use:
 * what the library's own is compared with. docs/arc-keep.md explains it.
 * Source: Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003.
 */
#include "abd_perf_policy.h"

enum { T1, T2, B1 = ABD_PERF_GHOSTS, B2 };

static void abd_perf_arc_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	abd_perf_node_move(cache, node, T2);
}

/* p, the target of T1, moves by the record's size; by more if the other list of ghosts is longer.
 */
static void abd_perf_arc_learn(struct abd_perf_cache *cache, const struct abd_perf_node *ghost)
{
	double mine = (double)cache->list[ghost->list].bytes,
	       other = (double)cache->list[ghost->list == B1 ? B2 : B1].bytes;
	size_t step = (size_t)(ghost->size * (other > mine ? other / mine : 1));

	if (ghost->list == B1)
		cache->target = cache->capacity - cache->target > step ? cache->target + step
								       : cache->capacity;
	else
		cache->target -= step < cache->target ? step : cache->target;
}

static void abd_perf_arc_replace(struct abd_perf_cache *cache, bool from_b2)
{
	size_t recent = cache->list[T1].bytes;
	bool from_t1 =
		recent > 0 && (recent > cache->target || (from_b2 && recent == cache->target));
	unsigned list = from_t1 || cache->list[T2].count == 0 ? T1 : T2;

	abd_perf_node_move(cache, abd_perf_node_oldest(cache, list), list == T1 ? B1 : B2);
}

static void abd_perf_arc_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	bool ghost = node->list != ABD_PERF_NONE, from_b2 = node->list == B2;
	size_t twice = 2 * cache->capacity;

	if (ghost)
		abd_perf_arc_learn(cache, node);
	abd_perf_node_pull(cache, node);
	while (abd_perf_cache_is_full(cache, node->size))
		abd_perf_arc_replace(cache, from_b2);
	abd_perf_node_put(cache, node, ghost ? T2 : T1);
	abd_perf_list_trim(cache, B1, cache->capacity - cache->list[T1].bytes);
	abd_perf_list_trim(cache, B2, twice - cache->used - cache->list[B1].bytes);
}

const struct abd_perf_policy abd_perf_policy_arc = {.name = "ARC, paper",
	.record_bytes = 17,
	.hit = abd_perf_arc_hit,
	.miss = abd_perf_arc_miss};
