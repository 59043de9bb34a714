/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Placing buffers in memory: runs get random addresses, as in a cache that has worked for days. A
 * fresh allocator hands out runs side by side; the iterator would join them, and the CPU would
 * prefetch across them.
 */
#ifndef ABD_PERF_PLACE_H
#define ABD_PERF_PLACE_H

#include <abd/abd.h>

struct abd_perf_place {
	size_t pairs;      /* of runs that follow each other in a buffer */
	size_t neighbours; /* of those, side by side in memory */
	size_t ascending;  /* of those, second above first: half of them when the order is random */
};

/** Allocate count buffers of size bytes, in 4 KiB runs. Ends the program when there is no memory.
 */
void abd_perf_place_alloc(abd_t **buffers, size_t count, size_t size);

/**
 * Exchange the 4 KiB runs of count scatter buffers at random. Contract: all buffers were allocated
 * with max_order 0 from one provider, and hold no data yet. Afterwards each buffer has as many runs
 * as before, of the same order.
 * This changes private fields: freeing in random order would not be enough, because allocators
 * prefer low addresses, and letting an allocator age for days takes too long.
 */
void abd_perf_place_shuffle(abd_t **buffers, size_t count);

/** Count how the buffers' runs lie, to see whether the shuffle worked. */
struct abd_perf_place abd_perf_place_look(abd_t *const *buffers, size_t count);

/** The addresses of a buffer's 4 KiB pieces, in their order; its runs are multiples of these. */
void abd_perf_place_pages(abd_t *abd, char **page);

/**
 * Draw the addresses of what is placed from now on anew: each process that measures the same rows
 * calls it with another number.
 */
void abd_perf_place_layout(unsigned number);

/** Set a tunable. Ends the program when the library refuses the name or the value. */
void abd_perf_place_tune(const char *name, const char *value);
/** The value of "compare" or "flush" that ABD_COMPARE or ABD_FLUSH asks for; "auto" without. */
const char *abd_perf_place_found(const char *name);
/** Set "compare" or "flush" back to that value. */
void abd_perf_place_restore(const char *name);

#endif
