/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lengths as large as lz4's extension bytes can make them: 16,843,009 bytes of 255 add up to 2^32 -
 * 1, so that in 32 bits the next byte brings the sum back to what a small record would have.
 */
#include "abd_lz4_decode.h"

#include "abd_test.h"

enum {
	RUN = 65536,
	EXTENSIONS = 16843009,
	WHOLE_RUNS = 256,
	LAST_EXTENSIONS = EXTENSIONS - (RUN - 4) - WHOLE_RUNS * RUN,
	OUTPUT = 64,
	LITERALS = 45, /* and 1 before the match of 18 that the wrapped sum stands for */
};

static uint8_t first[RUN], same[RUN], last[LAST_EXTENSIONS + 3 + LITERALS];
static struct iovec runs[WHOLE_RUNS + 2];

/* A literal, a match one byte back whose length never ends, 45 literals. Returns its size. */
static size_t make_block(void)
{
	static const uint8_t rest[] = {0, 0xf0, LITERALS - 15};
	static const uint8_t head[] = {0x1f, 'x', 1, 0};

	memset(first, 255, sizeof(first));
	memcpy(first, head, sizeof(head));
	memset(same, 255, sizeof(same));
	memset(last, 255, LAST_EXTENSIONS);
	memcpy(last + LAST_EXTENSIONS, rest, sizeof(rest));
	memset(last + LAST_EXTENSIONS + sizeof(rest), 'y', LITERALS);
	runs[0] = (struct iovec){first, RUN};
	for (size_t i = 1; i <= WHOLE_RUNS; i++)
		runs[i] = (struct iovec){same, RUN};
	runs[WHOLE_RUNS + 1] = (struct iovec){last, sizeof(last)};
	return (size_t)RUN * (WHOLE_RUNS + 1) + sizeof(last);
}

Test(abd_lz4_lengths, a_match_of_more_than_4_gib_is_not_one_of_18_bytes)
{
	size_t size = make_block();
	uint8_t room[OUTPUT + 64];

	ABD_TEST_EACH(abd_lz4_decoder, decoder, abd_lz4_decoders) {
		cr_assert_eq(
			decoder->decode(room, OUTPUT, ABD_LZ4_STOP_WHOLE, runs, 0, size, NULL, 0),
			-EBADMSG, "%s", decoder->name);

		/* What is wanted of it is there all the same. */
		memset(room, 0, sizeof(room));
		cr_assert_eq(
			decoder->decode(room, OUTPUT, ABD_LZ4_STOP_PREFIX, runs, 0, size, NULL, 0),
			OUTPUT, "%s", decoder->name);
		for (size_t at = 0; at < OUTPUT; at++)
			cr_assert_eq(room[at], 'x', "%s: byte %zu", decoder->name, at);
	}
}
