/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The source of blocks for the size classes.
 */
#include "abd_mem_cache.h"

#include <assert.h>

static_assert(ABD_MEM_CACHE_CLASSES == 16 + 4 * (18 - 10),
	"16 small classes, then 4 to each doubling of 1 KiB to 256 KiB");

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
