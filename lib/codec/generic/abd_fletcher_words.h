/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 a word at a time, and the algebra that joins lanes.
 *
 * After N words, word m has been counted once in a, N - m times in b, and in c and d as often as
 * there are pairs and triples: with x = N - m, x (x + 1) / 2 and x (x + 1) (x + 2) / 6. A lane
 * takes every L-th word, beginning with word j. It counts its own words with t, and x = L t - j. So
 * each true sum is a sum of the lane's four sums with constant factors.
 * Invariant: all sums are modulo 2^64, so any number of words is right. Only products of small
 * numbers are divided, and those divisions are exact.
 */
#ifndef ABD_FLETCHER_WORDS_H
#define ABD_FLETCHER_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void fletcher_words(uint64_t sum[4], const uint8_t *words, size_t count, bool swap)
{
	uint64_t a = sum[0], b = sum[1], c = sum[2], d = sum[3];

	for (size_t i = 0; i < count; i++) {
		uint32_t word;

		memcpy(&word, words + 4 * i, 4);
		a += swap ? __builtin_bswap32(word) : word;
		b += a;
		c += b;
		d += c;
	}
	sum[0] = a;
	sum[1] = b;
	sum[2] = c;
	sum[3] = d;
}

static inline int64_t fletcher_pairs(int64_t x)
{
	return x * (x + 1) / 2;
}

static inline int64_t fletcher_triples(int64_t x)
{
	return x * (x + 1) * (x + 2) / 6;
}

/*
 * Add what lane j of lanes has summed. The factors follow from t = 0, -1 and -2, where t, pairs(t)
 * and triples(t) vanish.
 */
static inline void fletcher_join(uint64_t sum[4], const uint64_t lane[4], int64_t lanes, int64_t j)
{
	int64_t pairs_0 = fletcher_pairs(-j), pairs_1 = pairs_0 - fletcher_pairs(-lanes - j);
	int64_t triples_0 = fletcher_triples(-j),
		triples_1 = triples_0 - fletcher_triples(-lanes - j);
	int64_t triples_2 = fletcher_triples(-2 * lanes - j) + 2 * triples_1 - triples_0;

	sum[0] += lane[0];
	sum[1] += (uint64_t)lanes * lane[1] - (uint64_t)j * lane[0];
	sum[2] += (uint64_t)(lanes * lanes) * lane[2] + (uint64_t)pairs_1 * lane[1] +
		  (uint64_t)pairs_0 * lane[0];
	sum[3] += (uint64_t)(lanes * lanes * lanes) * lane[3] + (uint64_t)triples_2 * lane[2] +
		  (uint64_t)triples_1 * lane[1] + (uint64_t)triples_0 * lane[0];
}

#endif
