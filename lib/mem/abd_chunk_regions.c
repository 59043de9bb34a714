/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from regions that are mapped for this purpose. The default.
 */
#include "abd_mem.h"
#include "abd_region.h"

#include <sys/mman.h>

static void *abd_chunk_regions_map(size_t *size)
{
	return abd_region_map(*size, ABD_REGION_SIZE, MADV_HUGEPAGE);
}

static struct abd_region_heap abd_chunk_regions_heap =
	ABD_REGION_HEAP(abd_chunk_regions_map, abd_region_unmap, true);

const struct abd_chunk_provider abd_chunk_regions = {
	.name = "regions",
	.heap = &abd_chunk_regions_heap,
};
