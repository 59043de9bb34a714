/* SPDX-License-Identifier: BSD-2-Clause */
/* Simulated policies: a cache is lists of nodes, one for each key. And bounds. */
#include "policy.h"

#include <err.h>
#include <stdlib.h>

uint64_t hash_of(uint64_t key) /* splitmix64 */
{
	key += 0x9e3779b97f4a7c15u;
	key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
	key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
	return key ^ (key >> 31);
}

void *must_alloc(size_t count, size_t size)
{
	void *made = calloc(count, size);

	if (made == NULL)
		errx(1, "no memory for a simulated cache");
	return made;
}

/* Take a node out of its list, if it is in one. */
static void pull(struct cache *cache, struct node *node)
{
	if (node->list == NOWHERE)
		return;
	node->newer->older = node->older;
	node->older->newer = node->newer;
	cache->bytes[node->list] -= node->size;
	cache->used -= node->list != GHOSTS ? node->size : 0;
	cache->nodes--;
	node->list = NOWHERE;
}

/* Make a node the newest of a list. */
static void move(struct cache *cache, struct node *node, unsigned list)
{
	struct node *head = &cache->head[list];

	pull(cache, node);
	node->newer = head;
	node->older = head->older;
	node->older->newer = head->older = node;
	cache->bytes[list] += node->size;
	cache->used += list != GHOSTS ? node->size : 0;
	cache->nodes++;
	node->list = (uint8_t)list;
}

/* NULL: the list is empty. */
static struct node *oldest(struct cache *cache, unsigned list)
{
	struct node *head = &cache->head[list];

	return head->newer != head ? head->newer : NULL;
}

static void trim(struct cache *cache, unsigned list, size_t bytes)
{
	while (cache->bytes[list] > bytes)
		pull(cache, oldest(cache, list));
}

void cache_begin(struct cache *cache, const struct policy *policy, size_t capacity, size_t keys)
{
	*cache = (struct cache){.policy = policy, .capacity = capacity};
	cache->node = must_alloc(keys, sizeof(*cache->node));
	for (size_t key = 0; key < keys; key++)
		cache->node[key] = (struct node){.key = key, .list = NOWHERE};
	for (unsigned i = 0; i < LISTS; i++)
		cache->head[i].newer = cache->head[i].older = &cache->head[i];
	if (policy->is_library)
		library_begin(cache);
}

void cache_end(struct cache *cache)
{
	abd_arc_destroy(cache->arc);
	free(cache->count);
	free(cache->node);
}

bool cache_access(struct cache *cache, const struct request *request)
{
	struct node *node = &cache->node[request->key];

	if (cache->policy->is_library)
		return library_access(cache, request);
	if (request->size > cache->capacity)
		return false;
	if (node->list < GHOSTS) {
		cache->policy->hit(cache, node);
		return true;
	}
	node->uses = 0;
	node->size = request->size;
	cache->policy->miss(cache, node);
	return false;
}

double cache_run(const struct policy *policy, const struct trace *trace, size_t capacity)
{
	struct cache cache;
	size_t hits = 0;

	cache_begin(&cache, policy, capacity, trace->distinct);
	for (size_t i = 0; i < trace->count; i++)
		hits += cache_access(&cache, &trace->request[i]);
	cache_end(&cache);
	return (double)hits;
}

/* LRU, of a hit and a miss alike. */
static void lru(struct cache *cache, struct node *node)
{
	pull(cache, node);
	trim(cache, 0, cache->capacity - node->size);
	move(cache, node, 0);
}

/*
 * S3-FIFO: a small queue of a tenth for what is new, a main queue, and ghosts of what left the
 * small queue after one use at most. A ghost that is asked for goes to the main queue, and so does
 * what was used more than once while it was in the small one.
 * Source: Yang and others, "FIFO queues are all you need for cache eviction", 2023, algorithm 1.
 */
enum { SMALL, MAIN };

static void s3_fifo_hit(struct cache *cache, struct node *node)
{
	(void)cache;
	node->uses = (uint8_t)(node->uses + (node->uses < 3));
}

