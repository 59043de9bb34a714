/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoders of this build. liblz4 comes last, behind a decoder that every machine supports, so
 * it serves only when it is chosen by name.
 */
#include "abd_lz4_decode.h"

#define ABD_LZ4_DECODERS(K)                   \
	ABD_ON_X86(K(avx512) K(avx2) K(sse2)) \
	ABD_ON_ARM64(K(neon))                 \
	K(scalar)                             \
	K(liblz4)

#define ABD_LZ4_DECLARE(name) extern const struct abd_lz4_decoder abd_lz4_decode_##name;
#define ABD_LZ4_ENTRY(name) &abd_lz4_decode_##name,

ABD_LZ4_DECODERS(ABD_LZ4_DECLARE)

const struct abd_lz4_decoder *const abd_lz4_decoders[] = {ABD_LZ4_DECODERS(ABD_LZ4_ENTRY) NULL};

struct abd_choice abd_lz4_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "lz4",
	.kernels = abd_lz4_decoders,
};
