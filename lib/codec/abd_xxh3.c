/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The xxh3 kernels of this build.
 */
#include "abd_xxh3.h"

const struct abd_xxh3_kernel *const abd_xxh3_kernels[] = {
#if ABD_ON_X86
	&abd_xxh3_avx512,
	&abd_xxh3_avx2,
#endif
	&abd_xxh3_portable,
	NULL,
};

struct abd_choice abd_xxh3_choice = ABD_CHOICE("xxh3", abd_xxh3_kernels, .built_in = NULL);
