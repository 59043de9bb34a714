/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 2Q, the full version: a queue of a quarter for what is new, in which hits change nothing; ghosts
 * of what left it, for half of the capacity; an LRU list of what was asked for as a ghost.
 * Source: Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management Replacement
 * Algorithm", VLDB 1994.
 */
#include "abd_perf_policy.h"

enum { IN, HOT, OUT = ABD_PERF_GHOSTS };

static void abd_perf_2q_hit(struct abd_perf_cache *cache, struct abd_perf_node *node,
	const struct abd_perf_request *request)
{
	(void)request;
	if (node->list == HOT)
		abd_perf_node_move(cache, node, HOT);
}

static void abd_perf_2q_miss(struct abd_perf_cache *cache, struct abd_perf_node *ghost,
	const struct abd_perf_request *request)
{
	if (ghost != NULL)
		abd_perf_node_forget(cache, ghost);
	while (abd_perf_cache_is_full(cache, request->size)) {
		if (cache->list[IN].bytes > cache->capacity / 4 || cache->list[HOT].count == 0)
			abd_perf_node_move(cache, abd_perf_node_oldest(cache, IN), OUT);
		else
			abd_perf_node_forget(cache, abd_perf_node_oldest(cache, HOT));
		abd_perf_list_trim(cache, OUT, cache->capacity / 2);
	}
	abd_perf_node_put(cache, abd_perf_node_new(cache, request), ghost != NULL ? HOT : IN);
}

const struct abd_perf_policy abd_perf_policy_2q = {
	.name = "2Q", .record_bytes = 17, .hit = abd_perf_2q_hit, .miss = abd_perf_2q_miss};
