/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that isn't runs: structs with their run tables, gang tables, thread blocks, linear buffers
 * by default. From a jemalloc arena of its own where the process has jemalloc, else from the C
 * library; which one never changes.
 *
 * Invariant: every allocation the library makes, wherever its memory comes from, asks
 * abd_mem_refused() first: the one place where tests make memory run out.
 */
#ifndef ABD_MEM_H
#define ABD_MEM_H

#include "abd_magazine.h"

/** For tests: returns true to make the allocation at hand fail. NULL, the default: never. */
extern bool (*_Atomic abd_mem_fault)(void) __attribute__((visibility("hidden")));

static inline bool abd_mem_refused(void)
{
	bool (*fault)(void) = atomic_load_explicit(&abd_mem_fault, memory_order_relaxed);

	return ABD_UNLIKELY(fault != NULL) && fault();
}

/**
 * Bytes that this machine could serve at all: its memory and swap. Larger requests are refused, not
 * promised.
 */
size_t abd_mem_bytes_max(void);

/**
 * size > 0 bytes aligned to a power of two of at least 8; NULL: none. Freed with the same size and
 * alignment.
 */
void *abd_mem_alloc(size_t size, size_t alignment);
void abd_mem_free(void *block, size_t size, size_t alignment);

/*
 * Size classes: multiples of 64 bytes to 1 KiB, then four to each doubling up to 256 KiB, so that
 * at most a fifth of a block is unused (jemalloc's spacing), but that from 4 KiB up alignment makes
 * it whole pages. Larger blocks are not kept. Magazines 0 to ABD_MEM_CLASSES - 1 of each thread are
 * theirs.
 */
#define ABD_MEM_SMALL_MAX ((size_t)1024)
#define ABD_MEM_CLASS_MAX ((size_t)256 << 10)
#define ABD_MEM_CLASSES 48

extern const struct abd_source abd_mem_source;

/* The class of 0 < size <= ABD_MEM_CLASS_MAX; *size becomes the class's. */
static inline unsigned abd_mem_class(size_t *size)
{
	if (*size <= ABD_MEM_SMALL_MAX) {
		unsigned class = (unsigned)((*size - 1) / 64);

		*size = (class + 1) * (size_t)64;
		return class;
	}

	unsigned doubling = abd_log2(*size - 1);   /* 1025 to 2048: 10 */
	size_t step = (size_t)1 << (doubling - 2); /* a quarter of it */
	size_t quarter = (*size - 1) / step - 4;   /* 0 to 3 */

	*size = (quarter + 5) * step;
	return 16 + 4 * (doubling - 10) + (unsigned)quarter;
}

/**
 * size > 0 bytes through this thread's magazines, aligned to 64 bytes, to 4 KiB from 4 KiB up;
 * NULL: none. Freed with the same size. Inline: for a struct the class is known when compiling.
 */
static inline void *abd_mem_cache_alloc(size_t size)
{
	if (ABD_UNLIKELY(size > ABD_MEM_CLASS_MAX))
		return abd_mem_alloc(size, 4096);

	size_t used = size;
	unsigned class = abd_mem_class(&size);
	void *block = abd_magazine_get(class, &abd_mem_source, size, 0);

	if (ABD_LIKELY(block != NULL))
		abd_quarantine_guard(block, used, size);
	return block;
}

static inline void abd_mem_cache_free(void *block, size_t size)
{
	if (ABD_UNLIKELY(size > ABD_MEM_CLASS_MAX)) {
		abd_mem_free(block, size, 4096);
		return;
	}

	size_t used = size;
	unsigned class = abd_mem_class(&size);

	abd_quarantine_unguard(block, used, size);
	abd_magazine_put(class, &abd_mem_source, block, size, 0);
}

#endif
