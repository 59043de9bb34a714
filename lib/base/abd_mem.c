/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory from jemalloc's arena or the C library, and the source behind the size classes.
 */
#include "abd_mem.h"
#include "abd_jemalloc.h"

#include <assert.h>
#include <stdlib.h>

static_assert(ABD_MEM_CLASSES == 16 + 4 * (18 - 10), "16 small classes, then 4 to each doubling of 1 KiB to 256 KiB");

bool (*_Atomic abd_mem_fault)(void);

void *abd_mem_alloc(size_t size, size_t alignment)
{
	if (abd_mem_refused() || size > PTRDIFF_MAX - alignment)
		return NULL;
	if (abd_jemalloc_present())
		return abd_jemalloc_alloc(ABD_JEMALLOC_SMALL, size, alignment);
	return aligned_alloc(alignment, abd_round_up(size, alignment));
}

void abd_mem_free(void *block, size_t size, size_t alignment)
{
	if (abd_jemalloc_present())
		abd_jemalloc_free(ABD_JEMALLOC_SMALL, block, size, alignment);
	else
		free(block);
}

static size_t abd_mem_alignment(size_t size)
{
	return size < 4096 ? 64 : 4096;
}

static void *abd_mem_source_alloc(size_t size, unsigned tag)
{
	(void)tag;
	return abd_mem_alloc(size, abd_mem_alignment(size));
}

static void abd_mem_source_free(void *block, size_t size, unsigned tag)
{
	(void)tag;
	abd_mem_free(block, size, abd_mem_alignment(size));
}

const struct abd_source abd_mem_source = {abd_mem_source_alloc, abd_mem_source_free};
