/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3 with vectors of 32 bytes.
 */
#include "abd_xxh3_words.h"

#include "abd_cpu.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX2);
}

const struct abd_xxh3_kernel abd_xxh3_avx2 = {
	.name = "avx2",
	.supported = supported,
	.whole = whole,
	.begin = begin,
	.add = add,
	.end = end,
};
