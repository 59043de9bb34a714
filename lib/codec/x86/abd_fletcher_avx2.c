/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 with vectors of 32 bytes.
 */
#include <immintrin.h>

#define VEC_SIZE 32
#define ODD(v) _mm256_srli_epi64((__m256i)(v), 32)
#define ORDER _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)
#define SWAP(v) _mm256_shuffle_epi8((__m256i)(v), _mm256_broadcastsi128_si256(ORDER))

/* The even words' lanes before the odd words': word 0 with 4, 1 with 5, and so on. */
#define HALVES(i, which)    \
	(abd_fletcher_quad) \
		_mm256_permute2x128_si256((__m256i)sums[i], (__m256i)sums[4 + (i)], which)
#define FIRST(i) HALVES(i, 0x20)
#define SECOND(i) HALVES(i, 0x31)
#define QUADS(first, second, sums)                                                               \
	do {                                                                                     \
		memcpy(first, (const abd_fletcher_quad[4])EACH(FIRST), 4 * sizeof(*(first)));    \
		memcpy(second, (const abd_fletcher_quad[4])EACH(SECOND), 4 * sizeof(*(second))); \
	} while (0)

#include "abd_fletcher_vector.h"

FLETCHER_KERNEL(avx2, abd_cpu_runs_avx2);
