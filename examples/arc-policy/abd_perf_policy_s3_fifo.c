/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * S3-FIFO: a small queue of a tenth for what is new, a main queue, and ghosts of what left the
 * small queue after one use at most. A ghost that is asked for goes to the main queue, and so does
 * what was used more than once while it was in the small one.
 * Source: Yang, Zhang, Qiu, Yue, Rashmi, "FIFO queues are all you need for cache eviction", SOSP
 * 2023, algorithm 1.
 */
#include "abd_perf_policy.h"

enum { SMALL, MAIN, GHOST = ABD_PERF_GHOSTS };

#define ABD_PERF_S3_SMALL(cache) ((cache)->capacity / 10)

static void abd_perf_s3_fifo_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	(void)cache;
	node->uses = (uint8_t)(node->uses + (node->uses < 3));
}

static void abd_perf_s3_fifo_evict_main(struct abd_perf_cache *cache)
{
	struct abd_perf_node *node = abd_perf_node_oldest(cache, MAIN);

	for (; node->uses > 0; node = abd_perf_node_oldest(cache, MAIN)) {
		node->uses--;
		abd_perf_node_move(cache, node, MAIN);
	}
	abd_perf_node_pull(cache, node);
}

/* What stays goes to the main queue, which may have to make room for it. */
static void abd_perf_s3_fifo_evict_small(struct abd_perf_cache *cache)
{
	size_t main = cache->capacity - ABD_PERF_S3_SMALL(cache);
	struct abd_perf_node *node = abd_perf_node_oldest(cache, SMALL);

	for (; node != NULL && node->uses > 1; node = abd_perf_node_oldest(cache, SMALL)) {
		node->uses = 0;
		abd_perf_node_move(cache, node, MAIN);
		while (cache->list[MAIN].bytes > main)
			abd_perf_s3_fifo_evict_main(cache);
	}
	if (node == NULL)
		return;
	abd_perf_node_move(cache, node, GHOST);
	abd_perf_list_trim(cache, GHOST, main);
}

static void abd_perf_s3_fifo_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	bool ghost = node->list == GHOST;

	abd_perf_node_pull(cache, node);
	while (abd_perf_cache_is_full(cache, node->size)) {
		size_t small = cache->list[SMALL].bytes;

		if ((small > 0 && small >= ABD_PERF_S3_SMALL(cache)) ||
			cache->list[MAIN].count == 0)
			abd_perf_s3_fifo_evict_small(cache);
		else
			abd_perf_s3_fifo_evict_main(cache);
	}
	abd_perf_node_put(cache, node, ghost ? MAIN : SMALL);
}

const struct abd_perf_policy abd_perf_policy_s3_fifo = {.name = "S3-FIFO",
	.record_bytes = 17,
	.hit = abd_perf_s3_fifo_hit,
	.miss = abd_perf_s3_fifo_miss};
