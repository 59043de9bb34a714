/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 a word at a time. Sums are modulo 2^64, so any number of words is right.
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

#endif
