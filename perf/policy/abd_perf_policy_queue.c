/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Policies of one queue.
 *
 * LRU:   what is used goes to the front; the oldest goes.
 * CLOCK: what is used gets a mark; the oldest goes, unless it has a mark, which it loses and goes
 *        round once more (Corbato, "A Paging Experiment with the Multics System", 1968).
 * SIEVE: as CLOCK, but what has a mark stays where it is: a hand passes over it, from the oldest to
 *        the newest (Zhang, Yang, Yue, Vigfusson, Rashmi, "SIEVE is Simpler than LRU", NSDI 2024).
 */
#include "abd_perf_policy.h"

enum { QUEUE };

static void abd_perf_queue_add(struct abd_perf_cache *cache, const struct abd_perf_request *request)
{
	abd_perf_node_put(cache, abd_perf_node_new(cache, request), QUEUE);
}

/* ---- LRU ------------------------------------------------------------------------------------- */

static void abd_perf_lru_hit(struct abd_perf_cache *cache, struct abd_perf_node *node,
	const struct abd_perf_request *request)
{
	(void)request;
	abd_perf_node_move(cache, node, QUEUE);
}

static void abd_perf_lru_miss(struct abd_perf_cache *cache, struct abd_perf_node *ghost,
	const struct abd_perf_request *request)
{
	(void)ghost;
	abd_perf_list_trim(cache, QUEUE, cache->capacity - request->size);
	abd_perf_queue_add(cache, request);
}

/* ---- CLOCK ----------------------------------------------------------------------------------- */

static void abd_perf_mark_hit(struct abd_perf_cache *cache, struct abd_perf_node *node,
	const struct abd_perf_request *request)
{
	(void)cache;
	(void)request;
	node->uses = 1;
}

static void abd_perf_clock_miss(struct abd_perf_cache *cache, struct abd_perf_node *ghost,
	const struct abd_perf_request *request)
{
	(void)ghost;
	while (abd_perf_cache_is_full(cache, request->size)) {
		struct abd_perf_node *node = abd_perf_node_oldest(cache, QUEUE);

		if (node->uses > 0) {
			node->uses = 0;
			abd_perf_node_move(cache, node, QUEUE);
		} else {
			abd_perf_node_forget(cache, node);
		}
	}
	abd_perf_queue_add(cache, request);
}

/* ---- SIEVE ----------------------------------------------------------------------------------- */

/* hand: where it stands; NULL: at the oldest. */
static void abd_perf_sieve_evict(struct abd_perf_cache *cache)
{
	struct abd_perf_node *node = cache->hand;

	for (;; node = abd_perf_node_newer(cache, node)) {
		if (node == NULL)
			node = abd_perf_node_oldest(cache, QUEUE);
		if (node->uses == 0)
			break;
		node->uses = 0;
	}
	cache->hand = abd_perf_node_newer(cache, node);
	abd_perf_node_forget(cache, node);
}

static void abd_perf_sieve_miss(struct abd_perf_cache *cache, struct abd_perf_node *ghost,
	const struct abd_perf_request *request)
{
	(void)ghost;
	while (abd_perf_cache_is_full(cache, request->size))
		abd_perf_sieve_evict(cache);
	abd_perf_queue_add(cache, request);
}

const struct abd_perf_policy abd_perf_policy_lru = {
	.name = "LRU", .record_bytes = 16, .hit = abd_perf_lru_hit, .miss = abd_perf_lru_miss};
const struct abd_perf_policy abd_perf_policy_clock = {
	.name = "CLOCK", .record_bytes = 17, .hit = abd_perf_mark_hit, .miss = abd_perf_clock_miss};
const struct abd_perf_policy abd_perf_policy_sieve = {
	.name = "SIEVE", .record_bytes = 17, .hit = abd_perf_mark_hit, .miss = abd_perf_sieve_miss};
