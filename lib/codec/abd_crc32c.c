/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The crc32c kernels of this build.
 */
#include "abd_crc32c.h"

#define ABD_CRC32C_KERNELS(K)                     \
	ABD_ON_X86(K(vpclmul) K(pclmul) K(sse42)) \
	K(portable)

#define ABD_CRC32C_DECLARE(name) extern const struct abd_crc32c_kernel abd_crc32c_##name;
#define ABD_CRC32C_ENTRY(name) &abd_crc32c_##name,

ABD_CRC32C_KERNELS(ABD_CRC32C_DECLARE)

const struct abd_crc32c_kernel *const abd_crc32c_kernels[] = {
	ABD_CRC32C_KERNELS(ABD_CRC32C_ENTRY) NULL};

struct abd_choice abd_crc32c_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "crc32c",
	.kernels = abd_crc32c_kernels,
};
