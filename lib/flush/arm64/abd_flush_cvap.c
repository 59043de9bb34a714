/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dc cvap: clean a line to the point of persistence (Armv8.2 DPB). Written as sys, which older
 * assemblers know too.
 */
#include "abd_flush_arm64.h"

#include <asm/hwcap.h>
#include <sys/auxv.h>

static bool cvap_supported(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_DCPOP) != 0;
}

static void cvap_flush(void *line, size_t count)
{
	size_t step = abd_flush_arm64_step();
	uintptr_t at = (uintptr_t)line;

	for (uintptr_t end = at + count * ABD_LINE_SIZE; at < end; at += step)
		__asm__ volatile("sys #3, c7, c12, #1, %0" : : "r"(at) : "memory");
}

const struct abd_flush_kernel abd_flush_cvap = {
	.name = "cvap",
	.supported = cvap_supported,
	.flush = cvap_flush,
	.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,
	.fence = abd_flush_fence,
};
