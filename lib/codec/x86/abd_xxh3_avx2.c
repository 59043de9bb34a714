/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3 with vectors of 32 bytes.
 */
#include "abd_cpu.h"

#include <immintrin.h>
#include <string.h>

typedef uint64_t vec __attribute__((vector_size(32)));
#define VEC_SIZE 32

/* The products of the lanes' low halves. */
static inline vec low_product(vec a, vec b)
{
	return (vec)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

/* By intrinsics: gcc 12's analyzer takes a shift of vectors by 32 for an overflow. */
static inline vec right(vec v, int bits)
{
	return (vec)_mm256_srli_epi64((__m256i)v, bits);
}

static inline vec left(vec v, int bits)
{
	return (vec)_mm256_slli_epi64((__m256i)v, bits);
}

/* Each lane in its neighbour's place. */
static inline vec swapped(vec v)
{
	return (vec)_mm256_shuffle_epi32((__m256i)v, 0x4e);
}

#include "abd_xxh3_stripes.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX2);
}

const struct abd_xxh3_kernel abd_xxh3_avx2 = {
	.name = "avx2",
	.supported = supported,
	.whole = whole,
	.begin = begin,
	.add = add,
	.end = end,
};
