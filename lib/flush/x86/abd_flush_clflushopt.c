/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clflushopt: write a line back and drop it from all caches; flushes of several lines overlap.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <immintrin.h>

static bool clflushopt_supported(void)
{
	return abd_cpu_has(ABD_CPU_CLFLUSHOPT);
}

static void clflushopt_flush(void *line, size_t count)
{
	for (char *at = line; count > 0; count--, at += ABD_LINE_SIZE)
		_mm_clflushopt(at);
}

const struct abd_flush_kernel abd_flush_clflushopt = {
	.name = "clflushopt",
	.supported = clflushopt_supported,
	.flush = clflushopt_flush,
	.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
	.fence = abd_flush_fence,
};
