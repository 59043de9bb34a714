/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 with vectors of 32 bytes.
 */
#include "abd_cpu.h"

#include <immintrin.h>
#include <stdint.h>

typedef __m256i vec;
#define VEC_SIZE 32

static inline vec vec_load(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i_u *)p);
}

static inline vec vec_add(vec x, vec y)
{
	return _mm256_add_epi64(x, y);
}

static inline vec vec_even(vec v)
{
	return _mm256_and_si256(v, _mm256_set1_epi64x(0xffffffff));
}

static inline vec vec_odd(vec v)
{
	return _mm256_srli_epi64(v, 32);
}

/* Each word's bytes in the other order. */
static inline vec vec_swap(vec v)
{
	const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);

	return _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(order));
}

#include "abd_fletcher_vector.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX2);
}

const struct abd_fletcher_kernel abd_fletcher_avx2 = {
	.name = "avx2",
	.supported = supported,
	.step = VEC_SIZE,
	.native = native,
	.byteswap = byteswap,
	.join = join,
};
