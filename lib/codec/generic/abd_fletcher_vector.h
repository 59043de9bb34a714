/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 by vectors, a template: the including file defines VEC_SIZE, ODD(v), which moves the
 * odd words to the even ones' places, SWAP(v), which puts the bytes of each word in the other
 * order, and QUADS(first, second, sums). Each 64-bit lane holds two words. Even and odd words are
 * summed apart: that takes a mask and a shift, where widening would take a shuffle across lanes.
 *
 * Invariant: there are as many lanes as words in a vector; lane j takes word j of each vector.
 */
#include "abd_fletcher.h"
#include "abd_fletcher_fold.h"
#include "abd_fletcher_words.h"

#include <assert.h>

typedef uint64_t vec __attribute__((vector_size(VEC_SIZE)));

static_assert(VEC_SIZE <= 4 * ABD_FLETCHER_LANES, "the state holds all lanes");

static void begin(uint64_t *lanes)
{
	for (size_t i = 0; i < 8; i++)
		((vec *)(void *)lanes)[i] = (vec){0};
}

/*
 * The true sums are those of one lane. sums are a, b, c, d of the even words, then those of the odd
 * words; QUADS() folds them to two times four lanes, the even words' before the odd words'.
 */
static inline __attribute__((always_inline)) void join_vectors(uint64_t sum[4], const vec sums[8])
{
	abd_fletcher_quad first[4], second[4];

	QUADS(first, second, sums);
	FOLD(first, second);
	/* Word 0 with 2, 1 with 3; then 0 with 1. */
#define NEXT(i) (abd_fletcher_quad) _mm256_permute4x64_epi64((__m256i)first[i], 0xb1)
	FOLD(first, ((const abd_fletcher_quad[4])EACH(NEXT)));
#undef NEXT
#define NEXT(i) (abd_fletcher_quad) _mm256_permute4x64_epi64((__m256i)first[i], 0x4e)
	FOLD(first, ((const abd_fletcher_quad[4])EACH(NEXT)));
#undef NEXT
	sum[0] = first[0][0];
	sum[1] = first[1][0];
	sum[2] = first[2][0];
	sum[3] = first[3][0];
}

static void join(uint64_t sum[4], const uint64_t *lanes)
{
	join_vectors(sum, (const vec *)(const void *)lanes);
}

static inline __attribute__((always_inline)) void add_vector(
	vec sums[8], const uint8_t *p, bool swap)
{
	vec v;

	memcpy(&v, p, sizeof(v));
	if (swap)
		v = (vec)SWAP(v);
	sums[0] += v & 0xffffffff;
	sums[4] += (vec)ODD(v);
	for (unsigned i = 1; i < 4; i++) {
		sums[i] += sums[i - 1];
		sums[4 + i] += sums[3 + i];
	}
}

/* The whole vectors of each span; four at a time, so that the CPU predicts where a run ends. */
static inline __attribute__((always_inline)) void add_vectors(
	vec sums[8], const struct iovec *span, size_t count, bool swap)
{
	enum { AT_ONCE = 4 };

	for (; count > 0; count--, span++) {
		const uint8_t *p = span->iov_base;
		const char *next = abd_spans_next(span, count);
		size_t left = span->iov_len / VEC_SIZE;

		for (; left >= AT_ONCE; left -= AT_ONCE)
			for (unsigned i = 0; i < AT_ONCE; i++, p += VEC_SIZE, next += VEC_SIZE) {
				__builtin_prefetch(next);
				add_vector(sums, p, swap);
			}
		for (; left > 0; left--, p += VEC_SIZE)
			add_vector(sums, p, swap);
	}
}

/* All at once: the lanes stay in registers. The rest of a vector is filled up with zeros. */
static void whole(uint64_t sum[4], const struct iovec *span, size_t count)
{
	size_t size = span[count - 1].iov_len, rest = size % VEC_SIZE;
	vec sums[8] = {0};

	add_vectors(sums, span, count, false);
	join_vectors(sum, sums);
	if (rest > 0) {
		uint8_t last[VEC_SIZE] = {0};

		memcpy(last, (const uint8_t *)span[count - 1].iov_base + size - rest, rest);
		fletcher_words(sum, last, (rest + 3) / 4, false);
	}
}

static inline __attribute__((always_inline)) void add_lanes(
	uint64_t *lanes, const struct iovec *span, size_t count, bool swap)
{
	vec sums[8];

	memcpy(sums, lanes, sizeof(sums));
	add_vectors(sums, span, count, swap);
	memcpy(lanes, sums, sizeof(sums));
}

static void native(uint64_t *lanes, const struct iovec *span, size_t count)
{
	add_lanes(lanes, span, count, false);
}

static void byteswap(uint64_t *lanes, const struct iovec *span, size_t count)
{
	add_lanes(lanes, span, count, true);
}

#define FLETCHER_KERNEL(isa, cpu)                               \
	const struct abd_fletcher_kernel abd_fletcher_##isa = { \
		.name = #isa,                                   \
		.supported = (cpu),                             \
		.step = VEC_SIZE,                               \
		.whole = whole,                                 \
		.begin = begin,                                 \
		.native = native,                               \
		.byteswap = byteswap,                           \
		.join = join,                                   \
	}
