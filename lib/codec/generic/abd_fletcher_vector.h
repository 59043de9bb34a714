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

/*
 * moment[m] becomes the sum of x times C(j, m), over the x of all lanes j: the number of ways to
 * choose m of j. Lanes come in falling order; what is added at lane j is added up j times more.
 */
static inline void count(uint64_t moment[4], uint64_t x)
{
	moment[3] += moment[2];
	moment[2] += moment[1];
	moment[1] += moment[0];
	moment[0] += x;
}

/*
 * The true sums from those of the lanes. After N words, word m has been counted once in a, and with
 * x = N - m x times in b, C(x + 1, 2) times in c and C(x + 2, 3) times in d. A lane takes every
 * LANES-th word, beginning with word j, and counts its own words with t: x = LANES t - j. Written
 * out, each true sum is one of the lanes' moments, with factors that depend on LANES alone.
 *
 * lanes holds the sums a, b, c, d of the even words, then those of the odd words.
 */
static void join(uint64_t sum[4], const uint64_t *lanes)
{
	const uint64_t n = LANES, pairs = n * (n - 1) / 2, triples = pairs * (n - 2) / 3;
	uint64_t a[4] = {0}, b[4] = {0}, c[4] = {0}, d[4] = {0};

	for (size_t j = LANES; j-- > 0;) {
		const uint64_t *lane = lanes + j % 2 * 4 * HALF + j / 2;

		count(a, lane[0]);
		count(b, lane[HALF]);
		count(c, lane[2 * HALF]);
		count(d, lane[3 * HALF]);
	}
	sum[0] = a[0];
	sum[1] = n * b[0] - a[1];
	sum[2] = n * n * c[0] - pairs * b[0] - n * b[1] + a[2];
	sum[3] = n * n * n * d[0] - n * n * (n - 1) * c[0] - n * n * c[1] + triples * b[0] +
		 pairs * b[1] + n * b[2] - a[3];
}

static inline __attribute__((always_inline)) void add(
	uint64_t *lanes, const uint8_t *p, size_t count, bool swap)
{
	vec *sums = (vec *)(void *)lanes;
	vec even[4] = {sums[0], sums[1], sums[2], sums[3]};
	vec odd[4] = {sums[4], sums[5], sums[6], sums[7]};

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
	for (size_t i = 0; i < 4; i++) {
		sums[i] = even[i];
		sums[4 + i] = odd[i];
	}
}

static void native(uint64_t *lanes, const uint8_t *p, size_t count)
{
	add(lanes, p, count, false);
}

static void byteswap(uint64_t *lanes, const uint8_t *p, size_t count)
{
	add(lanes, p, count, true);
}
