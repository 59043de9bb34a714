/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Matches that reach back as far as the format allows. A compressor finds a match at 65,535 bytes
 * only by luck, so a block of only such matches is written here. Each of them crosses a move of the
 * window that scattered output goes through, wherever that move happens.
 */
#include "test_lz4_decode_case.h"

#include "abd_test.h"

enum { FAR = 65535, SEQUENCES = 30000, OUTPUT_MAX = 1 << 20, BLOCK_MAX = 1 << 19 };

static uint8_t block[BLOCK_MAX];

static size_t put_literals(size_t at, size_t count, uint64_t *seed)
{
	for (; count > 0; count--)
		block[at++] = (uint8_t)lz4_random(seed);
	return at;
}

/*
 * FAR literals, then matches of 4 to 18 bytes from back bytes behind each, some with literals in
 * front. *output: what it holds.
 */
static size_t far_block(size_t back, uint64_t seed, size_t *output)
{
	size_t at = 0, literals = FAR;

	*output = 0;
	for (size_t i = 0; i < SEQUENCES; i++) {
		size_t match = lz4_below(&seed, 15);

		block[at++] = (uint8_t)((literals < 15 ? literals : 15) << 4 | match);
		if (literals >= 15) {
			for (size_t left = literals - 15; left >= 255; left -= 255)
				block[at++] = 255;
			block[at++] = (uint8_t)((literals - 15) % 255);
		}
		at = put_literals(at, literals, &seed);
		block[at++] = (uint8_t)back;
		block[at++] = (uint8_t)(back >> 8);
		*output += literals + match + 4;
		literals = lz4_below(&seed, 4) == 0 ? lz4_below(&seed, 14) : 0;
	}
	block[at++] = 12 << 4;
	*output += 12;
	return put_literals(at, 12, &seed);
}

Test(abd_lz4_far, matches_reach_back_to_the_first_byte_they_may)
{
	static const size_t backs[] = {FAR, FAR - 1, FAR - 63, FAR - 64};

	for (size_t i = 0; i < sizeof(backs) / sizeof(backs[0]); i++) {
		size_t output, size = far_block(backs[i], i, &output);

		cr_assert(size < BLOCK_MAX && output < OUTPUT_MAX && output > 4 * FAR);
		for (size_t k = 0; abd_lz4_decoders[k] != NULL; k++) {
			struct lz4_case c = {
				abd_lz4_decoders[k], block, size, output, 4096, 0, output, i};

			if (!c.decoder->supported())
				continue;

			const char *wrong = lz4_case_check(&c);

			abd_test_check(wrong == NULL, "%s, %zu bytes back: %s", c.decoder->name,
				backs[i], wrong);
		}
	}
}
