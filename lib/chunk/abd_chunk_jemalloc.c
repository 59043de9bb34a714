/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from regions that come from a jemalloc arena of our own, for programs whose memory is
 * watched by jemalloc's statistics. It was the default once. Mapped regions (the default now) lie
 * better: jemalloc adds a page to each block, so the next block can't begin where a huge page does.
 * Mapped regions also give their addresses back.
 */
#include "abd_jemalloc.h"
#include "abd_region.h"

static void *abd_chunk_jemalloc_map(size_t *size)
{
	return abd_jemalloc_alloc(ABD_JEMALLOC_RUNS, *size, ABD_REGION_SIZE);
}

static void abd_chunk_jemalloc_unmap(void *base, size_t size)
{
	abd_jemalloc_free(ABD_JEMALLOC_RUNS, base, size, ABD_REGION_SIZE);
}

/* The arena gives huge-page advice for its address space; see abd_jemalloc.c. */
static struct abd_region_heap abd_chunk_jemalloc_heap =
	ABD_REGION_HEAP(abd_chunk_jemalloc_map, abd_chunk_jemalloc_unmap, true);

static void *abd_chunk_jemalloc_alloc(unsigned order)
{
	return abd_region_alloc(&abd_chunk_jemalloc_heap, order);
}

static void abd_chunk_jemalloc_free(void *run, unsigned order)
{
	abd_region_free(&abd_chunk_jemalloc_heap, run, order);
}

static void abd_chunk_jemalloc_reap(void)
{
	abd_region_reap(&abd_chunk_jemalloc_heap);
	abd_jemalloc_purge();
}

const struct abd_chunk_provider abd_chunk_jemalloc = {
	.name = "jemalloc",
	.supported = abd_jemalloc_present,
	.alloc = abd_chunk_jemalloc_alloc,
	.free = abd_chunk_jemalloc_free,
	.reap = abd_chunk_jemalloc_reap,
	.heap = &abd_chunk_jemalloc_heap,
};
