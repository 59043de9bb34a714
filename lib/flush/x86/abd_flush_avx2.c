/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Non-temporal stores of 32 bytes: two to a line.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <immintrin.h>

typedef __m256i vec;
#define VEC_SIZE 32

static inline vec vec_load(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i_u *)p);
}

static inline void vec_stream(uint8_t *p, vec x)
{
	_mm256_stream_si256((__m256i *)p, x);
}

#include "abd_flush_stream.h"

static bool avx2_supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX2);
}

const struct abd_flush_kernel abd_flush_avx2 = {
	.name = "nt-avx2",
	.supported = avx2_supported,
	.lines = stream_lines,
	.fence = abd_flush_fence,
};
