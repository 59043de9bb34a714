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

static void native(uint64_t *sum, const uint8_t *words, size_t count)
{
	fletcher_words(sum, words, count, false);
}

static void byteswap(uint64_t *sum, const uint8_t *words, size_t count)
{
	fletcher_words(sum, words, count, true);
}

static void join(uint64_t sum[4], const uint64_t *lanes)
{
	memcpy(sum, lanes, 4 * sizeof(*sum));
}

const struct abd_fletcher_kernel abd_fletcher_scalar = {
	.name = "scalar",
	.supported = supported,
	.step = 4,
	.native = native,
	.byteswap = byteswap,
	.join = join,
};
