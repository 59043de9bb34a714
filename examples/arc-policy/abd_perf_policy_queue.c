/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Policies of queues: of one, and 2Q.
 *
 * LRU:   what is used goes to the front; the oldest goes.
 * CLOCK: what is used gets a mark; the oldest goes, unless it has a mark, which it loses and goes
 *        round once more (Corbato, "A Paging Experiment with the Multics System", 1968).
 * SIEVE: as CLOCK, but what has a mark stays where it is: a hand passes over it, from the oldest to
 *        the newest (Zhang, Yang, Yue, Vigfusson, Rashmi, "SIEVE is Simpler than LRU", NSDI 2024).
 * 2Q:    the full version: a queue of a quarter for what is new, in which hits change nothing;
 *        ghosts of what left it, for half of the capacity; an LRU list of what was asked for as a
 *        ghost (Johnson and Shasha, "2Q: A Low Overhead High Performance Buffer Management
 *        Replacement Algorithm", VLDB 1994).
 */
#include "abd_perf_policy.h"

enum { QUEUE };

/* ---- LRU ------------------------------------------------------------------------------------- */

static void abd_perf_lru_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	abd_perf_node_move(cache, node, QUEUE);
}

static void abd_perf_lru_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	abd_perf_list_trim(cache, QUEUE, cache->capacity - node->size);
	abd_perf_node_put(cache, node, QUEUE);
}

/* ---- CLOCK ----------------------------------------------------------------------------------- */

static void abd_perf_mark_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	(void)cache;
	node->uses = 1;
}

static void abd_perf_clock_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	while (abd_perf_cache_is_full(cache, node->size)) {
		struct abd_perf_node *oldest = abd_perf_node_oldest(cache, QUEUE);

		if (oldest->uses > 0) {
			oldest->uses = 0;
			abd_perf_node_move(cache, oldest, QUEUE);
		} else {
			abd_perf_node_pull(cache, oldest);
		}
	}
	abd_perf_node_put(cache, node, QUEUE);
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
	abd_perf_node_pull(cache, node);
}

static void abd_perf_sieve_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	while (abd_perf_cache_is_full(cache, node->size))
		abd_perf_sieve_evict(cache);
	abd_perf_node_put(cache, node, QUEUE);
}

/* ---- 2Q -------------------------------------------------------------------------------------- */

enum { IN, HOT, OUT = ABD_PERF_GHOSTS };

static void abd_perf_2q_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	if (node->list == HOT)
		abd_perf_node_move(cache, node, HOT);
}

static void abd_perf_2q_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	bool ghost = node->list == OUT;

	abd_perf_node_pull(cache, node);
	while (abd_perf_cache_is_full(cache, node->size)) {
		if (cache->list[IN].bytes > cache->capacity / 4 || cache->list[HOT].count == 0)
			abd_perf_node_move(cache, abd_perf_node_oldest(cache, IN), OUT);
		else
			abd_perf_node_pull(cache, abd_perf_node_oldest(cache, HOT));
		abd_perf_list_trim(cache, OUT, cache->capacity / 2);
	}
	abd_perf_node_put(cache, node, ghost ? HOT : IN);
}

const struct abd_perf_policy abd_perf_policy_lru = {
	.name = "LRU", .record_bytes = 16, .hit = abd_perf_lru_hit, .miss = abd_perf_lru_miss};
const struct abd_perf_policy abd_perf_policy_clock = {
	.name = "CLOCK", .record_bytes = 17, .hit = abd_perf_mark_hit, .miss = abd_perf_clock_miss};
const struct abd_perf_policy abd_perf_policy_sieve = {
	.name = "SIEVE", .record_bytes = 17, .hit = abd_perf_mark_hit, .miss = abd_perf_sieve_miss};
const struct abd_perf_policy abd_perf_policy_2q = {
	.name = "2Q", .record_bytes = 17, .hit = abd_perf_2q_hit, .miss = abd_perf_2q_miss};
