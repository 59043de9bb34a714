/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 with vectors of 64 bytes.
 */
#include "abd_cpu.h"
#include "abd_fletcher_fold.h"

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m512i vec;
#define VEC_SIZE 64

static inline vec vec_load(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline vec vec_add(vec x, vec y)
{
	return _mm512_add_epi64(x, y);
}

static inline vec vec_even(vec v)
{
	return _mm512_and_si512(v, _mm512_set1_epi64(0xffffffff));
}

static inline vec vec_odd(vec v)
{
	return _mm512_srli_epi64(v, 32);
}

/* Each word's bytes in the other order. */
static inline vec vec_swap(vec v)
{
	const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);

	return _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(order));
}

/* The even words' lanes before the odd words': word 0 with 8, 1 with 9, and so on. */
#define LOW(i) (lane) _mm512_shuffle_i64x2(sums[i], sums[4 + (i)], 0x44)
#define HIGH(i) (lane) _mm512_shuffle_i64x2(sums[i], sums[4 + (i)], 0xee)
#define QUAD(i, order) \
	(abd_fletcher_quad) _mm512_castsi512_si256(_mm512_shuffle_i64x2((vec)(i), (vec)(i), order))
#define FIRST(i) QUAD(low[i], 0x08)
#define SECOND(i) QUAD(low[i], 0x0d)

static inline void quads(abd_fletcher_quad first[4], abd_fletcher_quad second[4], const vec sums[8])
{
	typedef uint64_t lane __attribute__((vector_size(VEC_SIZE)));
	lane low[4] = EACH(LOW), high[4] = EACH(HIGH);

	FOLD(low, high);
	memcpy(first, (const abd_fletcher_quad[4])EACH(FIRST), 4 * sizeof(*first));
	memcpy(second, (const abd_fletcher_quad[4])EACH(SECOND), 4 * sizeof(*second));
}

#include "abd_fletcher_vector.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX512BW);
}

const struct abd_fletcher_kernel abd_fletcher_avx512 = {
	.name = "avx512",
	.supported = supported,
	.step = VEC_SIZE,
	.whole = whole,
	.begin = begin,
	.native = native,
	.byteswap = byteswap,
	.join = join,
};
