/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a provider of runs is, and the providers that exist. Providers include this header only;
 * their table, and the reserves in front of them, are in abd_chunk.h.
 */
#ifndef ABD_CHUNK_PROVIDER_H
#define ABD_CHUNK_PROVIDER_H

#include "abd_mem.h"
#include "abd_tunable.h"

#define ABD_CHUNK_SHIFT 12
#define ABD_CHUNK_SIZE ((size_t)1 << ABD_CHUNK_SHIFT)
#define ABD_CHUNK_ORDER_MAX 10 /* 4 MiB */
#define ABD_CHUNK_ORDERS (ABD_CHUNK_ORDER_MAX + 1)
#define ABD_CHUNK_PROVIDERS 5

struct abd_region_heap;

/**
 * A provider: regions, which give out runs (abd_region.h), or calls of its own. It may refuse any
 * order at any time: the caller tries a lower one. Runs are aligned to 4 KiB.
 * Threads: all calls may come from any thread at once.
 */
struct abd_chunk_provider {
	const char *name;
	/* asked before each time it is chosen; may set it up; NULL: always */
	bool (*supported)(void);
	struct abd_region_heap *heap; /* NULL: it has these calls instead */
	void *(*alloc)(unsigned order);
	void (*free)(void *run, unsigned order);
	void (*reap)(void); /* give unused memory back to the system; NULL: there is none */
};

extern const struct abd_chunk_provider abd_chunk_jemalloc, abd_chunk_regions, abd_chunk_malloc,
	abd_chunk_pool;

/** All tunables of this layer, the pool's included. */
extern const struct abd_tunables abd_chunk_tunables;

/** The tunable pool_size. Setting it returns -EINVAL once the region is reserved. */
int abd_chunk_pool_size_set(const char *value);
const char *abd_chunk_pool_size_get(char *text, size_t size);

/**
 * The pool's region, reserved if necessary; false: it can't be reserved. Its memory does not go
 * back to the system until each hold has been followed by a call of abd_chunk_pool_release().
 */
bool abd_chunk_pool_hold(void **base, size_t *size);
void abd_chunk_pool_release(void);

#endif
