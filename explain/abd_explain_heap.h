/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocator behind abd_buf_alloc(): the library says here what it takes for linear buffers and
 * for borrowed copies, and every piece gets a number to be called by.
 */
#ifndef ABD_EXPLAIN_HEAP_H
#define ABD_EXPLAIN_HEAP_H

#include "abd_explain_world.h"

enum { ABD_EXPLAIN_HEAP_MAX = 64 << 20 }; /* bytes; what would be more is refused */

/** Put it behind abd_buf_alloc(). Once, before the first allocation. */
void abd_explain_heap_begin(void);

/** The piece that memory lies in, or NULL. */
struct abd_explain_piece *abd_explain_heap_find(const void *memory);

/** End what was not ended, and count from 1 again. */
void abd_explain_heap_reset(void);

#endif
