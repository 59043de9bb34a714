/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 a word at a time, for any machine.
 */
#include "abd_fletcher.h"
#include "abd_fletcher_words.h"

static void begin(uint64_t *sum)
{
	memset(sum, 0, 4 * sizeof(*sum));
}

static void native(uint64_t *sum, const struct iovec *span, size_t count)
{
	for (; count > 0; count--, span++)
		fletcher_words(sum, span->iov_base, span->iov_len / 4, false);
}

static void byteswap(uint64_t *sum, const struct iovec *span, size_t count)
{
	for (; count > 0; count--, span++)
		fletcher_words(sum, span->iov_base, span->iov_len / 4, true);
}

static void whole(uint64_t sum[4], const struct iovec *span, size_t count)
{
	size_t size = span[count - 1].iov_len;
	uint8_t last[4] = {0};

	begin(sum);
	native(sum, span, count);
	memcpy(last, (const uint8_t *)span[count - 1].iov_base + size - size % 4, size % 4);
	fletcher_words(sum, last, size % 4 > 0, false);
}

static void join(uint64_t sum[4], const uint64_t *lanes)
{
	memcpy(sum, lanes, 4 * sizeof(*sum));
}

const struct abd_fletcher_kernel abd_fletcher_scalar = {
	.name = "scalar",
	.supported = abd_cpu_runs_any,
	.step = 4,
	.whole = whole,
	.begin = begin,
	.native = native,
	.byteswap = byteswap,
	.join = join,
};
