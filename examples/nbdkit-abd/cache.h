/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache: libabd's ARC, whose keys are the ids of contents.
 * Invariant: nothing depends on a content being cached. Every call may find it evicted.
 */
#ifndef CACHE_H
#define CACHE_H

#include <abd/abd.h>

/** Make the cache. NULL with errno: it can't be. */
abd_arc_t *cache_open(size_t capacity, size_t block_size);

static inline abd_arc_key_t cache_key(uint64_t id)
{
	return (abd_arc_key_t){.dva = {id, 0}};
}

#endif
