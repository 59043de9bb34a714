/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all simulated policies share: nodes, and their lists.
 */
#include "abd_perf_policy.h"
#include "abd_perf_clock.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

extern const struct abd_perf_policy abd_perf_policy_library, abd_perf_policy_library_exact,
	abd_perf_policy_library_second, abd_perf_policy_arc, abd_perf_policy_clock,
	abd_perf_policy_sieve, abd_perf_policy_2q, abd_perf_policy_s3_fifo,
	abd_perf_policy_w_tinylfu, abd_perf_policy_lirs;

const struct abd_perf_policy *const abd_perf_policies[ABD_PERF_POLICIES + 1] = {
	&abd_perf_policy_library, &abd_perf_policy_library_exact, &abd_perf_policy_library_second,
	&abd_perf_policy_arc, &abd_perf_policy_lru, &abd_perf_policy_clock, &abd_perf_policy_2q,
	&abd_perf_policy_lirs, &abd_perf_policy_w_tinylfu, &abd_perf_policy_s3_fifo,
	&abd_perf_policy_sieve, NULL};

/* A ghost: hash, two links, the chain and its bucket, size and list. */
#define ABD_PERF_GHOST_BYTES 48
#define ABD_PERF_PAGE 1024 /* nodes */

uint64_t abd_perf_policy_hash(uint64_t key)
{
	return abd_perf_random(&key);
}

void *abd_perf_policy_alloc(size_t size)
{
	void *made = calloc(1, size);

	if (made == NULL)
		abd_perf_say_die(1, "no memory for a simulated cache");
	return made;
}

void abd_perf_link_push(struct abd_perf_link *head, struct abd_perf_link *link)
{
	link->next = head->next;
	link->prev = head;
	link->next->prev = link;
	head->next = link;
}

void abd_perf_link_pull(struct abd_perf_link *link)
{
	link->next->prev = link->prev;
	link->prev->next = link->next;
}

void abd_perf_node_put(struct abd_perf_cache *cache, struct abd_perf_node *node, unsigned list)
{
	abd_perf_link_push(&cache->list[list].head, &node->link);
	cache->list[list].bytes += node->size;
	cache->list[list].count++;
	cache->used += list < ABD_PERF_GHOSTS ? node->size : 0;
	cache->nodes++;
	node->list = (uint8_t)list;
}

void abd_perf_node_pull(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	if (node->list == ABD_PERF_NONE)
		return;
	abd_perf_link_pull(&node->link);
	cache->list[node->list].bytes -= node->size;
	cache->list[node->list].count--;
	cache->used -= node->list < ABD_PERF_GHOSTS ? node->size : 0;
	cache->nodes--;
	node->list = ABD_PERF_NONE;
}

void abd_perf_node_move(struct abd_perf_cache *cache, struct abd_perf_node *node, unsigned list)
{
	abd_perf_node_pull(cache, node);
	abd_perf_node_put(cache, node, list);
}

/* The node of a key. Nodes stay where they are: they come in pages, as their keys do. */
static struct abd_perf_node *abd_perf_node_of(struct abd_perf_cache *cache, uint64_t key)
{
	size_t page = (size_t)key / ABD_PERF_PAGE;
	struct abd_perf_node *nodes;

	if (page >= cache->pages) {
		cache->page = realloc(cache->page, (2 * page + 1) * sizeof(*cache->page));
		if (cache->page == NULL)
			abd_perf_say_die(1, "no memory for a simulated cache");
		while (cache->pages < 2 * page + 1)
			cache->page[cache->pages++] = NULL;
	}
	nodes = cache->page[page];
	if (nodes == NULL) {
		cache->page[page] = nodes = abd_perf_policy_alloc(ABD_PERF_PAGE * sizeof(*nodes));
		for (size_t i = 0; i < ABD_PERF_PAGE; i++) {
			nodes[i].key = page * ABD_PERF_PAGE + i;
			nodes[i].list = ABD_PERF_NONE;
		}
	}
	return &nodes[key % ABD_PERF_PAGE];
}

struct abd_perf_node *abd_perf_node_oldest(struct abd_perf_cache *cache, unsigned list)
{
	return cache->list[list].count > 0
		       ? (struct abd_perf_node *)(void *)cache->list[list].head.prev
		       : NULL;
}

struct abd_perf_node *abd_perf_node_newer(
	struct abd_perf_cache *cache, const struct abd_perf_node *node)
{
	struct abd_perf_link *newer = node->link.prev;

	return newer != &cache->list[node->list].head ? (struct abd_perf_node *)(void *)newer
						      : NULL;
}

void abd_perf_list_trim(struct abd_perf_cache *cache, unsigned list, size_t bytes)
{
	while (cache->list[list].bytes > bytes)
		abd_perf_node_pull(cache, abd_perf_node_oldest(cache, list));
}

void abd_perf_cache_begin(
	struct abd_perf_cache *cache, const struct abd_perf_policy *policy, size_t capacity)
{
	*cache = (struct abd_perf_cache){.policy = policy, .capacity = capacity};
	for (unsigned i = 0; i < ABD_PERF_LISTS; i++)
		cache->list[i].head.next = cache->list[i].head.prev = &cache->list[i].head;
	if (policy->begin != NULL)
		policy->begin(cache);
}

void abd_perf_cache_end(struct abd_perf_cache *cache)
{
	if (cache->policy->end != NULL)
		cache->policy->end(cache);
	for (size_t i = 0; i < cache->pages; i++)
		free(cache->page[i]);
	free(cache->page);
}

bool abd_perf_cache_access(struct abd_perf_cache *cache, const struct abd_perf_request *request)
{
	struct abd_perf_node *node;

	if (cache->policy->access != NULL)
		return cache->policy->access(cache, request);
	if (request->size > cache->capacity)
		return false;
	node = abd_perf_node_of(cache, request->key);
	node->next = request->next;
	if (node->list < ABD_PERF_GHOSTS) {
		cache->policy->hit(cache, node);
		return true;
	}
	node->uses = 0;
	if (node->list == ABD_PERF_NONE)
		node->size = request->size;
	cache->policy->miss(cache, node);
	return false;
}

double abd_perf_cache_memory(struct abd_perf_cache *cache)
{
	size_t records = 0, ghosts = 0;

	if (cache->policy->memory != NULL)
		return cache->policy->memory(cache);
	for (unsigned i = 0; i < ABD_PERF_LISTS; i++)
		*(i < ABD_PERF_GHOSTS ? &records : &ghosts) += cache->list[i].count;
	if (records == 0)
		return 0;
	return cache->policy->record_bytes +
	       (double)(ghosts * ABD_PERF_GHOST_BYTES + cache->own_bytes) / (double)records;
}
