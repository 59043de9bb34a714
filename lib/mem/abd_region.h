/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions of 4 MiB, each with a buddy allocator that hands out runs. All providers use them, except
 * "malloc" in builds for checkers; they differ in where regions come from.
 *
 * A region records for each page whether it is taken and whether it may be resident ("dirty").
 * Memory goes back to the system page by page:
 *
 *   at a reap           all pages that are free and dirty
 *   as time passes      pages that stayed free for a period
 *   when a heap grows   free and dirty pages of this heap, and of the others for each 4 MiB,
 *                       until no more than a quarter of reserve_bytes or a sixteenth of the
 *                       taken pages is left, whichever is more
 *
 * Invariants: taken pages are dirty. Regions start at multiples of 4 MiB, so a run's address gives
 * its region. A region is on the list of the largest order it can give: fuller regions serve first,
 * and others become empty. A region that is being purged is on no list.
 *
 * Regions get huge-page advice: without it, compare and copy over 4 KiB chunks at random addresses
 * lose up to half their speed to page walks. A huge page is resident as a whole once one of its
 * pages is touched. Before part of a huge page goes back, the advice is withdrawn, or Linux would
 * fill the holes again. It is given anew when the whole huge page is free. A huge page that is more
 * than seven eighths full is left whole.
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
	struct abd_region *next, **link;       /* in its list; link is NULL on none */
	unsigned listed;                       /* the number of that list */
	struct abd_region *ring, *ring_before; /* in the ring of all the heap's regions */
	size_t taken_pages;
	bool huge[ABD_REGION_HALVES]; /* has huge-page advice */
	uint64_t taken[ABD_REGION_WORDS], dirty[ABD_REGION_WORDS];
	uint64_t old[ABD_REGION_WORDS]; /* free and dirty for a period */
	struct abd_buddy buddy;
	struct abd_buddy_page pages[ABD_REGION_PAGES];
};

/* A provider's regions. The first three fields never change; ABD_REGION_HEAP() sets them. */
struct abd_region_heap {
	void *(*map)(size_t *size); /* *size bytes at a multiple of ABD_REGION_SIZE; NULL: none */
	bool (*unmap)(void *base, size_t size); /* false: refused; NULL: regions stay for ever */
	bool huge;                              /* map() gives huge-page advice */
	pthread_mutex_t lock;                   /* protects everything below, and the regions */
	pthread_mutex_t purge_lock; /* taken before lock; its holder alone purges, ends regions */
	struct abd_region *list[ABD_CHUNK_ORDERS + 1]; /* by largest free order + 1; 0: full */
	struct abd_region *hand;                       /* somewhere in the ring */
	size_t region_count, taken_pages, dirty_pages;
	size_t grown_pages; /* became dirty since the other heaps last gave back */
	bool pinned;        /* nothing goes back */
	bool splits;        /* huge pages that are nearly full are not left whole */
	bool refused; /* the system did not take memory back; it is asked again after a period */
	/* In the list of all heaps that were used: under a lock of its own. */
	atomic_bool listed;
	struct abd_region_heap *next;
};

#define ABD_REGION_HEAP(map_, unmap_, huge_)                                               \
	{                                                                                  \
		.map = (map_), .unmap = (unmap_), .huge = (huge_),                         \
		.lock = PTHREAD_MUTEX_INITIALIZER, .purge_lock = PTHREAD_MUTEX_INITIALIZER \
	}

/**
 * Fill runs[0, count) with runs of so many pages, up to ABD_REGION_PAGES, as far as regions can be
 * had. Returns how many. Threads: any.
 */
size_t abd_region_alloc_many(
	struct abd_region_heap *heap, void **runs, size_t count, size_t page_count);

/** Do what an allocation does that makes the heap grow, if it was deferred: see abd_age.h. No lock
 * is held. Threads: any. */
void abd_region_settle(struct abd_region_heap *heap);

/** Give runs back. Anything but a taken run of this heap breaks the contract of abd_free().
 * Threads: any. */
void abd_region_free_many(
	struct abd_region_heap *heap, void **runs, size_t count, size_t page_count);

/** One run of 4 KiB << order; NULL: refused. */
static inline void *abd_region_alloc(struct abd_region_heap *heap, unsigned order)
{
	void *run;

	return abd_region_alloc_many(heap, &run, 1, (size_t)1 << order) == 1 ? run : NULL;
}

static inline void abd_region_free(struct abd_region_heap *heap, void *run, unsigned order)
{
	abd_region_free_many(heap, &run, 1, (size_t)1 << order);
}

/**
 * Give back what is free, until a quarter of reserve_bytes or a sixteenth of the taken pages is
 * left, whichever is more; nothing of region except. Threads: any.
 */
void abd_region_shed(struct abd_region_heap *heap, const struct abd_region *except);

/** Give all that is free back to the system. Threads: any. */
void abd_region_reap(struct abd_region_heap *heap);
void abd_region_reap_all(void);

/** Give free memory back to the system, until at most bytes of it are left, or at least most bytes
 * have gone, which may be a region more. Threads: any. */
void abd_region_trim(struct abd_region_heap *heap, size_t bytes, size_t most);

/** Bytes that are free, and may be resident. Threads: any. */
size_t abd_region_idle(struct abd_region_heap *heap);

/** A period has passed: give back what has been free since the last one. Threads: any. */
void abd_region_age(struct abd_region_heap *heap);
void abd_region_age_all(void);

/** Bytes that are resident, as the system counts them. Threads: any. It takes about 1 us for each
 * MiB. */
size_t abd_region_resident(struct abd_region_heap *heap);

/** pinned: from now on no memory goes back to the system; else it may again. Threads: any. */
void abd_region_pin(struct abd_region_heap *heap, bool pinned);

/** Unpin, and give back all free memory, dirty or not: somebody may have made all of it resident.
 * Threads: any. */
void abd_region_unpin_resident(struct abd_region_heap *heap);

/** Add the number of free runs of each order to runs. Threads: any. */
void abd_region_free_runs(struct abd_region_heap *heap, uint64_t runs[ABD_CHUNK_ORDERS]);

/** Around a fork(): the child finds all heaps in order. */
void abd_region_fork_begin(void);
void abd_region_fork_end(void);

/** Map size bytes at a multiple of alignment, a power of two of at least a page, with advice about
 * huge pages; NULL: none. */
void *abd_region_map(size_t size, size_t alignment, int advice);

/** Give pages back to the system, locked ones too, or addresses. False: refused, and counted. */
bool abd_region_forget(void *base, size_t size);
bool abd_region_unmap(void *base, size_t size);

/** How often the system has refused so far. */
uint64_t abd_region_refusals(void);

#endif
