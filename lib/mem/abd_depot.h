/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The depot: free blocks that all threads share, in batches. A full magazine gives a batch to the
 * depot, an empty one takes a batch, so the lock is taken once for many blocks.
 *
 * Invariant: all batches together hold at most half of the tunable reserve_bytes. If one more would
 * not fit, batches of the magazine number that has most bytes in the depot leave first.
 * Source: Bonwick and Adams, "Magazines and Vmem" (2001), section 3.
 */
#ifndef ABD_DEPOT_H
#define ABD_DEPOT_H

#include "abd_source.h"

#include <stdatomic.h>

#define ABD_DEPOT_BATCH 64

struct abd_depot_batch {
	struct abd_depot_batch *next;
	const struct abd_source *source;
	size_t size;
	unsigned tag;
	unsigned count;
	bool old; /* not used for a period */
	void *slot[ABD_DEPOT_BATCH];
};

/** An empty batch; NULL: no memory. */
struct abd_depot_batch *abd_depot_batch_make(
	const struct abd_source *source, size_t size, unsigned tag);

/** Give the blocks of a batch back to their source, and free the batch. */
void abd_depot_batch_end(struct abd_depot_batch *batch);

/** Put a batch into the depot, for threads that need blocks for magazine number index. */
void abd_depot_put(unsigned index, struct abd_depot_batch *batch);

/** The batch that was put last; NULL: none. */
struct abd_depot_batch *abd_depot_get(unsigned index);

/** The same, without a lock if there was none a moment ago, as mostly while a burst allocates. */
struct abd_depot_batch *abd_depot_get_any(unsigned index);

/**
 * Give batches back to their sources: those of one source and group (tag >> 8), or all if source is
 * NULL. False: there was none.
 */
bool abd_depot_drain(const struct abd_source *source, unsigned group);

/** A period has passed: give batches that nobody took during it back to their sources. */
void abd_depot_age(void);

/** The tunable reserve_bytes. */
extern atomic_size_t abd_depot_reserve __attribute__((visibility("hidden")));

static inline size_t abd_depot_reserve_bytes(void)
{
	return atomic_load_explicit(&abd_depot_reserve, memory_order_relaxed);
}

/** Around a fork(): the child finds the depot in order. */
void abd_depot_fork_begin(void);
void abd_depot_fork_end(void);

#endif
