/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LIRS: what counts is how many other records were used between a record's last two uses. Those
 * with few (LIR) have 99 % of the capacity; what goes is one of the others (HIR), which pass
 * through a queue. The stack has what was used since the LIR record that was not used for longest,
 * ghosts included: one that is asked for while it is there has come back sooner than that LIR
 * record, and takes its place.
 * Ghosts are bounded by the capacity; in the paper they are not.
 * Source: Jiang and Zhang, "LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy",
 * SIGMETRICS 2002.
 */
#include "abd_perf_policy.h"

#include <stddef.h>
#include <stdlib.h>

enum { LIR, QUEUE, GHOST = ABD_PERF_GHOSTS };

/* cache->own is the stack's head, and cache->target the bytes that LIR may have. */
static void abd_perf_lirs_begin(struct abd_perf_cache *cache)
{
	struct abd_perf_link *stack = abd_perf_policy_alloc(sizeof(*stack));

	stack->next = stack->prev = stack;
	cache->own = stack;
	cache->target = cache->capacity - cache->capacity / 100;
}

static void abd_perf_lirs_end(struct abd_perf_cache *cache)
{
	free(cache->own);
}

static void abd_perf_lirs_unstack(struct abd_perf_node *node)
{
	if (node->is_other)
		abd_perf_link_pull(&node->other);
	node->is_other = false;
}

static void abd_perf_lirs_stack(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	abd_perf_lirs_unstack(node);
	abd_perf_link_push(cache->own, &node->other);
	node->is_other = true;
}

/* The stack's bottom; NULL: it is empty. */
static struct abd_perf_node *abd_perf_lirs_bottom(const struct abd_perf_cache *cache)
{
	struct abd_perf_link *stack = cache->own;

	if (stack->prev == stack)
		return NULL;
	return (struct abd_perf_node *)(void *)((char *)stack->prev -
						offsetof(struct abd_perf_node, other));
}

/* A LIR record is at the bottom of the stack, always. */
static void abd_perf_lirs_prune(struct abd_perf_cache *cache)
{
	struct abd_perf_node *node = abd_perf_lirs_bottom(cache);

	for (; node != NULL && node->list != LIR; node = abd_perf_lirs_bottom(cache)) {
		abd_perf_lirs_unstack(node);
		if (node->list == GHOST)
			abd_perf_node_pull(cache, node);
	}
}

/* There are too many LIR records: those at the bottom are none any more. */
static void abd_perf_lirs_demote(struct abd_perf_cache *cache, size_t target)
{
	while (cache->list[LIR].bytes > target) {
		struct abd_perf_node *node = abd_perf_lirs_bottom(cache);

		abd_perf_lirs_unstack(node);
		abd_perf_node_move(cache, node, QUEUE);
		abd_perf_lirs_prune(cache);
	}
}

static void abd_perf_lirs_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	unsigned list = node->is_other ? LIR : QUEUE;

	abd_perf_node_move(cache, node, list);
	abd_perf_lirs_stack(cache, node);
	abd_perf_lirs_prune(cache);
	abd_perf_lirs_demote(cache, cache->target);
}

static void abd_perf_lirs_evict(struct abd_perf_cache *cache)
{
	struct abd_perf_node *node = abd_perf_node_oldest(cache, QUEUE);

	if (node == NULL) {
		abd_perf_lirs_demote(cache, cache->list[LIR].bytes - 1);
		node = abd_perf_node_oldest(cache, QUEUE);
	}
	if (!node->is_other) {
		abd_perf_node_pull(cache, node);
		return;
	}
	abd_perf_node_move(cache, node, GHOST);
	while (cache->list[GHOST].bytes > cache->capacity) {
		node = abd_perf_node_oldest(cache, GHOST);
		abd_perf_lirs_unstack(node);
		abd_perf_node_pull(cache, node);
	}
}

static void abd_perf_lirs_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	bool ghost = node->list == GHOST;
	size_t filled = cache->list[LIR].bytes + node->size;

	/* In no list while room is made, so that it can't go itself. */
	abd_perf_node_pull(cache, node);
	while (abd_perf_cache_is_full(cache, node->size))
		abd_perf_lirs_evict(cache);
	abd_perf_lirs_stack(cache, node);
	abd_perf_node_put(cache, node, ghost || filled <= cache->target ? LIR : QUEUE);
	abd_perf_lirs_demote(cache, cache->target);
	abd_perf_lirs_prune(cache);
}

const struct abd_perf_policy abd_perf_policy_lirs = {.name = "LIRS",
	.record_bytes = 33,
	.hit = abd_perf_lirs_hit,
	.miss = abd_perf_lirs_miss,
	.begin = abd_perf_lirs_begin,
	.end = abd_perf_lirs_end};
