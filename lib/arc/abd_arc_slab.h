/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of one size in pages of 4 KiB: a ghost costs its size and its share of a page
 * header, and is not rounded up to a power of two.
 * Invariant: pages is the number of pages.
 * Contract: abd_init() before the first item. Threads: one at a time, under the cache's lock.
 */
#ifndef ABD_ARC_SLAB_H
#define ABD_ARC_SLAB_H

#include "abd_mem_cache.h"

#include <stdatomic.h>

#define ABD_ARC_SLAB_PAGE ((size_t)4096)

struct abd_arc_page;

struct abd_arc_slab {
	size_t item_size;
	unsigned per_page;
	size_t pages;
	struct abd_arc_page *partial; /* those with a free item */
};

void abd_arc_slab_init(struct abd_arc_slab *slab, size_t item_size);
/** Give back the last page. The caller has freed all items. */
void abd_arc_slab_fini(struct abd_arc_slab *slab);
/** An item, not initialised; NULL: no memory. */
void *abd_arc_slab_alloc(struct abd_arc_slab *slab);
void abd_arc_slab_free(struct abd_arc_slab *slab, void *item);
/** What one item costs in pages that are full. */
size_t abd_arc_slab_cost(size_t item_size);

static inline size_t abd_arc_slab_bytes(const struct abd_arc_slab *slab)
{
	return slab->pages * ABD_ARC_SLAB_PAGE;
}

#endif
