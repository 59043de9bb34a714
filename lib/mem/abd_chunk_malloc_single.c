/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds for checkers: each run is a block of the C library's own, which memory checkers can watch.
 */
#include "abd_chunk_provider.h"

#include <stdlib.h>

static void *abd_chunk_malloc_alloc(unsigned order)
{
	return aligned_alloc(ABD_CHUNK_SIZE, ABD_CHUNK_SIZE << order);
}

static void abd_chunk_malloc_free(void *run, unsigned order)
{
	ABD_KEEP_ERRNO;

	(void)order;
	free(run);
}

const struct abd_chunk_provider abd_chunk_malloc = {
	.name = "malloc",
	.alloc = abd_chunk_malloc_alloc,
	.free = abd_chunk_malloc_free,
};
