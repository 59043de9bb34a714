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

/* The intrinsic's parameter is not const, but nothing is changed through it. */
static void clwb_flush(const void *line, size_t count)
{
	for (uintptr_t at = (uintptr_t)line; count > 0; count--, at += ABD_LINE_SIZE)
		_mm_clwb((void *)at);
}

const struct abd_flush_kernel abd_flush_clwb = {
	.name = "clwb",
	.supported = clwb_supported,
	.flush = clwb_flush,
	.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
	.fence = abd_flush_fence,
};
