/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages are runs from lib/chunk, which places them on huge pages. Otherwise TLB misses would
 * dominate a look-up among 1e6 entries. Each page has a header and a list of free items. The
 * address of an item, rounded down to a page, is its page.
 * An empty page is given back unless it is the only page with a free item. So a cache at its limit
 * does not free and allocate pages in turn.
 */
#include "abd_arc_slab.h"
#include "abd_chunk.h"

#include <assert.h>

struct abd_arc_page {
	struct abd_arc_page *next, *prev; /* in the list of partial pages */
	/* free items, each of which holds the address of the next */
	void *free;
	unsigned used;
	unsigned provider; /* of its run */
};

/* A cache line, so that an item of n cache lines touches only n of them. */
#define ABD_ARC_PAGE_HEADER 64

static_assert(sizeof(struct abd_arc_page) <= ABD_ARC_PAGE_HEADER, "items begin behind the header");

static_assert(ABD_ARC_SLAB_PAGE == ABD_CHUNK_SIZE, "a page is a run of order 0");

static unsigned abd_arc_slab_per_page(size_t item_size)
{
	return (unsigned)((ABD_ARC_SLAB_PAGE - ABD_ARC_PAGE_HEADER) / item_size);
}

size_t abd_arc_slab_cost(size_t item_size)
{
	unsigned per_page = abd_arc_slab_per_page(item_size);

	return (ABD_ARC_SLAB_PAGE + per_page - 1) / per_page;
}

void abd_arc_slab_init(struct abd_arc_slab *slab, size_t item_size)
{
	assert(item_size % 8 == 0 && item_size >= sizeof(void *));
	slab->item_size = item_size;
	slab->per_page = abd_arc_slab_per_page(item_size);
	slab->pages = 0;
	slab->partial = NULL;
}

static void abd_arc_slab_link(struct abd_arc_slab *slab, struct abd_arc_page *page)
{
	page->prev = NULL;
	page->next = slab->partial;
	if (page->next != NULL)
		page->next->prev = page;
	slab->partial = page;
}

static void abd_arc_slab_unlink(struct abd_arc_slab *slab, struct abd_arc_page *page)
{
	if (page->prev != NULL)
		page->prev->next = page->next;
	else
		slab->partial = page->next;
	if (page->next != NULL)
		page->next->prev = page->prev;
}

static bool abd_arc_slab_grow(struct abd_arc_slab *slab)
{
	unsigned provider = abd_chunk_provider_now();
	struct abd_arc_page *page = abd_chunk_alloc_direct(provider, 0);

	if (page == NULL)
		return false;
	page->provider = provider;
	page->used = 0;
	page->free = NULL;
	for (unsigned i = slab->per_page; i-- > 0;) {
		void **item =
			(void **)(void *)((char *)page + ABD_ARC_PAGE_HEADER + i * slab->item_size);

		*item = page->free;
		page->free = item;
	}
	abd_arc_slab_link(slab, page);
	slab->pages++;
	return true;
}

void *abd_arc_slab_alloc(struct abd_arc_slab *slab)
{
	if (slab->partial == NULL && !abd_arc_slab_grow(slab))
		return NULL;

	struct abd_arc_page *page = slab->partial;
	void **item = page->free;

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a listed page has a free item */
	page->free = *item;
	page->used++;
	if (page->free == NULL)
		abd_arc_slab_unlink(slab, page);
	return item;
}

static void abd_arc_slab_shrink(struct abd_arc_slab *slab, struct abd_arc_page *page)
{
	assert(page->used == 0);
	abd_arc_slab_unlink(slab, page);
	abd_chunk_free_direct(page->provider, page, 0);
	slab->pages--;
}

void abd_arc_slab_free(struct abd_arc_slab *slab, void *item)
{
	struct abd_arc_page *page =
		(struct abd_arc_page *)((uintptr_t)item & ~(ABD_ARC_SLAB_PAGE - 1));

	if (page->free == NULL)
		abd_arc_slab_link(slab, page);
	*(void **)item = page->free;
	page->free = item;
	if (--page->used > 0 || (page->next == NULL && page->prev == NULL))
		return;
	abd_arc_slab_shrink(slab, page);
}

void abd_arc_slab_fini(struct abd_arc_slab *slab)
{
	if (slab->partial != NULL)
		abd_arc_slab_shrink(slab, slab->partial);
	assert(slab->pages == 0);
}
