/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The common body of the vector copies around the cache. An instruction set's file defines the
 * names below, includes this once, and fills its record:
 *
 *   vec, VEC_SIZE              a vector and its bytes
 *   vec_load(p)                from any address
 *   vec_stream(p, x)           a non-temporal store to an aligned address
 *
 * Invariant: the stores of a line follow each other at once, so that it leaves its write-combining
 * buffer whole. There are about a dozen such buffers, and a line that is evicted half filled goes
 * to memory in pieces.
 */
#ifndef VEC_SIZE
#error "abd_flush_stream.h is the body of an instruction set's file"
#endif

#include "abd_flush_kernel.h"

static inline void line_stream(uint8_t *dst, const uint8_t *src)
{
	vec x[ABD_LINE_SIZE / VEC_SIZE];

	/* All loads first: src and dst may be the same line. */
	for (size_t i = 0; i < ABD_LINE_SIZE / VEC_SIZE; i++)
		x[i] = vec_load(src + i * VEC_SIZE);
	for (size_t i = 0; i < ABD_LINE_SIZE / VEC_SIZE; i++)
		vec_stream(dst + i * VEC_SIZE, x[i]);
}

static void stream_lines(void *dst, const void *src, size_t count)
{
	const uint8_t *from = src;
	uint8_t *to = dst;

	for (; count >= 4; count -= 4) {
		line_stream(to, from);
		line_stream(to + ABD_LINE_SIZE, from + ABD_LINE_SIZE);
		line_stream(to + 2 * ABD_LINE_SIZE, from + 2 * ABD_LINE_SIZE);
		line_stream(to + 3 * ABD_LINE_SIZE, from + 3 * ABD_LINE_SIZE);
		from += 4 * ABD_LINE_SIZE;
		to += 4 * ABD_LINE_SIZE;
	}
	for (; count > 0; count--) {
		line_stream(to, from);
		from += ABD_LINE_SIZE;
		to += ABD_LINE_SIZE;
	}
}
