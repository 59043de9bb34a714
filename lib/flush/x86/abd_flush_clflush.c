/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clflush: write a line back and drop it, one line after another. For CPUs that have nothing newer.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <immintrin.h>

static bool clflush_supported(void)
{
	return abd_cpu_has(ABD_CPU_CLFLUSH);
}

static void clflush_flush(void *line, size_t count)
{
	for (char *at = line; count > 0; count--, at += ABD_LINE_SIZE)
		_mm_clflush(at);
}

const struct abd_flush_kernel abd_flush_clflush = {
	.name = "clflush",
	.supported = clflush_supported,
	.flush = clflush_flush,
	.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
	.fence = abd_flush_fence,
};
