/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where buffers lie: pages of the pool, pieces of the heap, and pictures of both.
 */
#ifndef ABD_EXPLAIN_MEMORY_H
#define ABD_EXPLAIN_MEMORY_H

#include "abd_explain_world.h"

/** From now on, chunks come from the pool. Returns 0 or -ENOMEM. */
int abd_explain_memory_pool(struct abd_explain_world *world);

/** Learn where a new buffer lies; forget it when it is freed. */
void abd_explain_memory_learn(struct abd_explain_world *world, struct abd_explain_buffer *buffer);
void abd_explain_memory_forget(struct abd_explain_world *world, struct abd_explain_buffer *buffer);

/** Fragment the pool: no free run is larger than size, a power of two. Returns 0 or -ENOMEM. */
int abd_explain_memory_hold(struct abd_explain_world *world, size_t size);
/** Free the runs that fragment the pool. */
void abd_explain_memory_unhold(struct abd_explain_world *world);

/** One character per page of the pool: . free, # fragments it, else its owner's first letter. */
const char *abd_explain_memory_map(struct abd_explain_world *world);

/** A picture of a buffer, as it is now. */
struct abd_explain_shot *abd_explain_memory_shot(
	struct abd_explain_world *world, const struct abd_explain_buffer *buffer);
/** A picture of memory from abd_buf_alloc(). */
struct abd_explain_shot *abd_explain_memory_shot_piece(
	struct abd_explain_world *world, const void *memory, size_t size);

/** How many pieces the iterator hands out for a range. */
size_t abd_explain_memory_spans(abd_t *abd, size_t off, size_t size);

#endif
