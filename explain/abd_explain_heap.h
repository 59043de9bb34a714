/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocator behind abd_buf_alloc(). The library takes memory for linear buffers and for
 * borrowed copies here. Every piece gets a number, by which drawings name it.
 */
#ifndef ABD_EXPLAIN_HEAP_H
#define ABD_EXPLAIN_HEAP_H

#include "abd_explain_world.h"

enum { ABD_EXPLAIN_HEAP_MAX = 64 << 20 }; /* bytes; a request that would exceed it fails */

/** Make abd_buf_alloc() use it. Call it once, before the first allocation. */
void abd_explain_heap_begin(void);

/** The piece that memory lies in, or NULL. */
struct abd_explain_piece *abd_explain_heap_find(const void *memory);

/** Free the pieces that were not freed, and number from 1 again. */
void abd_explain_heap_reset(void);

#endif
