/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds for checkers: each block of the size classes is one of the C library's, which memory
 * checkers can watch.
 */
#include "abd_mem_cache.h"

struct abd_region_heap *const abd_mem_cache_heap = NULL;

static size_t abd_mem_cache_alignment(size_t size)
{
	return size < 4096 ? 64 : 4096;
}

static size_t abd_mem_cache_source_alloc(void **blocks, size_t count, size_t size, unsigned tag)
{
	size_t had = 0;

	(void)tag;
	while (had < count &&
		(blocks[had] = abd_mem_alloc(size, abd_mem_cache_alignment(size))) != NULL)
		had++;
	return had;
}

static void abd_mem_cache_source_free(void **blocks, size_t count, size_t size, unsigned tag)
{
	(void)tag;
	for (size_t i = 0; i < count; i++)
		abd_mem_free(blocks[i], size, abd_mem_cache_alignment(size));
}

const struct abd_source abd_mem_cache_source = {
	abd_mem_cache_source_alloc, abd_mem_cache_source_free};

void *abd_mem_cache_alloc_large(size_t size)
{
	return abd_mem_alloc(size, 4096);
}

void abd_mem_cache_free_large(void *block, size_t size)
{
	abd_mem_free(block, size, 4096);
}
