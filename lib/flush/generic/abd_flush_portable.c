/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every machine can do: copy through the cache, and order. No line leaves the cache by this,
 * which the durability of the line record says.
 */
#include "abd_flush_portable.h"

#include <stdatomic.h>
#include <string.h>

static bool portable_supported(void)
{
	return true;
}

static void portable_lines(void *dst, const void *src, size_t count)
{
	memmove(dst, src, count * ABD_LINE_SIZE);
}

static void portable_flush(const void *line, size_t count)
{
	(void)line, (void)count;
}

static void portable_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

const struct abd_flush_copy abd_flush_portable_copy = {
	.name = "cached",
	.supported = portable_supported,
	.cached = true,
	.lines = portable_lines,
};

const struct abd_flush_line abd_flush_portable_line = {
	.name = "none",
	.supported = portable_supported,
	.durability = ABD_FLUSH_DURABILITY_NONE,
	.flush = portable_flush,
};

const struct abd_flush_fence abd_flush_portable_fence = {
	.name = "atomic",
	.fence = portable_fence,
};
