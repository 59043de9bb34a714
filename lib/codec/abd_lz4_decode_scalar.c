/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder by 8-byte words, for any machine: either byte order, any alignment rules.
 * Invariant: memory is touched through memcpy() and bytes only.
 */
#include "abd_base.h"
#include "abd_lz4_decode_words.h"

#define WIDE 64

static inline void copy_16(uint8_t *dst, const uint8_t *src)
{
	uint64_t low, high;

	memcpy(&low, src, 8);
	memcpy(&high, src + 8, 8);
	memcpy(dst, &low, 8);
	memcpy(dst + 8, &high, 8);
}

static inline void copy_32(uint8_t *dst, const uint8_t *src)
{
	copy_16(dst, src);
	copy_16(dst + 16, src + 16);
}

static inline void copy_wide(uint8_t *dst, const uint8_t *src)
{
	copy_32(dst, src);
	copy_32(dst + 32, src + 32);
}

static inline void copy_short(uint8_t *dst, size_t offset)
{
	if (ABD_UNLIKELY(offset < 8)) {
		fill_short(dst, offset);
	} else {
		copy_8(dst, dst - offset);
		copy_8(dst + 8, dst - offset + 8);
		memcpy(dst + 16, dst - offset + 16, 2);
	}
}

#include "abd_lz4_decode_quick.h"

static bool supported(void)
{
	return true;
}

ABD_LZ4_DECODER(scalar, supported);
