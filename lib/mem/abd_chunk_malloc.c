/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from regions that come from the C library's malloc, or from what the host has put in its
 * place. A block for each run would cost one page more: malloc keeps a header in front of a block,
 * and the block must start at a page.
 */
#include "abd_region.h"

#include <stdlib.h>
#include <sys/mman.h>

static void *abd_chunk_malloc_map(size_t *size)
{
	return aligned_alloc(ABD_REGION_SIZE, *size);
}

/* Not every malloc gives memory back to the system, so give the pages back first. */
static bool abd_chunk_malloc_unmap(void *base, size_t size)
{
	abd_region_forget(base, size);
	free(base);
	return true;
}

static struct abd_region_heap abd_chunk_malloc_heap =
	ABD_REGION_HEAP(abd_chunk_malloc_map, abd_chunk_malloc_unmap, false);

const struct abd_chunk_provider abd_chunk_malloc = {
	.name = "malloc",
	.heap = &abd_chunk_malloc_heap,
};
