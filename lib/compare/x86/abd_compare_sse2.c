/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SSE2: 16 bytes a vector, on every x86-64 there is.
 */
#include "abd_compare_kernel.h"
#include "abd_compare_part.h"

#include <emmintrin.h>

typedef __m128i vec;
#define VEC_SIZE 16
#define BLOCK_VECTORS 8

static inline vec vec_load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i_u *)p);
}

static inline vec vec_or(vec x, vec y)
{
	return _mm_or_si128(x, y);
}

static inline vec vec_differ(const uint8_t *a, const uint8_t *b)
{
	return _mm_xor_si128(vec_load(a), vec_load(b));
}

static inline vec vec_join(vec seen, const uint8_t *a, const uint8_t *b)
{
	return _mm_or_si128(seen, vec_differ(a, b));
}

static inline bool vec_is_zero(vec x)
{
	return _mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_setzero_si128())) == 0xFFFF;
}

static inline size_t vec_first(const uint8_t *a, const uint8_t *b)
{
	vec same = _mm_cmpeq_epi8(vec_load(a), vec_load(b));
	unsigned unequal = (unsigned)_mm_movemask_epi8(same) ^ 0xFFFF;

	return unequal != 0 ? (size_t)__builtin_ctz(unequal) : VEC_SIZE;
}

#include "abd_compare_vector.h"

const struct abd_compare_kernel abd_compare_sse2 = {
	.name = "sse2",
	.supported = abd_cpu_runs_sse2,
	.order = vector_order,
	.equal = vector_equal,
	.diff = vector_diff,
	.zero = vector_zero,
	.key_equal = vector_key_equal,
};
