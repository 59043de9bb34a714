/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The crc32c kernels of this build.
 */
#include "abd_crc32c.h"

const struct abd_crc32c_kernel *const abd_crc32c_kernels[] = {
#if ABD_ON_X86
	&abd_crc32c_vpclmul,
	&abd_crc32c_pclmul,
#endif
	&abd_crc32c_portable,
	NULL,
};

struct abd_choice abd_crc32c_choice = ABD_CHOICE("crc32c", abd_crc32c_kernels, .built_in = NULL);
