/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3 with vectors of 64 bytes.
 */
#include "abd_cpu.h"

#include <immintrin.h>
#include <string.h>

typedef uint64_t vec __attribute__((vector_size(64)));
#define VEC_SIZE 64

/* The products of the lanes' low halves. */
static inline vec low_product(vec a, vec b)
{
	return (vec)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

/* By intrinsics: gcc 12's analyzer takes a shift of vectors by 32 for an overflow. */
static inline vec right(vec v, unsigned bits)
{
	return (vec)_mm512_srli_epi64((__m512i)v, bits);
}

static inline vec left(vec v, unsigned bits)
{
	return (vec)_mm512_slli_epi64((__m512i)v, bits);
}

/* Each lane in its neighbour's place. */
static inline vec swapped(vec v)
{
	return (vec)_mm512_shuffle_epi32((__m512i)v, 0x4e);
}

#include "abd_xxh3_stripes.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX512BW);
}

const struct abd_xxh3_kernel abd_xxh3_avx512 = {
	.name = "avx512",
	.supported = supported,
	.whole = whole,
	.begin = begin,
	.add = add,
	.end = end,
};
