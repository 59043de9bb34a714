/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Placing buffers in memory: runs at random addresses, as a cache has them after days, not side by
 * side as a fresh allocator hands them out (neighbours would be joined by the iterator, and fetched
 * ahead by the CPU).
 */
#ifndef ABD_PERF_PLACE_H
#define ABD_PERF_PLACE_H

#include <abd/abd.h>

struct abd_perf_place {
	size_t pairs;      /* of runs that follow each other in a buffer */
	size_t neighbours; /* of those, side by side in memory */
	size_t ascending;  /* of those, second above first: half of them when the order is random */
};

/**
 * Exchange the 4 KiB runs of count scatter buffers among each other at random. Contract: all were
 * allocated with max_order 0 from one provider, and hold nothing yet.
 * This reaches into private fields: an allocator that has run for days can't be had in a second,
 * and allocators prefer low addresses, so freeing in random order is not enough. Each buffer still
 * has the same number of runs of the same order.
 */
void abd_perf_place_shuffle(abd_t **buffers, size_t count, uint64_t *random);

/** Look whether it worked. */
struct abd_perf_place abd_perf_place_look(abd_t *const *buffers, size_t count);

/** Set a tunable that is known; ends the program when the library refuses. */
void abd_perf_place_tune(const char *name, const char *value);
/**
 * Remember how kernels were chosen when the program started, by the environment for instance:
 * called before anything is tuned.
 */
void abd_perf_place_keep(void);
/** What "compare" or "flush" was then. */
const char *abd_perf_place_found(const char *name);
/** Set it to that again. */
void abd_perf_place_restore(const char *name);

#endif
