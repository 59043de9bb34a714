/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The xxh3 kernels of this build.
 */
#include "abd_xxh3.h"

#define ABD_XXH3_KERNELS(K)           \
	ABD_ON_X86(K(avx512) K(avx2)) \
	K(portable)

#define ABD_XXH3_DECLARE(name) extern const struct abd_xxh3_kernel abd_xxh3_##name;
#define ABD_XXH3_ENTRY(name) &abd_xxh3_##name,

ABD_XXH3_KERNELS(ABD_XXH3_DECLARE)

const struct abd_xxh3_kernel *const abd_xxh3_kernels[] = {ABD_XXH3_KERNELS(ABD_XXH3_ENTRY) NULL};

struct abd_choice abd_xxh3_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "xxh3",
	.kernels = abd_xxh3_kernels,
};
