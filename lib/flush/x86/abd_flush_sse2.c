/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Non-temporal stores of 16 bytes: four to a line, on every x86-64 there is.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <immintrin.h>

typedef __m128i vec;
#define VEC_SIZE 16

static inline vec vec_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i_u *)p);
}

static inline void vec_stream(uint8_t *p, vec x)
{
	_mm_stream_si128((__m128i *)p, x);
}

#include "abd_flush_stream.h"

static bool sse2_supported(void)
{
	return abd_cpu_has(ABD_CPU_SSE2);
}

const struct abd_flush_kernel abd_flush_sse2 = {
	.name = "nt-sse2",
	.supported = sse2_supported,
	.lines = stream_lines,
	.fence = abd_flush_fence,
};
