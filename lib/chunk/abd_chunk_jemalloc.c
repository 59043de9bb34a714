/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs from a jemalloc arena of our own, on huge pages where the system gives them. The default.
 */
#include "abd_chunk.h"
#include "abd_jemalloc.h"

static void *abd_chunk_jemalloc_alloc(unsigned order)
{
	return abd_jemalloc_alloc(ABD_JEMALLOC_RUNS, ABD_CHUNK_SIZE << order, ABD_CHUNK_SIZE);
}

static void abd_chunk_jemalloc_free(void *run, unsigned order)
{
	abd_jemalloc_free(ABD_JEMALLOC_RUNS, run, ABD_CHUNK_SIZE << order, ABD_CHUNK_SIZE);
}

const struct abd_chunk_provider abd_chunk_jemalloc = {
	.name = "jemalloc",
	.supported = abd_jemalloc_present,
	.alloc = abd_chunk_jemalloc_alloc,
	.free = abd_chunk_jemalloc_free,
	.reap = abd_jemalloc_purge,
};
