/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of 3 bytes behind runs of 40: a sequence that begins in the long run reaches past the short
 * one, into memory that is not part of the block. By then so much is decoded that any two bytes are
 * a valid offset.
 */
#include "abd_lz4_decode.h"
#include "abd_test.h"

#include <lz4.h>

enum {
	FIRST = 65535,
	SEQUENCES = 400,
	LONG = 40,
	SHORT = 3,
	STRIDE = 128,
	RUNS = SEQUENCES,
	BLOCK_MAX = FIRST + 300 + SEQUENCES * 20,
	OUTPUT_MAX = FIRST + SEQUENCES * 40,
};

static uint8_t block[BLOCK_MAX], arena[RUNS * STRIDE], expected[OUTPUT_MAX], output[OUTPUT_MAX];
static struct iovec runs[RUNS];

static size_t put_sequence(size_t at, size_t literals, uint64_t *seed)
{
	size_t left = literals;

	block[at++] =
		(uint8_t)((literals < 15 ? literals : 15) << 4 | abd_test_random_below(seed, 15));
	if (literals >= 15) {
		for (left -= 15; left >= 255; left -= 255)
			block[at++] = 255;
		block[at++] = (uint8_t)left;
	}
	for (; literals > 0; literals--)
		block[at++] = (uint8_t)abd_test_random(seed);
	return at;
}

/* The block's size; *head: where its short sequences begin. */
static size_t block_make(uint64_t seed, size_t *head)
{
	size_t at = put_sequence(0, FIRST, &seed);

	for (size_t i = 0; i < SEQUENCES; i++) {
		block[at++] = (uint8_t)(1 + abd_test_random_below(&seed, 200));
		block[at++] = (uint8_t)abd_test_random_below(&seed, 200);
		if (i == 0)
			*head = at;
		at = put_sequence(at, abd_test_random_below(&seed, 15), &seed);
	}
	block[at++] = 1;
	block[at++] = 0;
	block[at++] = 12 << 4;
	memset(block + at, 7, 12);
	return at + 12;
}

/* Each run in a place of its own, with something else behind it. */
static void block_cut(size_t head, size_t size)
{
	size_t count = 1, at = head;

	memset(arena, 0x55, sizeof(arena));
	runs[0] = (struct iovec){block, head};
	for (; at < size; count++) {
		size_t piece = count % 2 == 1 ? LONG : SHORT;

		if (piece > size - at)
			piece = size - at;
		runs[count] = (struct iovec){arena + count * STRIDE, piece};
		memcpy(runs[count].iov_base, block + at, piece);
		at += piece;
	}
}

Test(abd_lz4_short_runs, what_lies_behind_a_short_run_is_not_decoded)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		size_t head, size = block_make(seed, &head);
		int there =
			LZ4_decompress_safe((char *)block, (char *)expected, (int)size, OUTPUT_MAX);

		block_cut(head, size);
		cr_assert_gt(there, FIRST);
		ABD_TEST_EACH(abd_lz4_decoder, decoder, abd_lz4_decoders) {
			abd_test_check(decoder->decode(output, (size_t)there, ABD_LZ4_STOP_WHOLE,
					       runs, 0, size, NULL, 0) == there &&
					       memcmp(output, expected, (size_t)there) == 0,
				"%s, seed %zu", decoder->name, (size_t)seed);
		}
	}
}
