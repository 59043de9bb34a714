/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ARC, under content ids. Damaged records (-EBADMSG) are misses: the ARC has dropped them, and
 * the log or the file has the bytes.
 */
#include "cache.h"

#include <stdio.h>

/* What the pool has beyond the cache's capacity: the reserves of 128 threads. */
#define CACHE_POOL_MORE ((size_t)32 << 20)

static abd_arc_key_t key_of(uint64_t id)
{
	return (abd_arc_key_t){.dva = {id, 0}};
}

/*
 * Memory of its own, of a fixed size. nbdkit opens plugins at run time, where libabd finds no
 * jemalloc, and single pages from the C library take twice their size: 263 MiB for 93 MB of
 * records, where the pool took 141. Each thread's reserve is made small, because a connection has
 * 16 threads.
 */
static int choose_memory(size_t capacity)
{
	char size[32];
	int error;

	snprintf(size, sizeof(size), "%zu", capacity + CACHE_POOL_MORE);
	error = abd_tuning_set("thread_cache_bytes", "262144");
	if (error == 0)
		error = abd_tuning_set("pool_size", size);
	return error == 0 ? abd_tuning_set("chunk_provider", "pool") : error;
}

int cache_open(struct cache *cache, size_t capacity, size_t block_size)
{
	int error = choose_memory(capacity);
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.expected_entries = capacity / block_size};

	if (error != 0)
		return error;
	cache->arc = abd_arc_create(&config);
	return cache->arc != NULL ? 0 : -errno;
}

void cache_close(struct cache *cache)
{
	abd_arc_destroy(cache->arc);
	cache->arc = NULL;
}

void cache_put(struct cache *cache, uint64_t id, const void *block, size_t size)
{
	abd_arc_key_t key = key_of(id);

	(void)abd_arc_put(cache->arc, &key, block, size); /* what does not fit is not cached */
}

bool cache_read(struct cache *cache, uint64_t id, void *dst, size_t offset, size_t size)
{
	abd_arc_key_t key = key_of(id);

	return abd_arc_read(cache->arc, &key, dst, offset, size) >= 0;
}

bool cache_hold(struct cache *cache, uint64_t id, abd_arc_hold_t *hold)
{
	abd_arc_key_t key = key_of(id);

	return abd_arc_hold(cache->arc, &key, hold) == 0;
}

void cache_forget(struct cache *cache, uint64_t id)
{
	abd_arc_key_t key = key_of(id);

	if (id != 0)
		(void)abd_arc_remove(cache->arc, &key);
}
