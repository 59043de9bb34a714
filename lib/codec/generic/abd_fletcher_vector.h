/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 by vectors, a template: the including file defines vec, vec_load(), vec_add(),
 * vec_even(), vec_odd(), vec_swap(), quads() and VEC_SIZE. Each 64-bit lane holds two words. Even
 * and odd words are summed apart: that takes a mask and a shift, where widening would take a
 * shuffle across lanes.
 *
 * Invariant: there are as many lanes as words in a vector; lane j takes word j of each vector.
 */
#include "abd_fletcher.h"
#include "abd_fletcher_words.h"

#include "abd_base.h"

#include <assert.h>

static_assert(VEC_SIZE <= 4 * ABD_FLETCHER_LANES, "the state holds all lanes");

static void begin(uint64_t *lanes)
{
	for (size_t i = 0; i < 8; i++)
		((vec *)(void *)lanes)[i] = (vec){0};
}

/*
 * The true sums are those of one lane. sums are a, b, c, d of the even words, then those of the odd
 * words; quads() folds them to two times four lanes, the even words' before the odd words'.
 */
static inline __attribute__((always_inline)) void join_vectors(uint64_t sum[4], const vec sums[8])
{
	abd_fletcher_quad first[4], second[4];

	quads(first, second, sums);
	FOLD(first, second);
	/* Word 0 with 2, 1 with 3; then 0 with 1. */
#define NEXT(i) (abd_fletcher_quad) _mm256_permute4x64_epi64((__m256i)first[i], 0xb1)
	FOLD(first, ((const abd_fletcher_quad[4])EACH(NEXT)));
#undef NEXT
#define NEXT(i) (abd_fletcher_quad) _mm256_permute4x64_epi64((__m256i)first[i], 0x4e)
	FOLD(first, ((const abd_fletcher_quad[4])EACH(NEXT)));
#undef NEXT
	sum[0] = first[0][0];
	sum[1] = first[1][0];
	sum[2] = first[2][0];
	sum[3] = first[3][0];
}

static void join(uint64_t sum[4], const uint64_t *lanes)
{
	join_vectors(sum, (const vec *)(const void *)lanes);
}

static inline __attribute__((always_inline)) void add_vectors(
	vec sums[8], const uint8_t *p, size_t size, bool swap)
{
	vec even[4] = {sums[0], sums[1], sums[2], sums[3]};
	vec odd[4] = {sums[4], sums[5], sums[6], sums[7]};

	for (const uint8_t *end = p + size; p < end; p += VEC_SIZE) {
		vec v = vec_load(p);

		if (swap)
			v = vec_swap(v);
		even[0] = vec_add(even[0], vec_even(v));
		odd[0] = vec_add(odd[0], vec_odd(v));
		even[1] = vec_add(even[1], even[0]);
		odd[1] = vec_add(odd[1], odd[0]);
		even[2] = vec_add(even[2], even[1]);
		odd[2] = vec_add(odd[2], odd[1]);
		even[3] = vec_add(even[3], even[2]);
		odd[3] = vec_add(odd[3], odd[2]);
	}
	sums[0] = even[0], sums[1] = even[1], sums[2] = even[2], sums[3] = even[3];
	sums[4] = odd[0], sums[5] = odd[1], sums[6] = odd[2], sums[7] = odd[3];
}

/* One span: its lanes stay in registers. The rest of a vector is filled up with zeros. */
static void whole(uint64_t sum[4], const void *span, size_t size)
{
	const uint8_t *p = span;
	size_t rest = size % VEC_SIZE;
	vec sums[8] = {0};

	add_vectors(sums, p, size - rest, false);
	join_vectors(sum, sums);
	if (rest > 0) {
		uint8_t last[VEC_SIZE] = {0};

		memcpy(last, p + size - rest, rest);
		fletcher_words(sum, last, (rest + 3) / 4, false);
	}
}

static void native(uint64_t *lanes, const uint8_t *p, size_t size)
{
	add_vectors((vec *)(void *)lanes, p, size, false);
}

static void byteswap(uint64_t *lanes, const uint8_t *p, size_t size)
{
	add_vectors((vec *)(void *)lanes, p, size, true);
}
