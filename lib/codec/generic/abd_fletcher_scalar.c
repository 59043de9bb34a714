/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 a word at a time, for any machine.
 */
#include "abd_fletcher.h"
#include "abd_fletcher_words.h"

static bool supported(void)
{
	return true;
}

static void begin(uint64_t *sum)
{
	memset(sum, 0, 4 * sizeof(*sum));
}

static void native(uint64_t *sum, const uint8_t *words, size_t size)
{
	fletcher_words(sum, words, size / 4, false);
}

static void byteswap(uint64_t *sum, const uint8_t *words, size_t size)
{
	fletcher_words(sum, words, size / 4, true);
}

static void whole(uint64_t sum[4], const void *span, size_t size)
{
	const uint8_t *p = span;
	uint8_t last[4] = {0};

	begin(sum);
	fletcher_words(sum, p, size / 4, false);
	memcpy(last, p + size - size % 4, size % 4);
	fletcher_words(sum, last, size % 4 > 0, false);
}

static void join(uint64_t sum[4], const uint64_t *lanes)
{
	memcpy(sum, lanes, 4 * sizeof(*sum));
}

const struct abd_fletcher_kernel abd_fletcher_scalar = {
	.name = "scalar",
	.supported = supported,
	.step = 4,
	.whole = whole,
	.begin = begin,
	.native = native,
	.byteswap = byteswap,
	.join = join,
};
