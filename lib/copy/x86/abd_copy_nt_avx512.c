/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copying with non-temporal stores of 64 bytes, which bypass the caches: for copies too large for
 * the caches to hold. It prefetches the next source, and nothing of the destination.
 */
#include "abd_copy_avx512.h"

/* p is aligned to VEC_SIZE. */
static inline void block_stream(uint8_t *p, struct block b)
{
	_mm512_stream_si512((void *)p, b.v[0]);
	_mm512_stream_si512((void *)(p + VEC_SIZE), b.v[1]);
	_mm512_stream_si512((void *)(p + 2 * VEC_SIZE), b.v[2]);
	_mm512_stream_si512((void *)(p + 3 * VEC_SIZE), b.v[3]);
}

static void nt_avx512_span(
	void *dst, const void *src, size_t size, void *next_dst, const void *next_src)
{
	const uint8_t *from = src, *hint = next_src != NULL ? next_src : src;
	uint8_t *to = dst;
	size_t off;

	(void)next_dst;
	if (size < BLOCK_SIZE) {
		memcpy(dst, src, size);
		return;
	}
	for (off = head_copy(to, from); off + BLOCK_SIZE <= size; off += BLOCK_SIZE) {
		__builtin_prefetch(hint + off / 4 % HINT_SIZE, 0, 3);
		block_stream(to + off, block_load(from + off));
	}
	tail_copy(to, from, size, off);
}

/* Until this fence, non-temporal stores are not ordered with other stores. */
static void nt_avx512_finish(void)
{
	_mm_sfence();
}

const struct abd_copy_kernel abd_copy_nt_avx512 = {
	.name = "nt-avx512",
	.supported = avx512_supported,
	.span = nt_avx512_span,
	.finish = nt_avx512_finish,
};
