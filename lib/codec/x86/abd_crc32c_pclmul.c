/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c by the CPU's own instruction, three blocks at a time: the instruction takes three cycles,
 * but a new one can begin in each. A carry-less multiplication moves the results of the first two
 * blocks on by what lies behind them. (Folding 16 bytes by such multiplications alone, as
 * abd_crc32c_vpclmul.c does with 64, is no faster than one block at a time on AMD Zen 4.)
 * V. Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", Intel,
 * 2011.
 */
#include "abd_crc32c.h"
#include "abd_crc32c_words.h"

#include <wmmintrin.h>

enum { BLOCK = 256 };

/*
 * x^(8 n - 33) modulo the polynomial for n = 1 and 2 blocks, with x^i in bit 31 - i. The product
 * with a state has 63 bits, which count as 64, and crc32 multiplies them by x^32.
 */
static const uint32_t by_1 = 0xb9e02b86, by_2 = 0xdd7e3b0c;

static inline __m128i product(uint64_t state, uint32_t factor)
{
	return _mm_clmulepi64_si128(
		_mm_cvtsi64_si128((int64_t)state), _mm_cvtsi64_si128(factor), 0x00);
}

static uint32_t add_one(uint32_t state, const uint8_t *p, size_t size)
{
	for (; size >= 3 * BLOCK; p += 3 * BLOCK, size -= 3 * BLOCK) {
		uint64_t a = state, b = 0, c = 0;

		for (size_t i = 0; i < BLOCK; i += 8) {
			a = _mm_crc32_u64(a, abd_crc32c_word(p + i));
			b = _mm_crc32_u64(b, abd_crc32c_word(p + BLOCK + i));
			c = _mm_crc32_u64(c, abd_crc32c_word(p + 2 * BLOCK + i));
		}

		__m128i moved = _mm_xor_si128(product(a, by_2), product(b, by_1));

		state = (uint32_t)(_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(moved)) ^ c);
	}
	return abd_crc32c_words(state, p, size);
}

static uint32_t add(uint32_t state, const struct iovec *span, size_t count)
{
	for (; count > 0; count--, span++)
		state = add_one(state, span->iov_base, span->iov_len);
	return state;
}

const struct abd_crc32c_kernel abd_crc32c_pclmul = {
	.name = "pclmul",
	.supported = abd_cpu_runs_pclmul,
	.add = add,
};
