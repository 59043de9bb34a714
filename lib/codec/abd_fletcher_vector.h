/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 by vectors, a template: the including file defines vec, vec_load(), vec_add(), vec_even(), vec_odd(),
 * vec_swap() and VEC_SIZE. Each 64-bit lane holds two words: even and odd ones are summed apart, which needs a mask and a
 * shift where widening would need a shuffle across lanes.
 * Invariant: as many lanes as a vector has words; lane j takes word j of each vector.
 */
#include "abd_fletcher.h"
#include "abd_fletcher_words.h"

#include "abd_base.h"

enum { LANES = VEC_SIZE / 4 };

static inline void join_all(uint64_t sum[4], const vec even[4], const vec odd[4])
{
	uint64_t e[4][LANES / 2], o[4][LANES / 2];

	memcpy(e, even, sizeof(e));
	memcpy(o, odd, sizeof(o));
	for (int64_t j = 0; j < LANES / 2; j++) {
		fletcher_join(sum, (const uint64_t[4]){e[0][j], e[1][j], e[2][j], e[3][j]}, LANES, 2 * j);
		fletcher_join(sum, (const uint64_t[4]){o[0][j], o[1][j], o[2][j], o[3][j]}, LANES, 2 * j + 1);
	}
}

static inline __attribute__((always_inline)) void vectors(
	uint64_t sum[4], const uint8_t *words, size_t count, bool swap)
{
	vec even[4] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};
	vec odd[4] = {vec_zero(), vec_zero(), vec_zero(), vec_zero()};

	for (size_t i = 0; i < count; i++) {
		vec v = vec_load(words + i * VEC_SIZE);

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
	fletcher_advance(sum, count * LANES);
	join_all(sum, even, odd);
}

static inline __attribute__((always_inline)) void sum_all(
	uint64_t sum[4], const uint8_t *words, size_t count, bool swap)
{
	/* Below this, joining the lanes costs more than they save. */
	while (count >= 4 * LANES) {
		size_t block = abd_min(count, FLETCHER_BLOCK) / LANES;

		vectors(sum, words, block, swap);
		words += block * VEC_SIZE;
		count -= block * LANES;
	}
	fletcher_words(sum, words, count, swap);
}

static void native(uint64_t sum[4], const uint8_t *words, size_t count)
{
	sum_all(sum, words, count, false);
}

static void byteswap(uint64_t sum[4], const uint8_t *words, size_t count)
{
	sum_all(sum, words, count, true);
}
