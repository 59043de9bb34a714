/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slabs: runs that are cut into blocks of one size, for sizes below a page.
 *
 *   slab: a run of 16 to 64 KiB that begins at a multiple of its size
 *   +---------+---------+-----+---------+--------+
 *   | block 0 | block 1 | ... | block n |  head  |    head: which blocks are free, one bit each
 *   +---------+---------+-----+---------+--------+
 *
 * So a block's address and size give its slab, and a free block is not touched.
 * Invariants: a slab with free blocks is on the list of its size, any other on none. A slab without
 * taken blocks goes back to its heap. One lock, for all lists; nothing is called under it.
 * Source: Bonwick, "The Slab Allocator" (1994). lib/arc/abd_arc_store.c has slabs whose records can
 * be moved.
 */
#ifndef ABD_SLAB_H
#define ABD_SLAB_H

#include "abd_region.h"

struct abd_slab;

/**
 * Fill blocks[0, count) with blocks of size bytes, a multiple of 64 below 4 KiB, as far as the heap
 * has memory for slabs. list: the slabs of this size that have free blocks; it begins as NULL.
 * Returns how many. Threads: any.
 */
size_t abd_slab_alloc(struct abd_slab **list, struct abd_region_heap *heap, size_t size,
	void **blocks, size_t count);

/** Give blocks back. A block that is free already breaks the contract of abd_free(). Threads: any.
 */
void abd_slab_free(struct abd_slab **list, struct abd_region_heap *heap, size_t size, void **blocks,
	size_t count);

/** Around a fork(): the child finds the slabs in order. */
void abd_slab_fork_begin(void);
void abd_slab_fork_end(void);

#endif
