/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 with vectors of 64 bytes.
 */
#include <immintrin.h>

#define VEC_SIZE 64
#define ODD(v) _mm512_srli_epi64((__m512i)(v), 32)
#define ORDER _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3)
#define SWAP(v) _mm512_shuffle_epi8((__m512i)(v), _mm512_broadcast_i32x4(ORDER))

/* The even words' lanes before the odd words': word 0 with 8, 1 with 9, and so on. */
#define HALVES(i, which) (vec) _mm512_shuffle_i64x2((__m512i)sums[i], (__m512i)sums[4 + (i)], which)
#define LOW(i) HALVES(i, 0x44)
#define HIGH(i) HALVES(i, 0xee)
#define QUAD(i, order)      \
	(abd_fletcher_quad) \
		_mm512_castsi512_si256(_mm512_shuffle_i64x2((__m512i)(i), (__m512i)(i), order))
#define FIRST(i) QUAD(low[i], 0x08)
#define SECOND(i) QUAD(low[i], 0x0d)
#define QUADS(first, second, sums)                                                               \
	do {                                                                                     \
		vec low[4] = EACH(LOW), high[4] = EACH(HIGH);                                    \
                                                                                                 \
		FOLD(low, high);                                                                 \
		memcpy(first, (const abd_fletcher_quad[4])EACH(FIRST), 4 * sizeof(*(first)));    \
		memcpy(second, (const abd_fletcher_quad[4])EACH(SECOND), 4 * sizeof(*(second))); \
	} while (0)

#include "abd_fletcher_vector.h"

FLETCHER_KERNEL(avx512, abd_cpu_runs_avx512);
