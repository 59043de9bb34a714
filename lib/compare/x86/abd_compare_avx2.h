/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AVX2: 32 bytes a vector.
 * Invariant: 16 to 31 bytes are two half vectors that overlap; fewer are words.
 */
#ifndef ABD_COMPARE_AVX2_H
#define ABD_COMPARE_AVX2_H

#include "abd_compare_kernel.h"
#include "abd_compare_word.h"

#include <immintrin.h>

typedef __m256i vec;
#define VEC_SIZE 32
#define BLOCK_VECTORS 8
#define HALF_SIZE 16

static inline vec vec_load(const uint8_t *p)
{
	return _mm256_loadu_si256((const __m256i_u *)p);
}

static inline vec vec_or(vec x, vec y)
{
	return _mm256_or_si256(x, y);
}

static inline vec vec_differ(const uint8_t *a, const uint8_t *b)
{
	return _mm256_xor_si256(vec_load(a), vec_load(b));
}

static inline vec vec_join(vec seen, const uint8_t *a, const uint8_t *b)
{
	return _mm256_or_si256(seen, vec_differ(a, b));
}

static inline bool vec_is_zero(vec x)
{
	return _mm256_testz_si256(x, x) != 0;
}

static inline size_t vec_first(const uint8_t *a, const uint8_t *b)
{
	vec same = _mm256_cmpeq_epi8(vec_load(a), vec_load(b));
	uint32_t unequal = ~(uint32_t)_mm256_movemask_epi8(same);

	return unequal != 0 ? (size_t)__builtin_ctz(unequal) : VEC_SIZE;
}

static inline __m128i half_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i_u *)p);
}

/*
 * HALF_SIZE to VEC_SIZE bytes: bit i says that byte i of the first half, or i - 16 of the last,
 * differs.
 */
static inline uint32_t halves_unequal(const uint8_t *a, const uint8_t *b, size_t size)
{
	size_t last = size - HALF_SIZE;
	__m128i head = _mm_cmpeq_epi8(half_load(a), half_load(b));
	__m128i tail = _mm_cmpeq_epi8(half_load(a + last), half_load(b + last));

	return ~((uint32_t)_mm_movemask_epi8(head) | (uint32_t)_mm_movemask_epi8(tail) << 16);
}

static inline size_t halves_diff(const uint8_t *a, const uint8_t *b, size_t size)
{
	uint32_t unequal = halves_unequal(a, b, size);
	size_t bit;

	if (unequal == 0)
		return size;
	bit = (size_t)__builtin_ctz(unequal);
	return bit < HALF_SIZE ? bit : size - VEC_SIZE + bit;
}

static inline bool part_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
	return size < HALF_SIZE ? abd_short_equal(a, b, size) : halves_unequal(a, b, size) == 0;
}

static inline size_t part_diff(const uint8_t *a, const uint8_t *b, size_t size)
{
	return size < HALF_SIZE ? abd_short_diff(a, b, size) : halves_diff(a, b, size);
}

static inline int part_order(const uint8_t *a, const uint8_t *b, size_t size)
{
	size_t off;

	if (size < HALF_SIZE)
		return abd_short_order(a, b, size);
	off = halves_diff(a, b, size);
	return off < size ? a[off] - b[off] : 0;
}

static inline bool part_zero(const uint8_t *p, size_t size)
{
	__m128i bits;

	if (size < HALF_SIZE)
		return abd_short_zero(p, size);
	bits = _mm_or_si128(half_load(p), half_load(p + size - HALF_SIZE));
	return _mm_testz_si128(bits, bits) != 0;
}

#endif
