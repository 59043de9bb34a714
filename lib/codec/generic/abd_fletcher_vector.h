/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 by vectors, a template: the including file defines vec, vec_load(), vec_add(),
 * vec_even(), vec_odd(), vec_swap() and VEC_SIZE. Each 64-bit lane holds two words. Even and odd
 * words are summed apart: that takes a mask and a shift, where widening would take a shuffle across
 * lanes.
 * Invariant: there are as many lanes as words in a vector; lane j takes word j of each vector.
 */
#include "abd_fletcher.h"
#include "abd_fletcher_words.h"

#include "abd_base.h"

#include <assert.h>

enum { LANES = VEC_SIZE / 4, HALF = LANES / 2 };

static_assert(VEC_SIZE <= 4 * ABD_FLETCHER_LANES, "the state holds all lanes");

/* lanes holds the sums a, b, c, d of the even words, then those of the odd words. */
static void join(uint64_t sum[4], const uint64_t *lanes)
{
	const uint64_t *even = lanes, *odd = lanes + 4 * HALF;

	memset(sum, 0, 4 * sizeof(*sum));
	for (size_t j = 0; j < HALF; j++, even++, odd++) {
		const uint64_t e[4] = {even[0], even[HALF], even[2 * HALF], even[3 * HALF]};
		const uint64_t o[4] = {odd[0], odd[HALF], odd[2 * HALF], odd[3 * HALF]};

		fletcher_join(sum, e, LANES, 2 * (int64_t)j);
		fletcher_join(sum, o, LANES, 2 * (int64_t)j + 1);
	}
}

static inline __attribute__((always_inline)) void add(
	uint64_t *lanes, const uint8_t *p, size_t count, bool swap)
{
	vec even[4], odd[4];

	memcpy(even, lanes, sizeof(even));
	memcpy(odd, lanes + 4 * HALF, sizeof(odd));
	for (size_t i = 0; i < count; i++) {
		vec v = vec_load(p + i * VEC_SIZE);

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
	memcpy(lanes, even, sizeof(even));
	memcpy(lanes + 4 * HALF, odd, sizeof(odd));
}

static void native(uint64_t *lanes, const uint8_t *p, size_t count)
{
	add(lanes, p, count, false);
}

static void byteswap(uint64_t *lanes, const uint8_t *p, size_t count)
{
	add(lanes, p, count, true);
}
