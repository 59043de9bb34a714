/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The depot: free blocks that all threads share, in batches. A magazine that is full gives a batch
 * away, an empty one takes one, so the lock is taken once for many blocks.
 *
 * Invariant: the batches hold at most half of the tunable reserve_bytes together. When one more
 * would not fit, the kind that holds most makes room for it.
 * Bonwick and Adams, "Magazines and Vmem" (2001), section 3.
 */
#ifndef ABD_DEPOT_H
#define ABD_DEPOT_H

#include "abd_source.h"

#define ABD_DEPOT_BATCH 64

struct abd_depot_batch {
	struct abd_depot_batch *next;
	const struct abd_source *source;
	size_t size;
	unsigned tag;
	unsigned count;
	bool old; /* nobody wanted it for a period */
	void *slot[ABD_DEPOT_BATCH];
};

/** An empty batch; NULL: no memory. */
struct abd_depot_batch *abd_depot_batch_make(
	const struct abd_source *source, size_t size, unsigned tag);

/** Give what is in a batch back to its source, if anything is, and end it. */
void abd_depot_batch_end(struct abd_depot_batch *batch);

/** Put a batch into the depot, for whoever asks for the same magazine's number. */
void abd_depot_put(unsigned index, struct abd_depot_batch *batch);

/** The batch that was put last; NULL: none. */
struct abd_depot_batch *abd_depot_get(unsigned index);

/** Give batches back to their sources: those of one source and group (tag >> 8), or all for NULL.
 * False: there was none. */
bool abd_depot_drain(const struct abd_source *source, unsigned group);

/** A period has passed: what nobody wanted since the last one goes back to its source. */
void abd_depot_age(void);

/** The tunable reserve_bytes. */
size_t abd_depot_reserve_bytes(void);
int abd_depot_reserve_set(const char *value);
const char *abd_depot_reserve_get(char *text, size_t size);

/** Have fork() find the depot in order. */
void abd_depot_start(void);

#endif
