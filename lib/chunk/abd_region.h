/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs out of regions of 4 MiB, each with a buddy allocator: what all providers are made of. They
 *differ in where regions come from.
 *
 * A region knows of each page whether it is taken and whether it may be resident ("dirty"). Memory
 *goes back page by page:
 *
 *	at a reap		all that is free and dirty
 *	as time passes		what stayed free for a period, down to a quarter of reserve_bytes
 *	when it would grow	so much that no more than a quarter of reserve_bytes, or a sixteenth
 *of what is taken, is free and dirty
 *
 * Invariants: taken pages are dirty. Regions start at multiples of their size, so a run's region is
 *found by its address. A region is on the list of the largest order it can give, so that fuller
 *regions serve first and others empty; one that is being purged is on none.
 *
 * Regions are advised to lie on huge pages, because compare and copy over 4 KiB chunks at random
 *addresses lose up to half their speed to page walks otherwise. A huge page is resident as a whole
 *once a page of it is touched. When part of one goes back, the advice is withdrawn first, or the
 *kernel would fill the holes again; it is given anew when the whole huge page is free. One that is
 *seven eighths full is left whole.
 */
#ifndef ABD_REGION_H
#define ABD_REGION_H

#include "abd_buddy.h"
#include "abd_region_index.h"

#include <pthread.h>

#define ABD_REGION_PAGES (1u << ABD_CHUNK_ORDER_MAX)
#define ABD_REGION_WORDS (ABD_REGION_PAGES / 64)
#define ABD_REGION_HALVES 2 /* huge pages of 2 MiB */

struct abd_region_heap;

struct abd_region {
	char *base;
	size_t size;
	struct abd_region_heap *heap;
	struct abd_region *next, **link;       /* of the list it is on; link is NULL on none */
	struct abd_region *ring, *ring_before; /* all of the heap's */
	size_t taken_pages;
	bool huge[ABD_REGION_HALVES]; /* advised so */
	uint64_t taken[ABD_REGION_WORDS], dirty[ABD_REGION_WORDS];
	uint64_t old[ABD_REGION_WORDS]; /* free and dirty for a period */
	struct abd_buddy buddy;
	struct abd_buddy_page pages[ABD_REGION_PAGES];
};

/* A provider's regions. The first fields are settled, and begin with ABD_REGION_HEAP(). */
struct abd_region_heap {
	void *(*map)(size_t *size); /* *size bytes at a multiple of ABD_REGION_SIZE; NULL: none */
	void (*unmap)(void *base, size_t size); /* NULL: regions stay for ever */
	bool huge;                              /* the map function gave the advice */
	pthread_mutex_t lock;                   /* of everything below, and the regions */
	pthread_mutex_t purge_lock; /* taken first: one thread purges at a time, and no other ends
				       regions */
	struct abd_region *list[ABD_CHUNK_ORDERS + 1]; /* by largest order + 1; 0: full ones */
	struct abd_region *hand;                       /* somewhere in the ring */
	size_t region_count, taken_pages, dirty_pages;
	bool pinned; /* nothing goes back */
};

#define ABD_REGION_HEAP(map_, unmap_, huge_)                                               \
	{                                                                                  \
		.map = (map_), .unmap = (unmap_), .huge = (huge_),                         \
		.lock = PTHREAD_MUTEX_INITIALIZER, .purge_lock = PTHREAD_MUTEX_INITIALIZER \
	}

/** A run; NULL: no region can be had. Threads: any. */
void *abd_region_alloc(struct abd_region_heap *heap, unsigned order);

/** Give a run back; another heap's run, or none, is a broken contract of abd_free(). Threads: any.
 */
void abd_region_free(struct abd_region_heap *heap, void *run, unsigned order);

/** Give all that is free back to the system. Threads: any. */
void abd_region_reap(struct abd_region_heap *heap);

/** A period has passed: give back what has been free since the last one. Threads: any. */
void abd_region_age(struct abd_region_heap *heap);

/** Bytes that are resident, as the system counts them. Threads: any. It takes about 1 us for each
 * MiB. */
size_t abd_region_resident(struct abd_region_heap *heap);

/** From now on nothing goes back, or everything may again. Threads: any. */
void abd_region_pin(struct abd_region_heap *heap, bool pinned);

/** Memory may go back again, and all that is free does: somebody may have made all of it resident.
 * Threads: any. */
void abd_region_unpin_resident(struct abd_region_heap *heap);

/** How many free runs of each order there are, added to runs. Threads: any. */
void abd_region_free_runs(struct abd_region_heap *heap, uint64_t runs[ABD_CHUNK_ORDERS]);

/** Around a fork(): the child finds the heap in order. */
void abd_region_fork_begin(struct abd_region_heap *heap);
void abd_region_fork_end(struct abd_region_heap *heap);

/** Map size bytes at a multiple of alignment, a power of two of at least a page, with huge-page
 * advice; NULL: none. */
void *abd_region_map(size_t size, size_t alignment);

#endif
