/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A build without jemalloc (ABD_WITH_JEMALLOC=OFF): the provider of that name is never chosen.
 */
#include "abd_chunk_provider.h"

static bool abd_chunk_jemalloc_supported(void)
{
	return false;
}

const struct abd_chunk_provider abd_chunk_jemalloc = {
	.name = "jemalloc",
	.supported = abd_chunk_jemalloc_supported,
};
