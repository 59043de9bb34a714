/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Non-temporal stores of 8 bytes from plain registers: what Linux's memcpy_flushcache() does, since
 * code inside Linux avoids vector registers. It is the baseline of the source's tables.
 */
#include "abd_flush_kernel.h"

#include "abd_cpu.h"

#include <emmintrin.h>
#include <string.h>

typedef uint64_t vec;
#define VEC_SIZE 8

static inline vec vec_load(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static inline void vec_stream(uint8_t *p, vec x)
{
	_mm_stream_si64((long long *)(void *)p, (long long)x);
}

#include "abd_flush_stream.h"

static bool movnti_supported(void)
{
	return abd_cpu_has(ABD_CPU_SSE2);
}

const struct abd_flush_kernel abd_flush_movnti = {
	.name = "movnti",
	.supported = movnti_supported,
	.lines = stream_lines,
	.fence = abd_flush_fence,
};
