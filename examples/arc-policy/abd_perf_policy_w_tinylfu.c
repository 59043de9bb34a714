/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * W-TinyLFU: what is new passes through a window of a hundredth. What leaves it gets into the rest,
 * a segmented LRU, only if it was asked for more often than what would have to go for it. How often
 * is counted in a sketch: four counters of a key up to 15, halved from time to time. The window has
 * one size.
 * Source: Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", 2017.
 */
#include "abd_perf_policy.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW, TRIAL, PROVEN };
enum { ROWS = 4, MOST = 15, LEAST_WIDTH = 64, SAMPLE = 10 };

struct abd_perf_sketch {
	uint8_t *count; /* ROWS rows of so many */
	size_t width, added;
};

/* As wide as there are records: when there are more, counting begins anew. */
static void abd_perf_sketch_fit(struct abd_perf_cache *cache)
{
	struct abd_perf_sketch *sketch = cache->own;

	if (cache->nodes <= sketch->width)
		return;
	while (sketch->width < cache->nodes)
		sketch->width *= 2;
	free(sketch->count);
	sketch->count = abd_perf_policy_alloc(ROWS * sketch->width);
	sketch->added = 0;
	cache->own_bytes = ROWS * sketch->width / 2; /* 4 bits are enough */
}

static uint8_t *abd_perf_sketch_at(const struct abd_perf_sketch *sketch, uint64_t key, unsigned row)
{
	uint64_t hash = abd_perf_policy_hash(key + row * 0x9e3779b97f4a7c15u);

	return &sketch->count[row * sketch->width + (hash & (sketch->width - 1))];
}

static unsigned abd_perf_sketch_ask(const struct abd_perf_sketch *sketch, uint64_t key)
{
	unsigned least = MOST;

	for (unsigned row = 0; row < ROWS; row++) {
		unsigned count = *abd_perf_sketch_at(sketch, key, row);

		least = count < least ? count : least;
	}
	return least;
}

/* Only the least counters of a key grow, so that others disturb it less. */
static void abd_perf_sketch_add(struct abd_perf_sketch *sketch, uint64_t key)
{
	unsigned least = abd_perf_sketch_ask(sketch, key);

	for (unsigned row = 0; row < ROWS && least < MOST; row++) {
		uint8_t *count = abd_perf_sketch_at(sketch, key, row);

		*count = (uint8_t)(*count + (*count == least));
	}
	if (++sketch->added < SAMPLE * sketch->width)
		return;
	for (size_t i = 0; i < ROWS * sketch->width; i++)
		sketch->count[i] /= 2;
	sketch->added /= 2;
}

static void abd_perf_w_tinylfu_begin(struct abd_perf_cache *cache)
{
	struct abd_perf_sketch *sketch = abd_perf_policy_alloc(sizeof(*sketch));

	sketch->width = LEAST_WIDTH;
	sketch->count = abd_perf_policy_alloc(ROWS * sketch->width);
	cache->own = sketch;
	cache->own_bytes = ROWS * sketch->width / 2;
	cache->target = cache->capacity - cache->capacity / 100; /* of the segmented LRU */
}

static void abd_perf_w_tinylfu_end(struct abd_perf_cache *cache)
{
	struct abd_perf_sketch *sketch = cache->own;

	free(sketch->count);
	free(sketch);
}

static void abd_perf_w_tinylfu_hit(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	abd_perf_sketch_add(cache->own, node->key);
	abd_perf_node_move(cache, node, node->list == WINDOW ? WINDOW : PROVEN);
	while (cache->list[PROVEN].bytes > cache->target / 5 * 4)
		abd_perf_node_move(cache, abd_perf_node_oldest(cache, PROVEN), TRIAL);
}

/* The oldest of the window is on trial; while there is too much, it or what is oldest goes. */
static void abd_perf_w_tinylfu_leave(struct abd_perf_cache *cache)
{
	struct abd_perf_node *node = abd_perf_node_oldest(cache, WINDOW);
	unsigned uses = abd_perf_sketch_ask(cache->own, node->key);

	abd_perf_node_move(cache, node, TRIAL);
	while (cache->list[TRIAL].bytes + cache->list[PROVEN].bytes > cache->target) {
		struct abd_perf_node *victim = abd_perf_node_oldest(cache, TRIAL);

		if (victim == node && cache->list[PROVEN].count > 0)
			victim = abd_perf_node_oldest(cache, PROVEN);
		if (victim == node || uses <= abd_perf_sketch_ask(cache->own, victim->key)) {
			abd_perf_node_pull(cache, node);
			return;
		}
		abd_perf_node_pull(cache, victim);
	}
}

static void abd_perf_w_tinylfu_miss(struct abd_perf_cache *cache, struct abd_perf_node *node)
{
	abd_perf_node_put(cache, node, WINDOW);
	abd_perf_sketch_fit(cache);
	abd_perf_sketch_add(cache->own, node->key);
	while (cache->list[WINDOW].bytes > cache->capacity - cache->target &&
		cache->list[WINDOW].count > 1)
		abd_perf_w_tinylfu_leave(cache);
	while (cache->used > cache->capacity) /* a record larger than the window */
		abd_perf_w_tinylfu_leave(cache);
}

const struct abd_perf_policy abd_perf_policy_w_tinylfu = {.name = "W-TinyLFU",
	.record_bytes = 17,
	.hit = abd_perf_w_tinylfu_hit,
	.miss = abd_perf_w_tinylfu_miss,
	.begin = abd_perf_w_tinylfu_begin,
	.end = abd_perf_w_tinylfu_end};
