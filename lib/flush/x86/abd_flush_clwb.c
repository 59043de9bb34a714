/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clwb: write a line back and, where the CPU can, keep it in the cache, clean.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <immintrin.h>

static bool clwb_supported(void)
{
	return abd_cpu_has(ABD_CPU_CLWB);
}

static void clwb_flush(void *line, size_t count)
{
	for (char *at = line; count > 0; count--, at += ABD_LINE_SIZE)
		_mm_clwb(at);
}

const struct abd_flush_kernel abd_flush_clwb = {
	.name = "clwb",
	.supported = clwb_supported,
	.flush = clwb_flush,
	.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
	.fence = abd_flush_fence,
};
