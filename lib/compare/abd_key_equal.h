/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Equality of short keys and names, inline: a few words that overlap, instead of a call.
 * Invariant: reads [p, p + size) and nothing else; the result does not depend on alignment.
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", Dec 2010: git's path components average
 * 31 bytes, where starting a string instruction costs more than comparing.
 */
#ifndef ABD_KEY_EQUAL_H
#define ABD_KEY_EQUAL_H

#include "abd_compare_word.h"

enum { ABD_KEY_INLINE_SIZE = 64 };

static inline uint64_t abd_key_differ(const uint8_t *a, const uint8_t *b, size_t off)
{
	return abd_word_load(a + off) ^ abd_word_load(b + off);
}

/* Two words from the front and two from the back, which overlap below 32 bytes. */
static inline uint64_t abd_key_differ_16_to_32(const uint8_t *a, const uint8_t *b, size_t size)
{
	return abd_key_differ(a, b, 0) | abd_key_differ(a, b, 8) |
		abd_key_differ(a, b, size - 16) | abd_key_differ(a, b, size - 8);
}

/** Equality of up to ABD_KEY_INLINE_SIZE bytes. */
static inline bool abd_key_equal_inline(const void *a, const void *b, size_t size)
{
	const uint8_t *x = a, *y = b;

	if (size < 16)
		return abd_short_equal(x, y, size);
	if (size <= 32)
		return abd_key_differ_16_to_32(x, y, size) == 0;
	return (abd_key_differ_16_to_32(x, y, 32) |
		       abd_key_differ_16_to_32(x + size - 32, y + size - 32, 32)) == 0;
}

#endif
