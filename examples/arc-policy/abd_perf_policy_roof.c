/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds that know the future.
 *
 * MIN: what is used again last goes, or does not come in at all. If all records have one size,
 * nothing has more hits. Source: Belady, "A study of replacement algorithms for a virtual-storage
 * computer", IBM Systems Journal, 1966; with leave not to cache, as its optimum needs.
 * PFOO-L: for records of several sizes; abd_perf_policy.h describes it.
 */
#include "abd_perf_policy.h"

#include <stdlib.h>

enum { CACHED };

/* The next uses of what is cached, the last of them on top. */
struct abd_perf_future {
	struct abd_perf_node **node;
	uint32_t *next; /* a heap; stale where node has another next by now */
	size_t count, room;
};

static void abd_perf_min_begin(struct abd_perf_cache *cache)
{
	cache->own = abd_perf_policy_alloc(sizeof(struct abd_perf_future));
}

static void abd_perf_min_end(struct abd_perf_cache *cache)
{
	struct abd_perf_future *future = cache->own;

	free(future->node);
	free(future->next);
	free(future);
}

static void abd_perf_future_room(struct abd_perf_future *future)
{
	if (future->count < future->room)
		return;
	future->room = future->room > 0 ? 2 * future->room : 1024;
	future->node = realloc(future->node, future->room * sizeof(*future->node));
	future->next = realloc(future->next, future->room * sizeof(*future->next));
	if (future->node == NULL || future->next == NULL)
		abort();
}

static void abd_perf_future_set(
	struct abd_perf_future *future, size_t at, struct abd_perf_node *node, uint32_t next)
{
	future->node[at] = node;
	future->next[at] = next;
}

static void abd_perf_future_push(struct abd_perf_future *future, struct abd_perf_node *node)
{
	size_t at;

	abd_perf_future_room(future);
	at = future->count++;
	for (size_t up; at > 0; at = up) {
		up = (at - 1) / 2;
		if (future->next[up] >= node->next)
			break;
		abd_perf_future_set(future, at, future->node[up], future->next[up]);
	}
	abd_perf_future_set(future, at, node, node->next);
}

/* Take the top out of the heap. Returns its node; NULL: the entry was stale. */
static struct abd_perf_node *abd_perf_future_pop(struct abd_perf_future *future)
{
	struct abd_perf_node *top = future->node[0], *node = future->node[--future->count];
	uint32_t last = future->next[0], next = future->next[future->count];
	size_t at = 0;

	for (size_t down = 1; down < future->count; down = 2 * at + 1) {
		down += down + 1 < future->count && future->next[down + 1] > future->next[down];
		if (future->next[down] <= next)
			break;
		abd_perf_future_set(future, at, future->node[down], future->next[down]);
		at = down;
	}
	abd_perf_future_set(future, at, node, next);
	return top->next == last ? top : NULL;
}

static void abd_perf_min_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	if (node->next == ABD_PERF_NEVER)
		abd_perf_node_pull(cache, node);
	else
		abd_perf_future_push(cache->own, node);
}

static void abd_perf_min_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	if (node->next == ABD_PERF_NEVER)
		return;
	abd_perf_node_put(cache, node, CACHED);
	abd_perf_future_push(cache->own, node);
	while (cache->used > cache->capacity) {
		node = abd_perf_future_pop(cache->own);
		if (node != NULL)
			abd_perf_node_pull(cache, node);
	}
}

const struct abd_perf_policy abd_perf_policy_min = {.name = "MIN",
	.record_bytes = 4,
	.hit = abd_perf_min_hit,
	.miss = abd_perf_min_miss,
	.begin = abd_perf_min_begin,
	.end = abd_perf_min_end};

/* ---- PFOO-L ---------------------------------------------------------------------------------- */

struct abd_perf_stay {
	double cost, rank; /* rank: cost per unit of what is counted */
	uint32_t worth;
};

static int abd_perf_stay_order(const void *a, const void *b)
{
	double x = ((const struct abd_perf_stay *)a)->rank,
	       y = ((const struct abd_perf_stay *)b)->rank;

	return x < y ? -1 : x > y;
}

double abd_perf_policy_pfoo(const struct abd_perf_trace *trace, size_t capacity, bool by_bytes)
{
	struct abd_perf_stay *stay = abd_perf_policy_alloc((trace->count + 1) * sizeof(*stay));
	double left = (double)capacity * (double)trace->count, sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < trace->count; i++) {
		const struct abd_perf_request *request = &trace->request[i];
		uint32_t worth = by_bytes ? request->size : 1;
		double cost;

		if (request->next == ABD_PERF_NEVER || request->size > capacity)
			continue;
		cost = (double)request->size * (double)(request->next - i);
		stay[count++] = (struct abd_perf_stay){cost, cost / worth, worth};
	}
	qsort(stay, count, sizeof(*stay), abd_perf_stay_order);
	for (size_t i = 0; i < count && left > 0; i++) {
		sum += stay[i].worth * (stay[i].cost <= left ? 1 : left / stay[i].cost);
		left -= stay[i].cost;
	}
	free(stay);
	return sum;
}
