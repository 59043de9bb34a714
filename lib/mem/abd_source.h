/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source: where blocks come from when none is in reserve, and where they go when the reserve is
 * full. Many at a time, so that its lock is taken once for all of them.
 */
#ifndef ABD_SOURCE_H
#define ABD_SOURCE_H

#include "abd_base.h"

/**
 * tag is a number of the source's own. Blocks with the same tag >> 8 are a group: freeing one may
 * make room for another.
 */
struct abd_source {
	/* Fills blocks[0, count) as far as it can. Returns how many; 0: refused. */
	size_t (*alloc)(void **blocks, size_t count, size_t size, unsigned tag);
	void (*free)(void **blocks, size_t count, size_t size, unsigned tag);
};

static inline void *abd_source_alloc(const struct abd_source *source, size_t size, unsigned tag)
{
	void *block;

	return source->alloc(&block, 1, size, tag) == 1 ? block : NULL;
}

#endif
