/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Byte shuffles that repeat the first bytes of a vector. Row o serves a match at offset o, 0 < o <
 * 16: it says, for each of the match's first 64 bytes, which of the o bytes before the match it
 * equals. abd_lz4_period: how far before bytes 16 and 17 of the match the same two bytes stand.
 */
#ifndef ABD_LZ4_DECODE_SHUFFLE_H
#define ABD_LZ4_DECODE_SHUFFLE_H

#include <stdint.h>

#define ABD_8(o, i)                                                                    \
	(i) % (o), ((i) + 1) % (o), ((i) + 2) % (o), ((i) + 3) % (o), ((i) + 4) % (o), \
		((i) + 5) % (o), ((i) + 6) % (o), ((i) + 7) % (o)
#define ABD_64(o)                                                                                 \
	{                                                                                         \
		ABD_8(o, 0), ABD_8(o, 8), ABD_8(o, 16), ABD_8(o, 24), ABD_8(o, 32), ABD_8(o, 40), \
			ABD_8(o, 48), ABD_8(o, 56)                                                \
	}

static const uint8_t abd_lz4_repeat[16][64] __attribute__((aligned(64))) = {{0}, ABD_64(1),
	ABD_64(2), ABD_64(3), ABD_64(4), ABD_64(5), ABD_64(6), ABD_64(7), ABD_64(8), ABD_64(9),
	ABD_64(10), ABD_64(11), ABD_64(12), ABD_64(13), ABD_64(14), ABD_64(15)};

/*
 * The largest multiple of the offset that fits into a vector of 32, or 64, bytes: how far dst
 * advances after each store.
 */
static const uint8_t abd_lz4_stride_32[16] = {
	32, 32, 32, 30, 32, 30, 30, 28, 32, 27, 30, 22, 24, 26, 28, 30};
static const uint8_t abd_lz4_stride_64[16] = {
	64, 64, 64, 63, 64, 60, 60, 63, 64, 63, 60, 55, 60, 52, 56, 60};

static const uint8_t abd_lz4_period[8] = {0, 2, 2, 3, 4, 5, 6, 7};

#undef ABD_8
#undef ABD_64

#endif
