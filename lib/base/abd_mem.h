/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw memory of the C library, for what the library keeps about its memory and threads, and for
 * what is larger than a region. Structs, tables and linear buffers come from lib/mem.
 *
 * Invariant: every allocation of the library, from whatever source, asks abd_mem_refused() first.
 * This is the one place where tests make memory run out.
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

/**
 * The machine's memory and swap, in bytes. Larger requests are refused; the system might grant them
 * and fail later.
 */
size_t abd_mem_bytes_max(void);

/**
 * Allocate size > 0 bytes; alignment is a power of two, at least 8. NULL: no memory. Free with the
 * same size and alignment.
 */
void *abd_mem_alloc(size_t size, size_t alignment);
void abd_mem_free(void *block, size_t size, size_t alignment);

#endif
