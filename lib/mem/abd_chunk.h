/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where chunk memory comes from: order-n runs of 4 KiB << n, from a provider, through per-thread
 * magazines.
 *
 * Invariant: a run goes back to the provider it came from, with its order; so its owner
 * remembers both.
 * OpenZFS: abd_alloc_chunks() in module/os/linux/zfs/abd_os.c, over Linux's page allocator.
 */
#ifndef ABD_CHUNK_H
#define ABD_CHUNK_H

#include "abd_chunk_provider.h"
#include "abd_magazine.h"
#include "abd_mem_cache.h"
#include "abd_tunable.h"

/**
 * Add a provider to the table under its name; -ENOSPC when the table is full. For tests, and for
 * providers with parameters.
 */
int abd_chunk_provider_add(const struct abd_chunk_provider *provider);

/** Bytes of a provider that are resident; 0 for a provider without regions. */
size_t abd_chunk_resident(const struct abd_chunk_provider *provider);
/** The same for blocks of the size classes (abd_mem_cache.h). */
size_t abd_chunk_resident_small(void);

/** The number of the provider that new buffers take; ABD_CHUNK_PROVIDERS: not decided yet. */
extern atomic_uint abd_chunk_provider_number __attribute__((visibility("hidden")));

/** The same, decided now if need be. */
unsigned abd_chunk_provider_now(void);

/** Bytes that the provider in use can hold; SIZE_MAX if only the machine limits it. */
size_t abd_chunk_bytes_max(void);

/** Give the reserves of all threads and providers back to the system. */
void abd_chunk_reap(void);

/** After a refusal: give this provider's runs in reserve back to it. False: there were none. */
bool abd_chunk_relieve(unsigned provider);

/**
 * Give free memory of a provider and of the size classes back to the system, until together they
 * keep at most bytes of it, or either has given back most bytes, or up to a region more. If
 * reserves is true, the runs in reserve of threads and of the depot go back first. Does nothing if
 * the provider has no regions.
 */
void abd_chunk_trim(unsigned number, bool reserves, size_t bytes, size_t most);

/** Free bytes that a provider's regions and those of the size classes keep from the system. */
size_t abd_chunk_idle(unsigned number);

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

/**
 * The same without reserves, which would keep memory in addition to what its owner counts. May be
 * called with a lock that others wait for: what these calls would give back to the system,
 * abd_chunk_settle() gives back, or abd_chunk_trim(), without it.
 */
void *abd_chunk_alloc_direct(unsigned provider, unsigned order);
void abd_chunk_free_direct(unsigned provider, void *run, unsigned order);
void abd_chunk_settle(unsigned number);

static inline void abd_chunk_free(unsigned provider, void *run, unsigned order)
{
	abd_magazine_put(abd_chunk_magazine(provider, order), &abd_chunk_source, run,
		ABD_CHUNK_SIZE << order, abd_chunk_tag(provider, order));
}

/** The same for many runs of one order, with this thread's reserve only. Returns how many of runs
 * [0, count) came from it, or went to it. */
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
