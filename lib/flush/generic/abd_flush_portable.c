/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every machine can do: copy through the cache, and order the stores. It writes no line back,
 * as the kernel's durability says.
 */
#include "abd_flush_kernel.h"

static void abd_flush_portable_flush(void *line, size_t count)
{
	(void)line;
	(void)count;
}

const struct abd_flush_kernel abd_flush_portable = {
	.name = "portable",
	.supported = abd_cpu_runs_any,
	.flush = abd_flush_portable_flush,
	.durability = ABD_FLUSH_DURABILITY_NONE,
	.fence = abd_flush_fence,
};
