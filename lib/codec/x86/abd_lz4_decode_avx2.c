/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoders that write matches at offsets below 16 by byte shuffle, 32 or 64 bytes at a time.
 * Invariant: as in abd_lz4_decode_quick.h. A shuffle's source may hold bytes not yet decoded; none
 * of them is selected.
 */
#include "abd_lz4_decode_shuffle.h"

#include <immintrin.h>
#include <stddef.h>
#include <string.h>

static inline __m128i before(const uint8_t *dst, size_t offset)
{
	return _mm_loadu_si128((const __m128i_u *)(dst - offset));
}

static inline void fill_short(uint8_t *dst, size_t offset)
{
	__m128i which = _mm_load_si128((const __m128i *)abd_lz4_repeat[offset]);

	_mm_storeu_si128((__m128i_u *)dst, _mm_shuffle_epi8(before(dst, offset), which));
	memcpy(dst + 16, dst + 16 - abd_lz4_period[offset], 2);
}

static inline void fill(uint8_t *dst, size_t offset, size_t size)
{
	const uint8_t *end = dst + size;
#ifdef ABD_FOR_AVX512
	const __m512i which = _mm512_load_si512(abd_lz4_repeat[offset]);
	const __m512i bytes =
		_mm512_shuffle_epi8(_mm512_broadcast_i32x4(before(dst, offset)), which);
	const size_t stride = abd_lz4_stride_64[offset];
#else
	const __m256i which = _mm256_load_si256((const __m256i *)abd_lz4_repeat[offset]);
	const __m256i bytes =
		_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(before(dst, offset)), which);
	const size_t stride = abd_lz4_stride_32[offset];
#endif

	do {
		memcpy(dst, &bytes, sizeof(bytes));
		dst += stride;
	} while (dst < end);
}

#include "abd_lz4_decode_quick.h"

#ifdef ABD_FOR_AVX512
ABD_LZ4_DECODER(avx512, abd_cpu_runs_avx512);
#else
ABD_LZ4_DECODER(avx2, abd_cpu_runs_avx2);
#endif
