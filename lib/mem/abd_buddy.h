/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buddy allocator over one region of pages: runs of 2^n pages, aligned to their own size, split
 * and joined in halves.
 *
 * Invariants: a free run of order n starts at a multiple of 2^n pages; its buddy is not a free run
 * of the same order (they would have been joined). The record of a page lies beside the region,
 * never in it: a free run is not touched. Not locked: the caller must lock.
 * Knuth, The Art of Computer Programming, volume 1, section 2.5; Linux: mm/page_alloc.c.
 */
#ifndef ABD_BUDDY_H
#define ABD_BUDDY_H

#include "abd_base.h"

#define ABD_BUDDY_ORDERS 16
#define ABD_BUDDY_NONE UINT16_MAX

struct abd_buddy_page {
	uint16_t next, prev; /* free runs of the same order */
	uint8_t state;       /* whether a run begins here: see abd_buddy.c */
};

struct abd_buddy {
	struct abd_buddy_page *pages; /* one record per page */
	uint32_t page_count;
	unsigned order_max;
	uint32_t free_first[ABD_BUDDY_ORDERS];
	size_t free_runs[ABD_BUDDY_ORDERS]; /* how many free runs of each order there are */
	uint32_t free_orders;               /* bit n: there are free runs of order n */
};

/**
 * Start with all pages free. pages has room for page_count records; order_max < ABD_BUDDY_ORDERS.
 */
void abd_buddy_init(struct abd_buddy *buddy, struct abd_buddy_page *pages, uint32_t page_count,
	unsigned order_max);

/**
 * Take a free run of the lowest order that fits, split to order. Returns its first page, or
 * ABD_BUDDY_NONE when no run of this order or above is free.
 */
uint32_t abd_buddy_alloc(struct abd_buddy *buddy, unsigned order);

/**
 * Keep the first page_count pages of a taken run, as runs of falling orders: one for each bit of
 * page_count. Free the rest. 0 < page_count <= 1 << order.
 */
void abd_buddy_trim(struct abd_buddy *buddy, uint32_t page, unsigned order, uint32_t page_count);

/** Give back a run. False: no taken run of this order begins at page; nothing has changed. */
bool abd_buddy_free(struct abd_buddy *buddy, uint32_t page, unsigned order);

#endif
