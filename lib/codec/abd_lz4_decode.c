/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoders of this build.
 */
#include "abd_lz4_decode.h"

const struct abd_lz4_decoder *const abd_lz4_decoders[] = {
#if ABD_ON_X86
	&abd_lz4_decode_avx512,
	&abd_lz4_decode_avx2,
#endif
#if ABD_ON_ARM64
	&abd_lz4_decode_neon,
#endif
	&abd_lz4_decode_portable,
	NULL,
};

struct abd_choice abd_lz4_choice = ABD_CHOICE("lz4", abd_lz4_decoders, .built_in = NULL);
