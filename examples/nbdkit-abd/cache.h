/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache: libabd's ARC, under the ids of contents.
 * Invariant: nothing depends on a content being cached. Every call may find it evicted.
 */
#ifndef CACHE_H
#define CACHE_H

#include <abd/abd.h>

struct cache {
	abd_arc_t *arc;
};

/** Returns 0 or -errno. */
int cache_open(struct cache *cache, size_t capacity, size_t block_size);

void cache_close(struct cache *cache);

/** Keep a block under id, if the cache can. */
void cache_put(struct cache *cache, uint64_t id, const void *block, size_t size);

/** Copy bytes [offset, offset + size) of id's record into dst. Returns whether it is there. */
bool cache_read(struct cache *cache, uint64_t id, void *dst, size_t offset, size_t size);

/** Hold id's record as it is cached, until abd_arc_release(). Returns whether it is there. */
bool cache_hold(struct cache *cache, uint64_t id, abd_arc_hold_t *hold);

/** Drop id's record: its content has ended. 0 is ignored. */
void cache_forget(struct cache *cache, uint64_t id);

#endif
