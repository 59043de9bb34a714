/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A build without jemalloc (ABD_WITH_JEMALLOC=OFF): checkers see every block, and the build needs
 * no jemalloc.
 */
#include "abd_jemalloc.h"

bool abd_jemalloc_present(void)
{
	return false;
}

void *abd_jemalloc_alloc(enum abd_jemalloc_arena arena, size_t size, size_t alignment)
{
	(void)arena, (void)size, (void)alignment;
	return NULL;
}

void abd_jemalloc_free(enum abd_jemalloc_arena arena, void *block, size_t size, size_t alignment)
{
	(void)arena, (void)block, (void)size, (void)alignment;
}

void abd_jemalloc_purge(void)
{
}

void abd_jemalloc_decay(void)
{
}
