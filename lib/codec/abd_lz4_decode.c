/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of decoders, and the choice among them.
 * Invariant: best first; the scalar one is always there and runs everywhere. Behind it liblz4,
 * taken by name only.
 */
#include "abd_lz4_decode.h"

#include <string.h>

extern const struct abd_lz4_decoder abd_lz4_decode_scalar;
extern const struct abd_lz4_decoder abd_lz4_decode_sse2;
extern const struct abd_lz4_decoder abd_lz4_decode_avx2;
extern const struct abd_lz4_decoder abd_lz4_decode_avx512;
extern const struct abd_lz4_decoder abd_lz4_decode_neon;
extern const struct abd_lz4_decoder abd_lz4_decode_liblz4;

const struct abd_lz4_decoder *const abd_lz4_decoders[] = {
#if defined(__x86_64__)
	&abd_lz4_decode_avx512,
	&abd_lz4_decode_avx2,
	&abd_lz4_decode_sse2,
#elif defined(__aarch64__)
	&abd_lz4_decode_neon,
#endif
	&abd_lz4_decode_scalar,
	&abd_lz4_decode_liblz4,
	NULL,
};

const struct abd_lz4_decoder *abd_lz4_decoder_get(const char *name)
{
	for (size_t i = 0; abd_lz4_decoders[i] != NULL; i++) {
		const struct abd_lz4_decoder *decoder = abd_lz4_decoders[i];

		if (name != NULL && strcmp(name, decoder->name) != 0)
			continue;
		if (decoder->supported())
			return decoder;
	}
	return NULL;
}
