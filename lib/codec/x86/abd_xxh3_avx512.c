/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3 with vectors of 64 bytes.
 */
#include "abd_xxh3_words.h"

#include "abd_cpu.h"

static bool supported(void)
{
	return abd_cpu_has(ABD_CPU_AVX512BW);
}

const struct abd_xxh3_kernel abd_xxh3_avx512 = {
	.name = "avx512",
	.supported = supported,
	.whole = whole,
	.begin = begin,
	.add = add,
	.end = end,
};
