/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs hardly longer than what the decoder takes together where two of them meet, under literals as long as that: what lies
 * behind the second one belongs to nobody.
 */
#include "test_lz4_decode_case.h"

#include "abd_test.h"

#include <criterion/criterion.h>

enum { SEQUENCES = 60, BLOCK_MAX = SEQUENCES * 80 + 20, SHORTEST = 17, LONGEST = 70 };

static uint8_t block[BLOCK_MAX];

/* Literals of 15 to 70 bytes, matches of 4 to 18. *output: what it holds. */
static size_t literal_block(uint64_t seed, size_t *output)
{
	size_t at = 0;

	*output = 0;
	for (size_t i = 0; i < SEQUENCES; i++) {
		size_t literals = 15 + lz4_below(&seed, 56), match = lz4_below(&seed, 15);

		block[at++] = (uint8_t)(15 << 4 | match);
		block[at++] = (uint8_t)(literals - 15);
		for (size_t k = 0; k < literals; k++)
			block[at++] = (uint8_t)lz4_random(&seed);
		block[at++] = (uint8_t)(1 + lz4_below(&seed, 15));
		block[at++] = 0;
		*output += literals + match + 4;
	}
	block[at++] = 12 << 4;
	for (size_t k = 0; k < 12; k++)
		block[at++] = (uint8_t)lz4_random(&seed);
	*output += 12;
	return at;
}

Test(abd_lz4_short_runs, literals_end_where_their_run_does)
{
	for (size_t chunk = SHORTEST; chunk <= LONGEST; chunk++) {
		size_t output, size = literal_block(chunk, &output);

		for (size_t k = 0; abd_lz4_decoders[k] != NULL; k++) {
			struct lz4_case c = {abd_lz4_decoders[k], block, size, output, chunk,
				chunk % 7, output / 2, chunk};

			if (!c.decoder->supported() || strcmp(c.decoder->name, "liblz4") == 0)
				continue;

			const char *wrong = lz4_case_check(&c);

			abd_test_check(wrong == NULL, "%s, runs of %zu bytes: %s", c.decoder->name,
				chunk, wrong);
		}
	}
}
