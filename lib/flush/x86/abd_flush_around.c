/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies around the cache. The source is compiled for non-temporal stores of 16, 32 and 64 bytes,
 * and of 8 bytes from plain registers, movnti. Linux's memcpy_flushcache() has these, since code
 * inside Linux avoids vector registers; they are the baseline of the source's tables.
 *
 * Invariant: the stores of a line follow each other at once, so that it leaves its write-combining
 * buffer whole. There are about a dozen such buffers, and a line that is evicted half filled goes
 * to memory in pieces.
 */
#include "abd_flush_kernel.h"

#include <immintrin.h>
#include <string.h>

#if defined(ABD_FOR_AVX512)
typedef __m512i vec;
#elif defined(ABD_FOR_AVX2)
typedef __m256i vec;
#elif defined(ABD_FOR_MOVNTI)
typedef long long vec;
#else
typedef __m128i vec;
#endif

static inline void vec_stream(vec *p, vec x)
{
#if defined(ABD_FOR_AVX512)
	_mm512_stream_si512(p, x);
#elif defined(ABD_FOR_AVX2)
	_mm256_stream_si256(p, x);
#elif defined(ABD_FOR_MOVNTI)
	_mm_stream_si64(p, x);
#else
	_mm_stream_si128(p, x);
#endif
}

static inline void line_stream(uint8_t *dst, const uint8_t *src)
{
	vec x[ABD_LINE_SIZE / sizeof(vec)];

	/* All loads first: src and dst may be the same line. */
	for (size_t i = 0; i < ABD_LINE_SIZE / sizeof(vec); i++)
		memcpy(&x[i], src + i * sizeof(vec), sizeof(vec));
	for (size_t i = 0; i < ABD_LINE_SIZE / sizeof(vec); i++)
		vec_stream((vec *)(void *)dst + i, x[i]);
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

static void stream_words(void *dst, const void *src, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		long long word;

		memcpy(&word, (const char *)src + i * sizeof(word), sizeof(word));
		_mm_stream_si64((long long *)dst + i, word);
	}
}

#define KERNEL(suffix, kernel_name, cpu, copy)               \
	const struct abd_flush_kernel abd_flush_##suffix = { \
		.name = (kernel_name),                       \
		.supported = (cpu),                          \
		.lines = (copy),                             \
		.words = stream_words,                       \
		.fence = abd_flush_fence,                    \
	}

#if defined(ABD_FOR_AVX512)
KERNEL(avx512, "nt-avx512", abd_cpu_runs_avx512, stream_lines);
#elif defined(ABD_FOR_AVX2)
KERNEL(avx2, "nt-avx2", abd_cpu_runs_avx2, stream_lines);
#elif defined(ABD_FOR_MOVNTI)
KERNEL(movnti, "movnti", abd_cpu_runs_sse2, stream_lines);
#else
KERNEL(sse2, "nt-sse2", abd_cpu_runs_sse2, stream_lines);

/*
 * movdir64b: a direct store, memory to memory, of 64 bytes that arrive as one write, for CPUs that
 * have it (Tremont, Tiger Lake and Sapphire Rapids first). The source's review expects it to change
 * the picture; so it is a kernel of its own.
 */
static __attribute__((target("movdir64b"))) void movdir64b_lines(
	void *dst, const void *src, size_t count)
{
	const uint8_t *from = src;
	uint8_t *to = dst;

	for (; count > 0; count--) {
		_movdir64b(to, from);
		from += ABD_LINE_SIZE;
		to += ABD_LINE_SIZE;
	}
}

KERNEL(movdir64b, "movdir64b", abd_cpu_runs_movdir64b, movdir64b_lines);
#endif
