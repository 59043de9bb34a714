/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by carry-less multiplication, 64 bytes at a time.
 *
 * 16 bytes with D bits behind them count as their polynomial times x^D. Modulo crc32c's polynomial
 * these are the first eight bytes times x^(D + 64) and the second eight times x^D, which is again
 * 16 bytes: they can be added to the 16 bytes that lie D bits further on, and forgotten. So four
 * vectors are folded onto the next four, until four are left; then these onto one.
 *
 *      [ 0 ][ 1 ][ 2 ][ 3 ] [ 4 ][ 5 ][ 6 ][ 7 ] ...        0 is folded onto 4, 1 onto 5, ...
 *
 * The CPU's crc32 instruction takes that one, and the bytes behind it. A span of whole steps is
 * folded onto the next span.
 * Invariant: nothing outside the spans is loaded.
 * V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ", Intel, 2009.
 */
#include "abd_crc32c.h"
#include "abd_crc32c_words.h"

#include <immintrin.h>

enum { VEC = 64, STREAMS = 4, STEP = STREAMS * VEC };

/*
 * x^(D + 63) and x^(D - 1) modulo the polynomial, with x^i in bit 63 - i, to fold by D = 8 * VEC
 * and 8 * STEP bits. One power less than said above: a product has 127 bits, which count as 128.
 */
static const uint64_t by_vec[2] = {0x1c19243b00000000, 0x75bba45b00000000};
static const uint64_t by_step[2] = {0xe9a5d8be00000000, 0x1426a81500000000};

static inline __m512i pairs(const uint64_t pair[2])
{
	return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)pair));
}

static inline __m512i fold(__m512i x, __m512i factors, __m512i onto)
{
	__m512i first = _mm512_clmulepi64_epi128(x, factors, 0x00);
	__m512i second = _mm512_clmulepi64_epi128(x, factors, 0x11);

	return _mm512_ternarylogic_epi64(first, second, onto, 0x96); /* the sum of all three */
}

/* Fold x onto one vector, and add the size bytes at p, which are less than a step. */
static inline uint32_t finish(__m512i x[STREAMS], const uint8_t *p, size_t size)
{
	uint8_t last[VEC];
	__m512i factors = pairs(by_vec);

	for (int i = 1; i < STREAMS; i++)
		x[i] = fold(x[i - 1], factors, x[i]);
	for (; size >= VEC; p += VEC, size -= VEC)
		x[STREAMS - 1] = fold(x[STREAMS - 1], factors, _mm512_loadu_si512(p));
	_mm512_storeu_si512(last, x[STREAMS - 1]);
	return abd_crc32c_words(abd_crc32c_words(0, last, VEC), p, size);
}

/* The state after the spans from *span on that are whole steps, and after the span behind them. */
static inline __attribute__((always_inline)) uint32_t add_steps(
	uint32_t state, const struct iovec **span, const struct iovec *end)
{
	const struct iovec *at = *span;
	const uint8_t *p = at->iov_base;
	size_t size = at->iov_len - STEP;
	__m512i x[STREAMS], factors = pairs(by_step);

	for (int i = 0; i < STREAMS; i++)
		x[i] = _mm512_loadu_si512(p + i * VEC);
	x[0] = _mm512_xor_si512(x[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)state)));
	p += STEP;
	for (;;) {
		const char *next = abd_spans_next(at, (size_t)(end - at));

		for (; size >= STEP; p += STEP, size -= STEP, next += STEP)
			for (int i = 0; i < STREAMS; i++) {
				__builtin_prefetch(next + i * VEC);
				x[i] = fold(x[i], factors, _mm512_loadu_si512(p + i * VEC));
			}
		at++;
		if (size > 0 || at == end || at->iov_len < STEP)
			break;
		p = at->iov_base;
		size = at->iov_len;
	}
	*span = at;
	return finish(x, p, size);
}

static uint32_t add(uint32_t state, const struct iovec *span, size_t count)
{
	const struct iovec *end = span + count;

	while (span < end) {
		if (span->iov_len >= STEP) {
			state = add_steps(state, &span, end);
		} else {
			state = abd_crc32c_words(state, span->iov_base, span->iov_len);
			span++;
		}
	}
	return state;
}

const struct abd_crc32c_kernel abd_crc32c_vpclmul = {
	.name = "vpclmul",
	.supported = abd_cpu_runs_vpclmul,
	.add = add,
};
