/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AVX-512BW: 64 bytes a vector, three-operand logic for the fold, and masks for spans shorter than
 * a vector.
 * Invariant: a masked load touches only the bytes whose mask bit is set, so short spans need no
 * overlap and no branches.
 */
#ifndef ABD_COMPARE_AVX512_H
#define ABD_COMPARE_AVX512_H

#include "abd_compare_kernel.h"

#include <immintrin.h>

typedef __m512i vec;
#define VEC_SIZE 64
#define BLOCK_VECTORS 4

static inline vec vec_load(const uint8_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline vec vec_or(vec x, vec y)
{
	return _mm512_or_si512(x, y);
}

static inline vec vec_differ(const uint8_t *a, const uint8_t *b)
{
	return _mm512_xor_si512(vec_load(a), vec_load(b));
}

static inline vec vec_join(vec seen, const uint8_t *a, const uint8_t *b)
{
	/* 0xF6 is the truth table of seen | (a ^ b): one instruction */
	return _mm512_ternarylogic_epi64(seen, vec_load(a), vec_load(b), 0xF6);
}

static inline bool vec_is_zero(vec x)
{
	return _mm512_test_epi64_mask(x, x) == 0;
}

static inline size_t vec_first(const uint8_t *a, const uint8_t *b)
{
	uint64_t unequal = _mm512_cmpneq_epi8_mask(vec_load(a), vec_load(b));

	return unequal != 0 ? (size_t)__builtin_ctzll(unequal) : VEC_SIZE;
}

static inline __mmask64 part_mask(size_t size)
{
	return _bzhi_u64(~(uint64_t)0, (unsigned)size);
}

/*
 * Both loads under the mask, b's within the comparison. No intrinsic compares in memory under a
 * mask, and registers below zmm16 would have to be cleared afterwards: a key then takes 1.4 times
 * as long.
 */
static inline __mmask64 part_unequal(const uint8_t *a, const uint8_t *b, size_t size)
{
	__mmask64 unequal;

	__asm__("vmovdqu8 %[a], %%zmm16%{%[mask]%}%{z%}\n\t"
		"vpcmpneqb %[b], %%zmm16, %[unequal]%{%[mask]%}"
		: [unequal] "=&Yk"(unequal)
		: [mask] "Yk"(part_mask(size)), [a] "m"(*(const uint8_t(*)[VEC_SIZE])a),
		[b] "m"(*(const uint8_t(*)[VEC_SIZE])b)
		: "xmm16");
	return unequal;
}

static inline bool part_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
	return part_unequal(a, b, size) == 0;
}

static inline size_t part_diff(const uint8_t *a, const uint8_t *b, size_t size)
{
	uint64_t unequal = part_unequal(a, b, size);

	return unequal != 0 ? (size_t)__builtin_ctzll(unequal) : size;
}

static inline int part_order(const uint8_t *a, const uint8_t *b, size_t size)
{
	uint64_t unequal = part_unequal(a, b, size);
	size_t off;

	if (unequal == 0)
		return 0;
	off = (size_t)__builtin_ctzll(unequal);
	return a[off] - b[off];
}

static inline bool part_zero(const uint8_t *p, size_t size)
{
	return vec_is_zero(_mm512_maskz_loadu_epi8(part_mask(size), p));
}

#endif
