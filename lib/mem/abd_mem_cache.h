/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small memory by size class, through the thread's magazines.
 * Invariant: a block is freed with the size that it was allocated with, which gives the same class.
 *
 * Classes are multiples of 64 bytes to 1 KiB, then four to each doubling up to 256 KiB (jemalloc's
 * spacing), but whole pages from 4 KiB up. Less than 64 bytes of a block are wasted up to 1 KiB,
 * and at most a fifth of it, or less than a page, above. Larger blocks are not kept.
 */
#ifndef ABD_MEM_CACHE_H
#define ABD_MEM_CACHE_H

#include "abd_magazine.h"
#include "abd_mem.h"

#define ABD_MEM_CACHE_SMALL_MAX ((size_t)1024)
#define ABD_MEM_CACHE_MAX ((size_t)256 << 10)
/* Magazines 0 to ABD_MEM_CACHE_CLASSES - 1 of each thread belong to the classes. */
#define ABD_MEM_CACHE_CLASSES 48

extern const struct abd_source abd_mem_cache_source;

/** The regions that blocks lie in; NULL in builds for checkers. */
extern struct abd_region_heap *const abd_mem_cache_heap;

/** Blocks of more than ABD_MEM_CACHE_MAX bytes, of whole pages. NULL: no memory. */
void *abd_mem_cache_alloc_large(size_t size);
void abd_mem_cache_free_large(void *block, size_t size);

/* The class of 0 < *size <= ABD_MEM_CACHE_MAX; *size becomes the size of the class. */
static inline unsigned abd_mem_cache_class(size_t *size)
{
	if (*size <= ABD_MEM_CACHE_SMALL_MAX) {
		unsigned class = (unsigned)((*size - 1) / 64);

		*size = (class + 1) * (size_t)64;
		return class;
	}
	if (*size > 4096)
		*size = abd_round_up(*size, 4096);

	unsigned doubling = abd_log2(*size - 1);   /* 1025 to 2048: 10 */
	size_t step = (size_t)1 << (doubling - 2); /* a quarter of it */
	size_t quarter = (*size - 1) / step - 4;   /* 0 to 3 */

	*size = (quarter + 5) * step;
	return 16 + 4 * (doubling - 10) + (unsigned)quarter;
}

/**
 * Allocate size > 0 bytes through this thread's magazines. Blocks are aligned to 64 bytes, those of
 * 4 KiB and more to 4 KiB. NULL: no memory. Free with the same size. Inline, because the compiler
 * knows the class of a struct.
 */
static inline void *abd_mem_cache_alloc(size_t size)
{
	if (ABD_UNLIKELY(size > ABD_MEM_CACHE_MAX))
		return abd_mem_cache_alloc_large(size);

	size_t used = size;
	unsigned class = abd_mem_cache_class(&size);
	void *block = abd_magazine_get(class, &abd_mem_cache_source, size, class);

	if (ABD_LIKELY(block != NULL))
		abd_quarantine_guard(block, used, size);
	return block;
}

static inline void abd_mem_cache_free(void *block, size_t size)
{
	if (ABD_UNLIKELY(size > ABD_MEM_CACHE_MAX)) {
		abd_mem_cache_free_large(block, size);
		return;
	}

	size_t used = size;
	unsigned class = abd_mem_cache_class(&size);

	abd_quarantine_unguard(block, used, size);
	abd_magazine_put(class, &abd_mem_cache_source, block, size, class);
}

#endif
