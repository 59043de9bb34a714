/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that isn't runs: structs with their run tables, gang tables, thread blocks, linear buffers by default.
 * From a jemalloc arena of its own where the process has jemalloc, else from the C library; which one never changes.
 *
 * Invariant: every allocation the library makes, wherever its memory comes from, asks abd_mem_refused() first: the one place
 * where tests make memory run out.
 */
#ifndef ABD_MEM_H
#define ABD_MEM_H

#include "abd_base.h"

#include <stdatomic.h>

/** For tests: returns true to make the allocation at hand fail. NULL, the default: never. */
extern bool (*_Atomic abd_mem_fault)(void) __attribute__((visibility("hidden")));

static inline bool abd_mem_refused(void)
{
	bool (*fault)(void) = atomic_load_explicit(&abd_mem_fault, memory_order_relaxed);

	return ABD_UNLIKELY(fault != NULL) && fault();
}

/** size > 0 bytes aligned to a power of two of at least 8; NULL: none. Freed with the same size and alignment. */
void *abd_mem_alloc(size_t size, size_t alignment);
void abd_mem_free(void *block, size_t size, size_t alignment);

/**
 * size > 0 bytes through this thread's magazines, aligned to 64 bytes, to 4 KiB from 4 KiB up; NULL: none.
 * Freed with the same size.
 */
void *abd_mem_cache_alloc(size_t size);
void abd_mem_cache_free(void *block, size_t size);

/* Magazines 0 to ABD_MEM_CLASSES - 1 of each thread are these sizes'. */
#define ABD_MEM_CLASSES 48

#endif
