/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by carry-less multiplication of 16 bytes.
 */
#include "abd_cpu.h"

#include <immintrin.h>
#include <stdint.h>

typedef __m128i vec;
#define VEC_SIZE 16

static const uint64_t fold_vec[2] = {0x3743f7bd00000000, 0x3171d43000000000};
static const uint64_t fold_streams[2] = {0x1c19243b00000000, 0x75bba45b00000000};

static inline vec vec_load(const void *p)
{
	return _mm_loadu_si128(p);
}

static inline void vec_store(void *p, vec v)
{
	_mm_storeu_si128(p, v);
}

static inline vec vec_add(vec x, vec y)
{
	return _mm_xor_si128(x, y);
}

/* A vector that begins with the four bytes of x, and zeros. */
static inline vec vec_low(uint32_t x)
{
	return _mm_cvtsi32_si128((int)x);
}

/* The pair in each 16 bytes. */
static inline vec vec_pairs(const uint64_t pair[2])
{
	return vec_load(pair);
}

static inline vec vec_fold(vec x, vec pairs, vec onto)
{
	vec first = _mm_clmulepi64_si128(x, pairs, 0x00);
	vec second = _mm_clmulepi64_si128(x, pairs, 0x11);

	return vec_add(vec_add(first, second), onto);
}

#include "abd_crc32c_fold.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_PCLMULQDQ);
}

const struct abd_crc32c_kernel abd_crc32c_pclmul = {
	.name = "pclmul",
	.supported = supported,
	.add = add,
};
