/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where chunk memory comes from: order-n runs of 4 KiB << n, from a provider, through per-thread
 * magazines.
 *
 * Invariant: a run goes back to the provider it came from, with its order; so whoever holds one
 * remembers both.
 * OpenZFS: abd_alloc_chunks() in module/os/linux/zfs/abd_os.c, over Linux's page allocator.
 */
#ifndef ABD_CHUNK_H
#define ABD_CHUNK_H

#include "abd_magazine.h"
#include "abd_mem_cache.h"
#include "abd_tunable.h"

#define ABD_CHUNK_SHIFT 12
#define ABD_CHUNK_SIZE ((size_t)1 << ABD_CHUNK_SHIFT)
#define ABD_CHUNK_ORDER_MAX 10 /* 4 MiB */
#define ABD_CHUNK_ORDERS (ABD_CHUNK_ORDER_MAX + 1)
#define ABD_CHUNK_PROVIDERS 5

/**
 * A provider. alloc may refuse any order at any time (NULL): the caller tries a lower one. Runs are
 * aligned to 4 KiB.
 * Threads: all calls may come from any thread at once.
 */
struct abd_chunk_provider {
	const char *name;
	bool (*supported)(void); /* asked before each time it is chosen; may set it up */
	void *(*alloc)(unsigned order);
	void (*free)(void *run, unsigned order);
	void (*reap)(void); /* give unused memory back to the system */
};

extern const struct abd_chunk_provider abd_chunk_jemalloc, abd_chunk_malloc, abd_chunk_pool;
extern const struct abd_tunables abd_chunk_tunables;

/**
 * Add a provider to the table under its name; -ENOSPC when the table is full. For tests, and for
 * providers with parameters.
 */
int abd_chunk_provider_add(const struct abd_chunk_provider *provider);

/** The pool's tunables: -EINVAL once the region is reserved. */
int abd_chunk_pool_size_set(const char *value);
int abd_chunk_pool_alignment_set(const char *value);
int abd_chunk_pool_node_set(const char *value);
const char *abd_chunk_pool_size_get(char *text, size_t size);
const char *abd_chunk_pool_alignment_get(char *text, size_t size);
const char *abd_chunk_pool_node_get(char *text, size_t size);

/** The number of the provider that new buffers take. */
unsigned abd_chunk_provider_now(void);

/** Give what is in reserve, with all threads and providers, back to the system. */
void abd_chunk_reap(void);

/** After a refusal: give runs in reserve back to this provider. False: there were none. */
bool abd_chunk_relieve(unsigned provider);

extern const struct abd_source abd_chunk_source;

static inline unsigned abd_chunk_magazine(unsigned provider, unsigned order)
{
	return ABD_MEM_CACHE_CLASSES + provider * ABD_CHUNK_ORDERS + order;
}

static inline unsigned abd_chunk_tag(unsigned provider, unsigned order)
{
	return provider << 8 | order;
}

/** A run of ABD_CHUNK_SIZE << order bytes, not initialised; NULL: refused. */
static inline void *abd_chunk_alloc(unsigned provider, unsigned order)
{
	return abd_magazine_get(abd_chunk_magazine(provider, order), &abd_chunk_source,
		ABD_CHUNK_SIZE << order, abd_chunk_tag(provider, order));
}

static inline void abd_chunk_free(unsigned provider, void *run, unsigned order)
{
	abd_magazine_put(abd_chunk_magazine(provider, order), &abd_chunk_source, run,
		ABD_CHUNK_SIZE << order, abd_chunk_tag(provider, order));
}

/** The same for many runs of one order: how many of runs[0, count) were had from, or given to, this
 * thread's reserve. */
static inline size_t abd_chunk_alloc_many(
	unsigned provider, unsigned order, struct iovec *runs, size_t count)
{
	return abd_magazine_get_many(
		abd_chunk_magazine(provider, order), runs, count, ABD_CHUNK_SIZE << order);
}

static inline size_t abd_chunk_free_many(
	unsigned provider, unsigned order, const struct iovec *runs, size_t count)
{
	return abd_magazine_put_many(abd_chunk_magazine(provider, order), runs, count);
}

#endif
