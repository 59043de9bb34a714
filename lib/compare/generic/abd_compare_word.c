/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * 64-bit words: the best that portable C has, and the word loop of the 2021 dedupe thread, without
 * its need for alignment.
 * Invariant: the last word ends where the span ends; where it overlaps the one before, those bytes
 * were equal already.
 */
#include "abd_compare_kernel.h"
#include "abd_compare_word.h"
#include <abd/key.h>

/*
 * size >= 8. The offset of the first word that differs, the last one overlapping; size when none
 * does.
 */
static size_t word_find(const uint8_t *a, const uint8_t *b, size_t size)
{
	size_t last = size - ABD_WORD_SIZE;

	for (size_t off = 0; off < last; off += ABD_WORD_SIZE)
		if (abd_word_load(a + off) != abd_word_load(b + off))
			return off;
	return abd_word_load(a + last) != abd_word_load(b + last) ? last : size;
}

static size_t word_diff(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	const uint8_t *x = a, *y = b;
	size_t off;

	if (size < 2 * ABD_WORD_SIZE)
		return abd_short_diff(x, y, size);
	abd_fetch_heads(next_a, next_b);
	off = word_find(x, y, size);
	return off < size ? off + abd_word_first(abd_word_load(x + off) ^ abd_word_load(y + off))
			  : size;
}

static int word_order(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	const uint8_t *x = a, *y = b;
	size_t off;

	if (size < 2 * ABD_WORD_SIZE)
		return abd_short_order(x, y, size);
	off = word_diff(a, b, size, next_a, next_b);
	return off < size ? x[off] - y[off] : 0;
}

static bool word_equal(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	if (size < 2 * ABD_WORD_SIZE)
		return abd_short_equal(a, b, size);
	abd_fetch_heads(next_a, next_b);
	return word_find(a, b, size) == size;
}

static bool word_zero(const void *p, size_t size, const void *next)
{
	const uint8_t *x = p;
	size_t last = size - ABD_WORD_SIZE;

	if (size < 2 * ABD_WORD_SIZE)
		return abd_short_zero(x, size);
	abd_fetch_head(next);
	for (size_t off = 0; off < last; off += ABD_WORD_SIZE)
		if (abd_word_load(x + off) != 0)
			return false;
	return abd_word_load(x + last) == 0;
}

static bool word_key_equal(const void *a, const void *b, size_t size)
{
	return size <= ABD_KEY_INLINE_SIZE ? abd_key_equal_inline(a, b, size)
					   : word_equal(a, b, size, NULL, NULL);
}

const struct abd_compare_kernel abd_compare_word = {
	.name = "word",
	.supported = abd_cpu_runs_any,
	.order = word_order,
	.equal = word_equal,
	.diff = word_diff,
	.zero = word_zero,
	.key_equal = word_key_equal,
};
