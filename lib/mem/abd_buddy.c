/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splitting and joining. A page's state is 0 if no run begins there, else its run's order + 1, with
 * ABD_BUDDY_FREE set while the run is free.
 */
#include "abd_buddy.h"

#include <string.h>

#define ABD_BUDDY_FREE 0x80

static void abd_buddy_push(struct abd_buddy *buddy, uint32_t page, unsigned order)
{
	struct abd_buddy_page *record = &buddy->pages[page];
	uint32_t first = buddy->free_first[order];

	record->state = (uint8_t)(ABD_BUDDY_FREE | (order + 1));
	record->prev = ABD_BUDDY_NONE;
	record->next = (uint16_t)first;
	if (first != ABD_BUDDY_NONE)
		buddy->pages[first].prev = (uint16_t)page;
	buddy->free_first[order] = page;
	buddy->free_runs[order]++;
	buddy->free_orders |= 1u << order;
}

static void abd_buddy_remove(struct abd_buddy *buddy, uint32_t page, unsigned order)
{
	struct abd_buddy_page *record = &buddy->pages[page];

	if (record->prev != ABD_BUDDY_NONE)
		buddy->pages[record->prev].next = record->next;
	else
		buddy->free_first[order] = record->next;
	if (record->next != ABD_BUDDY_NONE)
		buddy->pages[record->next].prev = record->prev;
	record->state = 0;
	if (--buddy->free_runs[order] == 0)
		buddy->free_orders &= ~(1u << order);
}

void abd_buddy_init(struct abd_buddy *buddy, struct abd_buddy_page *pages, uint32_t page_count,
	unsigned order_max)
{
	memset(buddy, 0, sizeof(*buddy));
	memset(pages, 0, page_count * sizeof(*pages));
	buddy->pages = pages;
	buddy->page_count = page_count;
	buddy->order_max = order_max;
	for (unsigned order = 0; order < ABD_BUDDY_ORDERS; order++)
		buddy->free_first[order] = ABD_BUDDY_NONE;

	/*
	 * Free the largest runs that fit, at multiples of their size: first runs of order_max, then
	 * one run for each bit of the rest.
	 */
	for (uint32_t page = 0; page < page_count;) {
		unsigned order = abd_log2(page_count - page);

		if (order > order_max)
			order = order_max;
		abd_buddy_push(buddy, page, order);
		page += 1u << order;
	}
}

uint32_t abd_buddy_alloc(struct abd_buddy *buddy, unsigned order)
{
	uint32_t large_enough = buddy->free_orders >> order << order;

	if (large_enough == 0)
		return ABD_BUDDY_NONE;

	unsigned from = (unsigned)__builtin_ctz(large_enough);
	uint32_t page = buddy->free_first[from];

	abd_buddy_remove(buddy, page, from);
	while (from > order) {
		from--;
		abd_buddy_push(buddy, page + (1u << from), from);
	}
	buddy->pages[page].state = (uint8_t)(order + 1);
	return page;
}

void abd_buddy_trim(struct abd_buddy *buddy, uint32_t page, unsigned order, uint32_t page_count)
{
	uint32_t end = page + (1u << order), left = page_count;

	for (; left > 0; left -= 1u << order, page += 1u << order) {
		order = abd_log2(left);
		buddy->pages[page].state = (uint8_t)(order + 1);
	}
	/* The lowest bit of where the rest begins is the order of its first run, and so on. */
	for (; page < end; page += 1u << order) {
		order = (unsigned)__builtin_ctz(page);
		abd_buddy_push(buddy, page, order);
	}
}

bool abd_buddy_free(struct abd_buddy *buddy, uint32_t page, unsigned order)
{
	if (page >= buddy->page_count || buddy->pages[page].state != order + 1)
		return false;
	buddy->pages[page].state = 0;
	for (; order < buddy->order_max; order++) {
		uint32_t other = page ^ (1u << order);

		if (other >= buddy->page_count ||
			buddy->pages[other].state != (ABD_BUDDY_FREE | (order + 1)))
			break;
		abd_buddy_remove(buddy, other, order);
		page &= ~(1u << order);
	}
	abd_buddy_push(buddy, page, order);
	return true;
}
