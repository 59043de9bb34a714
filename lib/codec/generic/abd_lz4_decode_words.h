/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matches at offsets below 16, written in words of 8 bytes, for decoders without a byte shuffle.
 * Invariant: fill() writes at most 23 bytes past size; fill_short() writes exactly 24 bytes.
 */
#ifndef ABD_LZ4_DECODE_WORDS_H
#define ABD_LZ4_DECODE_WORDS_H

#include "abd_lz4_decode_copy.h"

#include <stddef.h>

/*
 * Write the first 8 bytes of a match, offset < 8. Returns the smallest multiple of offset that is
 * at least 8: the rest of the match can be copied from that far back.
 */
static inline size_t fill_first(uint8_t *dst, size_t offset)
{
	static const uint8_t period[8] = {0, 8, 8, 9, 8, 10, 12, 14};
	const uint8_t *src = dst - offset;

	for (size_t i = 0; i < 8; i++)
		dst[i] = src[i];
	return period[offset];
}

/* Copy words from offset bytes before dst, until end is reached. offset >= 8. */
static inline void fill_rest(uint8_t *dst, size_t offset, uint8_t *end)
{
	while (dst < end) {
		copy_8(dst, dst - offset);
		dst += 8;
	}
}

/*
 * A match with a period of 1, 2, 4 or 8 bytes is one word repeated. Storing it from a register
 * needs no load, which would wait for the store before it.
 */
static inline void fill_word(uint8_t *dst, const uint8_t *end, uint64_t word)
{
	do {
		memcpy(dst, &word, 8);
		memcpy(dst + 8, &word, 8);
		dst += 16;
	} while (dst < end);
}

/* size > 0, 0 < offset < 16. */
static inline void fill(uint8_t *dst, size_t offset, size_t size)
{
	uint8_t *end = dst + size;
	size_t period = offset;

	if (offset < 8) {
		period = fill_first(dst, offset);
		dst += 8;
	}
	if (period == 8) {
		uint64_t word;

		memcpy(&word, dst - 8, 8);
		fill_word(dst, end, word);
	} else {
		fill_rest(dst, period, end);
	}
}

/* 0 < offset < 8. */
static inline void fill_short(uint8_t *dst, size_t offset)
{
	size_t period = fill_first(dst, offset);

	copy_8(dst + 8, dst + 8 - period);
	copy_8(dst + 16, dst + 16 - period);
}

#endif
