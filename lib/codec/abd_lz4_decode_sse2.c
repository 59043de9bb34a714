/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder with 16-byte vectors, which every x86-64 has.
 * Invariant: as in abd_lz4_decode_quick.h.
 */
#include "abd_cpu.h"
#include "abd_base.h"
#include "abd_lz4_decode_words.h"

#include <emmintrin.h>

#define WIDE 64

static inline void copy_16(uint8_t *dst, const uint8_t *src)
{
	_mm_storeu_si128((__m128i_u *)dst, _mm_loadu_si128((const __m128i_u *)src));
}

static inline void copy_32(uint8_t *dst, const uint8_t *src)
{
	copy_16(dst, src);
	copy_16(dst + 16, src + 16);
}

static inline void copy_wide(uint8_t *dst, const uint8_t *src)
{
	copy_32(dst, src);
	copy_32(dst + 32, src + 32);
}

#include "abd_lz4_decode_quick.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_SSE2);
}

ABD_LZ4_DECODER(sse2, supported);
