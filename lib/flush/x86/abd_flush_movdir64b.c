/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * movdir64b: a direct store, memory to memory, of 64 bytes that arrive as one write, for CPUs that
 * have it (Tremont, Tiger Lake and Sapphire Rapids first). The source's review expects it to change
 * the picture; so it is a kernel of its own.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <immintrin.h>

static bool movdir64b_supported(void)
{
	return abd_cpu_has(ABD_CPU_MOVDIR64B);
}

static void movdir64b_lines(void *dst, const void *src, size_t count)
{
	const uint8_t *from = src;
	uint8_t *to = dst;

	for (; count > 0; count--) {
		_movdir64b(to, from);
		from += ABD_LINE_SIZE;
		to += ABD_LINE_SIZE;
	}
}

const struct abd_flush_kernel abd_flush_movdir64b = {
	.name = "movdir64b",
	.supported = movdir64b_supported,
	.lines = movdir64b_lines,
	.fence = abd_flush_fence,
};
