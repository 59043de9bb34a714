/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Equality of short keys and names. It is inline if the compiler knows the size, and on other CPUs
 * than x86: it compares a few words, which may overlap, and calls nothing. If the compiler does not
 * know the size, the CPU would often mispredict a branch on it. So x86 CPUs with AVX-512 compare
 * any size up to 64 bytes by two loads under a mask, without a branch.
 * Invariant: reads [p, p + size) and nothing else; the result does not depend on alignment.
 * Only abd_key_equal(), at the end, is for callers; the rest is its implementation.
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", Dec 2010: git's
 * path components average 31 bytes, where starting a string instruction costs more than comparing.
 */
#ifndef ABD_KEY_H
#define ABD_KEY_H

#include <abd/export.h>

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { ABD_KEY_INLINE_SIZE = 64 };

static inline uint64_t abd_word_load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static inline uint32_t abd_word_load_half(const uint8_t *p)
{
	uint32_t half;

	memcpy(&half, p, sizeof(half));
	return half;
}

static inline uint32_t abd_word_load_quarter(const uint8_t *p)
{
	uint16_t quarter;

	memcpy(&quarter, p, sizeof(quarter));
	return quarter;
}

/* Zero if the 0 to 7 bytes are equal, by two halves or two quarters, which may overlap, or a byte.
 */
static inline uint64_t abd_word_differ_short(const uint8_t *a, const uint8_t *b, size_t size)
{
	if (size >= 4)
		return (abd_word_load_half(a) ^ abd_word_load_half(b)) |
		       (abd_word_load_half(a + size - 4) ^ abd_word_load_half(b + size - 4));
	if (size >= 2)
		return (abd_word_load_quarter(a) ^ abd_word_load_quarter(b)) |
		       (abd_word_load_quarter(a + size - 2) ^ abd_word_load_quarter(b + size - 2));
	return size == 1 ? (0u + a[0]) ^ b[0] : 0;
}

static inline uint64_t abd_key_differ64(const uint8_t *a, const uint8_t *b, size_t off)
{
	return abd_word_load(a + off) ^ abd_word_load(b + off);
}

/*
 * Four words cover any size from 8 to 32 bytes: the first; the second, or the last if the size is
 * below 16; the last but one, or the first; and the last. So all sizes take one path, without a
 * branch to predict.
 */
static inline bool abd_key_equal_8_to_32(const uint8_t *a, const uint8_t *b, size_t size)
{
	size_t last = size - 8;
	size_t second = last < 8 ? last : 8;

	return (abd_key_differ64(a, b, 0) | abd_key_differ64(a, b, second) |
		       abd_key_differ64(a, b, last - second) | abd_key_differ64(a, b, last)) == 0;
}

#if defined(__SSE2__)
static inline __m128i abd_key_same(const uint8_t *a, const uint8_t *b, size_t off)
{
	const void *x = a + off, *y = b + off;

	return _mm_cmpeq_epi8(_mm_loadu_si128(ABD_CAST(const __m128i_u *, x)),
		_mm_loadu_si128(ABD_CAST(const __m128i_u *, y)));
}

/*
 * The same with four vectors. If lengths vary from 1 to 64, the branch to this function is taken
 * three times out of four. One more branch, at 32, would be taken every second time, and no CPU can
 * predict that: on AMD Zen 4 a comparison took 8.5 ns with it instead of 6.2. A fixed length of 16
 * to 32 would gain by it: 3.5 ns instead of 4.6.
 */
static inline bool abd_key_equal_16_to_64(const uint8_t *a, const uint8_t *b, size_t size)
{
	size_t last = size - 16;
	size_t second = last < 16 ? last : 16;
	__m128i front = _mm_and_si128(abd_key_same(a, b, 0), abd_key_same(a, b, second));
	__m128i back = _mm_and_si128(abd_key_same(a, b, last - second), abd_key_same(a, b, last));

	return _mm_movemask_epi8(_mm_and_si128(front, back)) == 0xFFFF;
}
#else
static inline bool abd_key_equal_16_to_64(const uint8_t *a, const uint8_t *b, size_t size)
{
	if (size <= 32)
		return abd_key_equal_8_to_32(a, b, size);
	return abd_key_equal_8_to_32(a, b, 32) &&
	       abd_key_equal_8_to_32(a + size - 32, b + size - 32, 32);
}
#endif

/** Equality of up to ABD_KEY_INLINE_SIZE bytes. */
static inline bool abd_key_equal_inline(const void *a, const void *b, size_t size)
{
	const uint8_t *x = ABD_CAST(const uint8_t *, a), *y = ABD_CAST(const uint8_t *, b);

	if (size >= 16)
		return abd_key_equal_16_to_64(x, y, size);
	if (size >= 8)
		return abd_key_equal_8_to_32(x, y, size);
	return abd_word_differ_short(x, y, size) == 0;
}

ABD_BEGIN_DECLS

/**
 * abd_key_equal() for more than ABD_KEY_INLINE_SIZE bytes.
 *
 * Units:   size in bytes.
 * Returns: true if they are equal.
 * Threads: any.
 */
ABD_API bool abd_key_equal_long(const void *a, const void *b, size_t size);

#if defined(__x86_64__) && !defined(__ILP32__)
/*
 * Compares a size that the compiler does not know. The first call makes it the kernel that the
 * tunable "compare" has in use for keys. Only the library writes it.
 */
typedef bool abd_key_equal_fn(const void *a, const void *b, size_t size);
ABD_API extern abd_key_equal_fn *abd_key_equal_any;
#endif

/**
 * Whether two short keys or names of the same size are equal.
 *
 * Units:   size in bytes, any; no alignment is needed, nothing outside is read.
 * Returns: true if they are.
 * Threads: any. On x86, if the compiler does not know the size, the first call takes the kernel
 *          that the tunable "compare" has in use, and later calls stay with it.
 * Source:  the masked word compare for path components in fs/dcache.c of the Linux kernel answers
 *          the same question.
 */
static inline bool abd_key_equal(const void *a, const void *b, size_t size)
{
#if defined(__x86_64__) && !defined(__ILP32__)
	if (!__builtin_constant_p(size))
		return __atomic_load_n(&abd_key_equal_any, __ATOMIC_RELAXED)(a, b, size);
#endif
	if (size > ABD_KEY_INLINE_SIZE)
		return abd_key_equal_long(a, b, size);
	return abd_key_equal_inline(a, b, size);
}

ABD_END_DECLS

#endif
