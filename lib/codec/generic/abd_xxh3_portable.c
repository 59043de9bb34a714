/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3 with what every machine of the kind has: SSE2 on x86-64, NEON on 64-bit Arm.
 */
#include "abd_xxh3_words.h"

static bool supported(void)
{
	return true;
}

const struct abd_xxh3_kernel abd_xxh3_portable = {
	.name = "portable",
	.supported = supported,
	.whole = whole,
	.begin = begin,
	.add = add,
	.end = end,
};
