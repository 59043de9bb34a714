/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dc cvac: clean a line to the point of coherency, where devices see it. Every aarch64 has it. It
 * does not promise that the line then survives a power failure.
 */
#include "abd_flush_arm64.h"

static bool cvac_supported(void)
{
	return true;
}

static void cvac_flush(void *line, size_t count)
{
	size_t step = abd_flush_arm64_step();
	uintptr_t at = (uintptr_t)line;

	for (uintptr_t end = at + count * ABD_LINE_SIZE; at < end; at += step)
		__asm__ volatile("dc cvac, %0" : : "r"(at) : "memory");
}

const struct abd_flush_kernel abd_flush_cvac = {
	.name = "cvac",
	.supported = cvac_supported,
	.flush = cvac_flush,
	.durability = ABD_FLUSH_DURABILITY_COHERENCY,
	.fence = abd_flush_fence,
};
