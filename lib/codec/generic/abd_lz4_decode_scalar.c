/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoder that copies 8-byte words, for any machine: either byte order, any alignment rules.
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

#include "abd_lz4_decode_quick.h"

ABD_LZ4_DECODER(scalar, abd_cpu_runs_any);