static void s3_fifo_evict_main(struct cache *cache)
{
	struct node *node = oldest(cache, MAIN);

	for (; node->uses > 0; node = oldest(cache, MAIN)) {
		node->uses--;
		move(cache, node, MAIN);
	}
	pull(cache, node);
}

/* What stays goes to the main queue, which may have to make room for it. */
static void s3_fifo_evict_small(struct cache *cache)
{
	size_t most = cache->capacity - cache->capacity / 10;
	struct node *node = oldest(cache, SMALL);

	for (; node != NULL && node->uses > 1; node = oldest(cache, SMALL)) {
		node->uses = 0;
		move(cache, node, MAIN);
		while (cache->bytes[MAIN] > most)
			s3_fifo_evict_main(cache);
	}
	if (node == NULL)
		return;
	move(cache, node, GHOSTS);
	trim(cache, GHOSTS, most);
}

static void s3_fifo_miss(struct cache *cache, struct node *node)
{
	bool ghost = node->list == GHOSTS;

	pull(cache, node);
	while (cache->used + node->size > cache->capacity) {
		if (cache->bytes[MAIN] == 0 ||
			(cache->bytes[SMALL] > 0 && cache->bytes[SMALL] >= cache->capacity / 10))
			s3_fifo_evict_small(cache);
		else
			s3_fifo_evict_main(cache);
	}
	move(cache, node, ghost ? MAIN : SMALL);
}

/*
 * W-TinyLFU: what is new passes through a window of a hundredth. What leaves it gets into the rest,
 * a segmented LRU, only if it was asked for more often than what would have to go for it.
 * Source: Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017.
 */
enum { WINDOW, TRIAL, PROVEN, ROWS = 4, MOST = 15, LEAST_WIDTH = 64, SAMPLE = 10 };

static size_t rest(const struct cache *cache)
{
	return cache->capacity - cache->capacity / 100;
}

/* As wide as there are records: when there are more, counting begins anew. */
static void sketch_fit(struct cache *cache)
{
	if (cache->nodes <= cache->width)
		return;
	for (cache->width = LEAST_WIDTH; cache->width < cache->nodes; cache->width *= 2)
		;
	free(cache->count);
	cache->count = must_alloc(ROWS, cache->width);
	cache->added = 0;
}

/*
 * How often a key was asked for: the least of four counters up to 15, which are halved from time to
 * time. Only the least ones grow, so that others disturb them less.
 */
static unsigned sketch(struct cache *cache, uint64_t key, bool add)
{
	unsigned least = MOST;
	uint8_t *at[ROWS];

	for (unsigned row = 0; row < ROWS; row++) {
		uint64_t hash = hash_of(key + row * 0x9e3779b97f4a7c15u);

		at[row] = &cache->count[row * cache->width + (hash & (cache->width - 1))];
		least = *at[row] < least ? *at[row] : least;
	}
	for (unsigned row = 0; row < ROWS && add && least < MOST; row++)
		*at[row] = (uint8_t)(*at[row] + (*at[row] == least));
	cache->added += add;
	if (cache->added == SAMPLE * cache->width) {
		for (size_t i = 0; i < ROWS * cache->width; i++)
			cache->count[i] /= 2;
		cache->added /= 2;
	}
	return least;
}

static void w_tinylfu_hit(struct cache *cache, struct node *node)
{
	sketch(cache, node->key, true);
	move(cache, node, node->list == WINDOW ? WINDOW : PROVEN);
	while (cache->bytes[PROVEN] > rest(cache) / 5 * 4)
		move(cache, oldest(cache, PROVEN), TRIAL);
}

/* The oldest of the window is on trial; while there is too much, it or what is oldest goes. */
static void w_tinylfu_leave(struct cache *cache)
{
	struct node *node = oldest(cache, WINDOW), *victim = NULL;
	unsigned uses = sketch(cache, node->key, false);

	move(cache, node, TRIAL);
	while (victim != node && cache->bytes[TRIAL] + cache->bytes[PROVEN] > rest(cache)) {
		victim = oldest(cache, TRIAL);
		if (victim == node && cache->bytes[PROVEN] > 0)
			victim = oldest(cache, PROVEN);
		if (uses <= sketch(cache, victim->key, false))
			victim = node;
		pull(cache, victim);
	}
}

