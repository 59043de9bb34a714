/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by the CPU's own instruction, eight bytes a step.
 */
#include "abd_crc32c.h"

#include "abd_cpu.h"

#include <nmmintrin.h>
#include <string.h>

static uint32_t abd_crc32c_sse42_add(uint32_t state, const void *span, size_t size)
{
	const uint8_t *p = span;
	uint64_t crc = state;

	for (; size >= 8; size -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		crc = _mm_crc32_u64(crc, word);
	}
	for (; size > 0; size--)
		crc = _mm_crc32_u8((uint32_t)crc, *p++);
	return (uint32_t)crc;
}

static bool abd_crc32c_sse42_supported(void)
{
	return abd_cpu_has(ABD_CPU_SSE42);
}

const struct abd_crc32c_kernel abd_crc32c_sse42 = {
	.name = "sse42",
	.supported = abd_crc32c_sse42_supported,
	.add = abd_crc32c_sse42_add,
};
