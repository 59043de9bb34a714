/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 with vectors of 32 bytes.
 */
#include "abd_cpu.h"
#include "abd_fletcher_fold.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

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

/* The even words' lanes before the odd words': word 0 with 4, 1 with 5, and so on. */
#define FIRST(i) (abd_fletcher_quad) _mm256_permute2x128_si256(sums[i], sums[4 + (i)], 0x20)
#define SECOND(i) (abd_fletcher_quad) _mm256_permute2x128_si256(sums[i], sums[4 + (i)], 0x31)

static inline void quads(abd_fletcher_quad first[4], abd_fletcher_quad second[4], const vec sums[8])
{
	memcpy(first, (const abd_fletcher_quad[4])EACH(FIRST), 4 * sizeof(*first));
	memcpy(second, (const abd_fletcher_quad[4])EACH(SECOND), 4 * sizeof(*second));
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
	.whole = whole,
	.begin = begin,
	.native = native,
	.byteswap = byteswap,
	.join = join,
};
