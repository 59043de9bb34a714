/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Size classes: multiples of 64 bytes to 1 KiB, then four to each doubling up to 256 KiB, so that at most a fifth of a block is
 * unused (jemalloc's spacing). Larger blocks are not kept.
 */
#include "abd_mem.h"
#include "abd_jemalloc.h"
#include "abd_magazine.h"

#include <assert.h>
#include <stdlib.h>

#define ABD_MEM_SMALL_MAX ((size_t)1024)
#define ABD_MEM_CLASS_MAX ((size_t)256 << 10)

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

static const struct abd_source abd_mem_source = {abd_mem_source_alloc, abd_mem_source_free};

/* The class of 0 < size <= ABD_MEM_CLASS_MAX; *size becomes the class's. */
static inline unsigned abd_mem_class(size_t *size)
{
	if (*size <= ABD_MEM_SMALL_MAX) {
		unsigned class = (unsigned)((*size - 1) / 64);

		*size = (class + 1) * (size_t)64;
		return class;
	}

	unsigned doubling = abd_log2(*size - 1);      /* 1025 to 2048: 10 */
	size_t step = (size_t)1 << (doubling - 2);    /* a quarter of it */
	size_t quarter = (*size - 1) / step - 4;      /* 0 to 3 */

	*size = (quarter + 5) * step;
	return 16 + 4 * (doubling - 10) + (unsigned)quarter;
}

void *abd_mem_cache_alloc(size_t size)
{
	if (ABD_UNLIKELY(size > ABD_MEM_CLASS_MAX))
		return abd_mem_alloc(size, 4096);

	unsigned class = abd_mem_class(&size);

	return abd_magazine_get(class, &abd_mem_source, size, 0);
}

void abd_mem_cache_free(void *block, size_t size)
{
	if (ABD_UNLIKELY(size > ABD_MEM_CLASS_MAX)) {
		abd_mem_free(block, size, 4096);
		return;
	}

	unsigned class = abd_mem_class(&size);

	abd_magazine_put(class, &abd_mem_source, block, size, 0);
}