static void w_tinylfu_miss(struct cache *cache, struct node *node)
{
	move(cache, node, WINDOW);
	sketch_fit(cache);
	sketch(cache, node->key, true);
	while (cache->bytes[WINDOW] > cache->capacity - rest(cache) &&
		cache->head[WINDOW].newer != cache->head[WINDOW].older)
		w_tinylfu_leave(cache);
	while (cache->used > cache->capacity) /* a record larger than the window */
		w_tinylfu_leave(cache);
}

const struct policy policies[POLICIES] = {
	{.name = "ARC", .is_library = true},
	{.name = "ARC, exact", .is_library = true, .hit_batch = 1},
	/* A fill that ends without a hold is a put, and a key's first one is only remembered. */
	{.name = "ARC, 2nd put", .is_library = true, .flags = ABD_ARC_SECOND_TIME},
	{.name = "LRU", .hit = lru, .miss = lru},
	{.name = "W-TinyLFU", .hit = w_tinylfu_hit, .miss = w_tinylfu_miss},
	{.name = "S3-FIFO", .hit = s3_fifo_hit, .miss = s3_fifo_miss},
};

/*
 * MIN: what is used again last goes, or does not come in. A cached record is known by the request
 * that finds it next. latest[] is a tree over all requests: a leaf is the request's number plus 1
 * if its record is cached, else 0, and each node is the larger of its children.
 * Source: Belady, "A study of replacement algorithms for a virtual-storage computer", 1966.
 */
static void set_leaf(uint32_t *latest, size_t leaves, size_t at, bool is_cached)
{
	latest[leaves + at] = is_cached ? (uint32_t)at + 1 : 0;
	for (size_t i = (leaves + at) / 2; i > 0; i /= 2)
		latest[i] = latest[2 * i] > latest[2 * i + 1] ? latest[2 * i] : latest[2 * i + 1];
}

double roof_min(const struct trace *trace, size_t capacity)
{
	size_t leaves = trace->count, used = 0, hits = 0;
	uint32_t *latest = must_alloc(2 * leaves, sizeof(*latest));
	const struct request *request = trace->request;

	for (size_t i = 0; i < trace->count; i++) {
		if (latest[leaves + i] != 0) {
			hits++;
			used -= request[i].size;
			set_leaf(latest, leaves, i, false);
		}
		if (request[i].next == NEVER || request[i].size > capacity)
			continue;
		used += request[i].size;
		set_leaf(latest, leaves, request[i].next, true);
		while (used > capacity) {
			used -= request[latest[1] - 1].size;
			set_leaf(latest, leaves, latest[1] - 1, false);
		}
	}
	free(latest);
	return (double)hits;
}

static int cheaper(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * A record that stays from one use to the next costs its size times the requests between; the
 * cheapest stay, until the capacity times all requests is spent. Source: Berger, Beckmann,
 * Harchol-Balter, "Practical Bounds on Optimal Caching with Variable Object Sizes", 2018.
 */
double roof_pfoo(const struct trace *trace, size_t capacity)
{
	double *cost = must_alloc(trace->count + 1, sizeof(*cost));
	double left = (double)capacity * (double)trace->count, hits = 0;
	size_t count = 0;

	for (size_t i = 0; i < trace->count; i++) {
		const struct request *request = &trace->request[i];

		if (request->next != NEVER && request->size <= capacity)
			cost[count++] = (double)request->size * (double)(request->next - i);
	}
	qsort(cost, count, sizeof(*cost), cheaper);
	for (size_t i = 0; i < count && left > 0; left -= cost[i++])
		hits += cost[i] <= left ? 1 : left / cost[i];
	free(cost);
	return hits;
}
