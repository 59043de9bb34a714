/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by carry-less multiplication of 64 bytes.
 */
#include "abd_cpu.h"

#include <immintrin.h>
#include <stdint.h>

typedef __m512i vec;
#define VEC_SIZE 64

static const uint64_t fold_vec[2] = {0x1c19243b00000000, 0x75bba45b00000000};
static const uint64_t fold_streams[2] = {0xe9a5d8be00000000, 0x1426a81500000000};

static inline vec vec_load(const void *p)
{
	return _mm512_loadu_si512(p);
}

static inline void vec_store(void *p, vec v)
{
	_mm512_storeu_si512(p, v);
}

static inline vec vec_add(vec x, vec y)
{
	return _mm512_xor_si512(x, y);
}

static inline vec vec_low(uint32_t x)
{
	return _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)x));
}

static inline vec vec_pairs(const uint64_t pair[2])
{
	return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)pair));
}

static inline vec vec_fold(vec x, vec pairs, vec onto)
{
	vec first = _mm512_clmulepi64_epi128(x, pairs, 0x00);
	vec second = _mm512_clmulepi64_epi128(x, pairs, 0x11);

	return _mm512_ternarylogic_epi64(first, second, onto, 0x96); /* the sum of all three */
}

#include "abd_crc32c_fold.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_VPCLMULQDQ);
}

const struct abd_crc32c_kernel abd_crc32c_vpclmul = {
	.name = "vpclmul",
	.supported = supported,
	.add = add,
};
