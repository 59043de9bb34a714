/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Non-temporal stores of 64 bytes: a line at once, which can't be half filled.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <immintrin.h>

typedef __m512i vec;
#define VEC_SIZE 64

static inline vec vec_load(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline void vec_stream(uint8_t *p, vec x)
{
	_mm512_stream_si512((__m512i *)p, x);
}

#include "abd_flush_stream.h"

static bool avx512_supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX512BW);
}

const struct abd_flush_kernel abd_flush_avx512 = {
	.name = "nt-avx512",
	.supported = avx512_supported,
	.lines = stream_lines,
	.fence = abd_flush_fence,
};
