/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies for all decoders of x86-64: 16-byte vectors, even on CPUs that have wider ones.
 *
 * Neither side of a copy is aligned, so every 64-byte vector crosses a line, half of the 32-byte
 * ones do, and a quarter of the 16-byte ones. Compared with 64-byte literals and 32-byte matches
 * (abd-perf run codec, one Xeon with AVX-512, hot): rows of ratio 1.3 and rows of ratio 8 are 1.03
 * times as fast, fio's records 1.13 to 1.16 times, real files level.
 */
#ifndef ABD_LZ4_DECODE_X86_H
#define ABD_LZ4_DECODE_X86_H

#include <emmintrin.h>
#include <stdint.h>

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

#endif
