/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where blocks of the size classes come from: below a page from slabs, from there on as runs of
 * whole pages. All lies in regions of its own: structs live long, and would keep regions of runs
 * from becoming empty. Huge pages are not asked for, so a program with a few buffers takes a few
 * pages.
 */
#include "abd_mem_cache.h"
#include "abd_region.h"
#include "abd_slab.h"

#include <assert.h>
#include <sys/mman.h>

static_assert(ABD_MEM_CACHE_CLASSES == 16 + 4 * (18 - 10),
	"16 small classes, then 4 to each doubling of 1 KiB to 256 KiB");

static void *abd_mem_cache_map(size_t *size)
{
	return abd_region_map(*size, ABD_REGION_SIZE, MADV_NOHUGEPAGE);
}

static struct abd_region_heap abd_mem_cache_regions =
	ABD_REGION_HEAP(abd_mem_cache_map, abd_region_unmap, false);
struct abd_region_heap *const abd_mem_cache_heap = &abd_mem_cache_regions;

/* By class: those below a page. */
static struct abd_slab *abd_mem_cache_slabs[ABD_MEM_CACHE_CLASSES];

/* The tag is the class. */
static size_t abd_mem_cache_try(void **blocks, size_t count, size_t size, unsigned tag)
{
	if (abd_mem_refused())
		return 0;
	if (size < ABD_CHUNK_SIZE)
		return abd_slab_alloc(
			&abd_mem_cache_slabs[tag], &abd_mem_cache_regions, size, blocks, count);
	return abd_region_alloc_many(
		&abd_mem_cache_regions, blocks, count, size >> ABD_CHUNK_SHIFT);
}

/* What is refused may be in reserve, in blocks of other sizes or with other threads. */
static size_t abd_mem_cache_source_alloc(void **blocks, size_t count, size_t size, unsigned tag)
{
	size_t had;

	do
		had = abd_mem_cache_try(blocks, count, size, tag);
	while (ABD_UNLIKELY(had == 0) && abd_magazine_relieve(&abd_mem_cache_source, 0));
	return had;
}

static void abd_mem_cache_source_free(void **blocks, size_t count, size_t size, unsigned tag)
{
	if (size < ABD_CHUNK_SIZE)
		abd_slab_free(
			&abd_mem_cache_slabs[tag], &abd_mem_cache_regions, size, blocks, count);
	else
		abd_region_free_many(
			&abd_mem_cache_regions, blocks, count, size >> ABD_CHUNK_SHIFT);
}

const struct abd_source abd_mem_cache_source = {
	abd_mem_cache_source_alloc, abd_mem_cache_source_free};

/* Up to a region: whole pages of one. Above, the C library's, which maps them one by one. */
void *abd_mem_cache_alloc_large(size_t size)
{
	void *block = NULL;

	if (size > ABD_REGION_SIZE)
		return abd_mem_alloc(size, ABD_CHUNK_SIZE);
	abd_magazine_tunables.start(); /* so that regions age */
	size = abd_round_up(size, ABD_CHUNK_SIZE);
	abd_mem_cache_source_alloc(&block, 1, size, 0);
	return block;
}

void abd_mem_cache_free_large(void *block, size_t size)
{
	if (size > ABD_REGION_SIZE)
		abd_mem_free(block, size, ABD_CHUNK_SIZE);
	else
		abd_mem_cache_source_free(&block, 1, abd_round_up(size, ABD_CHUNK_SIZE), 0);
}
