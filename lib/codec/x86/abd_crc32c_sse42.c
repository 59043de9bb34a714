/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by the CPU's own instruction.
 */
#include "abd_crc32c.h"
#include "abd_crc32c_words.h"

#include "abd_cpu.h"

static uint32_t add(uint32_t state, const void *span, size_t size)
{
	return abd_crc32c_words(state, span, size);
}

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_SSE42);
}

const struct abd_crc32c_kernel abd_crc32c_sse42 = {
	.name = "sse42",
	.supported = supported,
	.add = add,
};
