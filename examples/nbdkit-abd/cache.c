/* SPDX-License-Identifier: BSD-2-Clause */
/* The cache's memory. */
#include "cache.h"

#include <errno.h>
#include <stdio.h>

/* What the pool has beyond the cache's capacity: the reserves of 128 threads. */
#define CACHE_POOL_MORE ((size_t)32 << 20)

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

abd_arc_t *cache_open(size_t capacity, size_t block_size)
{
	int error = choose_memory(capacity);
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = capacity,
		.expected_entries = capacity / block_size};

	errno = -error;
	return error == 0 ? abd_arc_create(&config) : NULL;
}
