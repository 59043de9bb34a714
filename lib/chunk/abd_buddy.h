/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buddy allocator over one region of pages: runs of 2^n pages, aligned to their own size, split
 * and joined in halves.
 *
 * Invariants: a free run of order n starts at a multiple of 2^n pages; its buddy is not a free run
 * of the same order (they would have been joined). What is known of a page is kept beside the
 * region, never in it: a free run is not touched. Not locked: the caller does.
 * Knuth, The Art of Computer Programming, volume 1, section 2.5; Linux: mm/page_alloc.c.
 */
#ifndef ABD_BUDDY_H
#define ABD_BUDDY_H

#include "abd_base.h"

#define ABD_BUDDY_ORDERS 16
#define ABD_BUDDY_NONE UINT16_MAX

struct abd_buddy_page {
	uint16_t next, prev; /* of the free runs of its order */
	uint8_t state;       /* how the page begins a run: see abd_buddy.c */
};

struct abd_buddy {
	struct abd_buddy_page *pages; /* one record per page */
	uint32_t page_count;
	unsigned order_max;
	uint32_t free_first[ABD_BUDDY_ORDERS];
	size_t free_runs[ABD_BUDDY_ORDERS]; /* how many free runs of each order there are */
};

/**
 * Begin with all pages free. pages has room for page_count records; order_max < ABD_BUDDY_ORDERS.
 */
void abd_buddy_init(struct abd_buddy *buddy, struct abd_buddy_page *pages, uint32_t page_count,
	unsigned order_max);

/**
 * The first page of a free run, now taken; ABD_BUDDY_NONE: there is none of this order or above.
 * Lowest order that fits first.
 */
uint32_t abd_buddy_alloc(struct abd_buddy *buddy, unsigned order);

/** Give back a run. False, and nothing changed: no run of this order that is taken begins there. */
bool abd_buddy_free(struct abd_buddy *buddy, uint32_t page, unsigned order);

#endif
