/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The C library's memcmp as a kernel: the baseline, and the choice where we have no vector kernel.
 * Invariant: only memcmp reads the spans, except for one piece in diff and the first byte in zero.
 */
#include "abd_compare_kernel.h"
#include "abd_compare_word.h"

enum { LIBC_PIECE_SIZE = 256 };

static int libc_order(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	abd_fetch_heads(next_a, next_b);
	return memcmp(a, b, size);
}

static bool libc_equal(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	return libc_order(a, b, size, next_a, next_b) == 0;
}

/* memcmp doesn't say where the difference is: it finds the piece, and a loop finds the byte. */
static size_t libc_diff(
	const void *a, const void *b, size_t size, const void *next_a, const void *next_b)
{
	const uint8_t *x = a, *y = b;
	size_t off = 0;

	abd_fetch_heads(next_a, next_b);
	while (size - off > LIBC_PIECE_SIZE && memcmp(x + off, y + off, LIBC_PIECE_SIZE) == 0)
		off += LIBC_PIECE_SIZE;
	return abd_byte_diff(x, y, off, size);
}

/* All bytes are zero when the first is and each equals its neighbour. */
static bool libc_zero(const void *p, size_t size, const void *next)
{
	const uint8_t *x = p;

	abd_fetch_head(next);
	return size == 0 || (x[0] == 0 && memcmp(x, x + 1, size - 1) == 0);
}

static bool libc_key_equal(const void *a, const void *b, size_t size)
{
	return memcmp(a, b, size) == 0;
}

const struct abd_compare_kernel abd_compare_libc = {
	.name = "libc",
	.supported = abd_cpu_runs_any,
	.order = libc_order,
	.equal = libc_equal,
	.diff = libc_diff,
	.zero = libc_zero,
	.key_equal = libc_key_equal,
};
