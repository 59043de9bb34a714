/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the memory of linear buffers comes from: the library itself, or the engine's pair of
 * functions.
 * Invariant: the pair can't change once memory has been allocated, so memory goes back to where it
 * came from.
 */
#ifndef ABD_ALLOCATOR_H
#define ABD_ALLOCATOR_H

#include "abd_base.h"

#include <abd/buffer.h>

#include <stdatomic.h>

enum abd_allocator_state {
	ABD_ALLOCATOR_UNDECIDED,
	ABD_ALLOCATOR_OWN,
	ABD_ALLOCATOR_ENGINE,
};

extern atomic_int abd_allocator_state __attribute__((visibility("hidden")));

/** Whether it is decided that memory comes from the library itself. */
static inline bool abd_allocator_is_own(void)
{
	return atomic_load_explicit(&abd_allocator_state, memory_order_relaxed) ==
	       ABD_ALLOCATOR_OWN;
}

/** How many calls of the engine's own pair of functions this thread is in. */
extern _Thread_local unsigned abd_allocator_calls __attribute__((visibility("hidden")));

/** abd_buf_alloc() without its checks. */
void *abd_allocator_get(size_t size, bool is_metadata);
/** abd_buf_free_marked() without its checks. */
void abd_allocator_put(void *buf, size_t size, bool is_metadata);

#endif
