/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the copies with 64-byte vectors share: blocks of four vectors, and the span's two ends.
 * Invariant: blocks lie wholly within the span; bytes that don't fill a block are copied by a block
 * or vector that overlaps another.
 */
#ifndef ABD_COPY_AVX512_H
#define ABD_COPY_AVX512_H

#include "abd_copy_span.h"

#include <immintrin.h>

enum {
	VEC_SIZE = 64,
	BLOCK_SIZE = 4 * VEC_SIZE,
	/*
	 * Each block prefetches one line of the next run, so a 4 KiB run prefetches the next run's
	 * first KiB. Prefetching the whole next run would reach 1.00 from 64 KiB to 512 KiB instead
	 * of 0.93, but only 0.40 below 32 KiB, where that run is in the first-level cache already.
	 */
	HINT_SIZE = 1024,
};

struct block {
	__m512i v[4];
};

static inline struct block block_load(const uint8_t *p)
{
	return (struct block){{
		_mm512_loadu_si512(p),
		_mm512_loadu_si512(p + VEC_SIZE),
		_mm512_loadu_si512(p + 2 * VEC_SIZE),
		_mm512_loadu_si512(p + 3 * VEC_SIZE),
	}};
}

static inline void block_store(uint8_t *p, struct block b)
{
	_mm512_storeu_si512(p, b.v[0]);
	_mm512_storeu_si512(p + VEC_SIZE, b.v[1]);
	_mm512_storeu_si512(p + 2 * VEC_SIZE, b.v[2]);
	_mm512_storeu_si512(p + 3 * VEC_SIZE, b.v[3]);
}

/* Copy the first vector, unless dst is aligned. Returns the offset from which dst is aligned. */
static inline size_t head_copy(uint8_t *dst, const uint8_t *src)
{
	size_t off = -(uintptr_t)dst & (VEC_SIZE - 1);

	if (off != 0)
		_mm512_storeu_si512(dst, _mm512_loadu_si512(src));
	return off;
}

/*
 * Copy the rest, less than a block, by one block that ends where the span ends. size >= BLOCK_SIZE,
 * and [0, off) is copied already.
 */
static inline void tail_copy(uint8_t *dst, const uint8_t *src, size_t size, size_t off)
{
	if (off < size)
		block_store(dst + size - BLOCK_SIZE, block_load(src + size - BLOCK_SIZE));
}

#endif
