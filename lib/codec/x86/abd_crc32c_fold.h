/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by carry-less multiplication, a template. The including file defines vec, VEC_SIZE,
 * vec_load(), vec_store(), vec_add(), vec_low(), vec_pairs(), vec_fold(), and the constants
 * fold_vec and fold_streams.
 *
 * 16 bytes with D bits behind them count as their polynomial times x^D. Modulo crc32c's polynomial
 * these are the first eight bytes times x^(D + 64) and the second eight times x^D, which is again
 * 16 bytes: they can be added to the 16 bytes that lie D bits further on, and forgotten. So four
 * vectors are folded onto the next four, until four are left; then these onto one.
 *
 *      [ 0 ][ 1 ][ 2 ][ 3 ] [ 4 ][ 5 ][ 6 ][ 7 ] ...        0 is folded onto 4, 1 onto 5, ...
 *
 * The CPU's crc32 instruction takes that one, and the bytes behind it.
 * The constants fold_... are the pair x^(D + 63), x^(D - 1) modulo the polynomial, with x^i in bit
 * 63 - i. (One power less: the product of two such numbers has 127 bits, not 128.)
 * Invariant: nothing outside the span is read.
 * V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel, 2009.
 */
#include "abd_crc32c.h"
#include "abd_crc32c_words.h"

enum { STREAMS = 4 };

static uint32_t add(uint32_t state, const void *span, size_t size)
{
	const uint8_t *p = span;
	uint8_t last[VEC_SIZE];
	vec x[STREAMS];

	if (size < STREAMS * VEC_SIZE)
		return abd_crc32c_words(state, p, size);
	for (int i = 0; i < STREAMS; i++)
		x[i] = vec_load(p + i * VEC_SIZE);
	x[0] = vec_add(x[0], vec_low(state));
	p += STREAMS * VEC_SIZE;
	size -= STREAMS * VEC_SIZE;

	for (const vec k = vec_pairs(fold_streams); size >= STREAMS * VEC_SIZE;
		p += STREAMS * VEC_SIZE, size -= STREAMS * VEC_SIZE)
		for (int i = 0; i < STREAMS; i++)
			x[i] = vec_fold(x[i], k, vec_load(p + i * VEC_SIZE));

	const vec k = vec_pairs(fold_vec);

	for (int i = 1; i < STREAMS; i++)
		x[i] = vec_fold(x[i - 1], k, x[i]);
	for (; size >= VEC_SIZE; p += VEC_SIZE, size -= VEC_SIZE)
		x[STREAMS - 1] = vec_fold(x[STREAMS - 1], k, vec_load(p));
	vec_store(last, x[STREAMS - 1]);
	return abd_crc32c_words(abd_crc32c_words(0, last, VEC_SIZE), p, size);
}
