/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records for the cache's tests. Their content follows from key and version, so every byte read can
 * be checked. It can be made to compress well, a little, or not at all.
 */
#ifndef ARC_DATA_H
#define ARC_DATA_H

#include "abd_test.h"

#include <stdlib.h>

static inline abd_arc_key_t arc_key(uint64_t n)
{
	return (abd_arc_key_t){7, {n, n >> 3}, n * 31};
}

/** Key n, to be handed to a call. */
#define arc_at(n) ((const abd_arc_key_t[]){arc_key(n)})

static inline bool arc_contains(abd_arc_t *arc, uint64_t n)
{
	return abd_arc_contains(arc, arc_at(n));
}

/**
 * Fill size bytes: of each 64, random are random and the rest repeat. The first 8 say key and
 * version.
 */
static inline void arc_fill(void *buf, size_t size, uint64_t key, uint64_t version, unsigned random)
{
	uint64_t state = key * 1000003 + version;
	uint8_t *to = buf, salt = (uint8_t)(key * 7 + version);
	uint64_t name = key << 32 | version;

	for (size_t i = 0; i < size; i++)
		to[i] = i % 64 < random ? (uint8_t)abd_test_random(&state)
					: (uint8_t)(salt + i % 64);
	memcpy(to, &name, size < sizeof(name) ? size : sizeof(name));
}

/** How many shards the tests' caches have, for those that are about right answers. */
static inline size_t arc_shards(size_t capacity)
{
	const char *shards = getenv("ABD_TEST_SHARDS");
	size_t count = shards != NULL ? strtoul(shards, NULL, 10) : 1;

	return capacity / ABD_ARC_CAPACITY_MIN >= count ? count : 1;
}

static inline abd_arc_t *arc_make(size_t capacity, uint32_t hit_batch, uint32_t flags)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.hit_batch = hit_batch,
		.flags = flags,
		.shards = arc_shards(capacity)};

	return abd_arc_create(&config);
}

static inline struct abd_arc_stats arc_stats(abd_arc_t *arc)
{
	struct abd_arc_stats stats;

	abd_arc_stats_get(arc, &stats, sizeof(stats));
	return stats;
}

#endif
