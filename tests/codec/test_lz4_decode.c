/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoders against liblz4: valid, cut, damaged and hostile blocks, cut into runs of every
 * length.
 * Invariant: every test runs every decoder that this CPU has; a failure prints the seed that brings
 * it back.
 */
#include "abd_test.h"
#include "test_lz4_decode_case.h"

#include <lz4hc.h>

enum { CASES = 100000, RECORD_MAX = 200000, BLOCK_MAX = LZ4_COMPRESSBOUND(RECORD_MAX) };

static uint8_t record[RECORD_MAX], block[BLOCK_MAX];

static const struct abd_lz4_decoder *nth_decoder(size_t n)
{
	const struct abd_lz4_decoder *able[8];
	size_t count = 0;

	for (size_t i = 0; abd_lz4_decoders[i] != NULL && count < 8; i++)
		if (abd_lz4_decoders[i]->supported())
			able[count++] = abd_lz4_decoders[i];
	return able[n % count];
}

/* Bytes that liblz4 finds matches of many lengths and distances in. */
static void record_fill(size_t size, uint64_t *seed)
{
	size_t at = 0;

	while (at < size) {
		size_t length = 1 + lz4_below(seed, lz4_below(seed, 8) == 0 ? 600 : 30), back;

		if (at == 0 || lz4_below(seed, 3) == 0) {
			while (length-- > 0 && at < size)
				record[at++] = (uint8_t)lz4_random(seed);
			continue;
		}
		back = 1 + lz4_below(seed, lz4_below(seed, 2) == 0 && at > 40 ? 40 : at);
		while (length-- > 0 && at < size) {
			record[at] = back <= at ? record[at - back] : 7;
			at++;
		}
	}
}

static size_t block_compress(size_t size, uint64_t *seed)
{
	int packed;

	record_fill(size, seed);
	if (lz4_below(seed, 4) == 0)
		packed = LZ4_compress_HC((char *)record, (char *)block, (int)size, BLOCK_MAX,
			(int)lz4_below(seed, 13));
	else
		packed = LZ4_compress_fast((char *)record, (char *)block, (int)size, BLOCK_MAX,
			1 + (int)lz4_below(seed, 20));
	return (size_t)packed;
}

static size_t put_extension(size_t at, size_t length)
{
	for (length -= 15; length >= 255; length -= 255)
		block[at++] = 255;
	block[at++] = (uint8_t)length;
	return at;
}

/* Sequences no compressor writes: any offset, any length, an end that bends the rules. */
static size_t block_write(uint64_t *seed)
{
	size_t at = 0, output = 0, sequences = lz4_below(seed, 12);

	for (size_t i = 0; i <= sequences; i++) {
		size_t literals = lz4_below(seed, lz4_below(seed, 6) == 0 ? 400 : 17);
		size_t match = lz4_below(seed, lz4_below(seed, 4) == 0 ? 700 : 17), offset;

		block[at++] =
			(uint8_t)((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15));
		if (literals >= 15)
			at = put_extension(at, literals);
		for (size_t j = 0; j < literals; j++)
			block[at++] = (uint8_t)lz4_random(seed);
		output += literals;
		if (i == sequences)
			break;
		offset = 1 + lz4_below(seed,
				     output + (lz4_below(seed, 40) == 0 ? 2 : 0) + (output == 0));
		if (lz4_below(seed, 300) == 0)
			offset = 0;
		block[at++] = (uint8_t)offset;
		block[at++] = (uint8_t)(offset >> 8);
		if (match >= 15)
			at = put_extension(at, match);
		output += match + 4;
	}
	return at;
}

static size_t block_damage(size_t size, uint64_t *seed)
{
	static const uint8_t hostile[] = {0, 1, 0x0f, 0xf0, 0xff, 0xfe};

	for (size_t n = 1 + lz4_below(seed, 3); n > 0 && size > 0; n--) {
		size_t at = lz4_below(seed, size);

		switch (lz4_below(seed, 4)) {
		case 0:
			block[at] ^= (uint8_t)(1u << lz4_below(seed, 8));
			break;
		case 1:
			block[at] = hostile[lz4_below(seed, sizeof(hostile))];
			break;
		case 2:
			size = at;
			break;
		default:
			memset(block + at, 255, size - at < 20 ? size - at : 20);
		}
	}
	return size;
}

static size_t record_size(uint64_t *seed)
{
	size_t pick = lz4_below(seed, 2000);

	if (pick == 0)
		return 1 + lz4_below(seed, RECORD_MAX);
	return 1 + lz4_below(seed, pick < 60 ? 20000 : pick < 1000 ? 1500 : 150);
}

static const char *random_case(uint64_t seed)
{
	struct lz4_case c = {.decoder = nth_decoder(lz4_below(&seed, 1000)), .src = block};
	bool written = lz4_below(&seed, 3) == 0;

	c.src_size = written ? block_write(&seed) : block_compress(record_size(&seed), &seed);
	if (lz4_below(&seed, 3) == 0)
		c.src_size = block_damage(c.src_size, &seed);
	c.dst_size = lz4_walk(block, c.src_size).output;
	if (c.dst_size > RECORD_MAX)
		c.dst_size = RECORD_MAX;
	if (lz4_below(&seed, 2) == 0)
		c.dst_size += lz4_below(&seed, 80);
	else if (lz4_below(&seed, 3) == 0)
		c.dst_size -= lz4_below(&seed, c.dst_size < 70 ? c.dst_size + 1 : 70);
	c.chunk = lz4_below(&seed, 3) == 0
			  ? 0
			  : 1 + lz4_below(&seed, lz4_below(&seed, 2) == 0 ? 4096 : 128);
	c.skip = lz4_below(&seed, 3) == 0 ? lz4_below(&seed, 70) : 0;
	c.stop = lz4_below(&seed, c.dst_size + 2);
	c.seed = lz4_random(&seed);
	return lz4_case_check(&c);
}

static void expect_case(const struct lz4_case *c)
{
	const char *fault = lz4_case_check(c);

	cr_assert(fault == NULL, "%s: %s; chunk %zu skip %zu dst_size %zu stop %zu",
		c->decoder->name, fault, c->chunk, c->skip, c->dst_size, c->stop);
}

Test(abd_lz4_decode, does_what_liblz4_does_on_100000_blocks)
{
	for (uint64_t seed = 1; seed <= abd_test_share(CASES); seed++) {
		const char *fault = random_case(seed);

		cr_assert(fault == NULL, "%s: seed %llu", fault, (unsigned long long)seed);
	}
}

Test(abd_lz4_decode, runs_of_every_length_give_the_same)
{
	uint64_t seed = 4096;
	size_t size = block_compress(6000, &seed);

	for (size_t chunk = 1; chunk <= 4096; chunk++) {
		struct lz4_case c = {
			nth_decoder(chunk), block, size, 6000, chunk, chunk % 13, chunk, chunk};

		expect_case(&c);
	}
}

Test(abd_lz4_decode, every_stop_is_a_prefix_of_the_whole)
{
	uint64_t seed = 77;

	for (size_t size = 1; size < 700; size += 97) {
		size_t packed = block_compress(size, &seed);

		for (size_t stop = 0; stop <= size + 1; stop++) {
			struct lz4_case c = {nth_decoder(stop + size), block, packed, size,
				stop % 90, 0, stop, stop};

			expect_case(&c);
		}
	}
}

Test(abd_lz4_decode, every_room_is_judged_as_liblz4_judges_it)
{
	uint64_t seed = 5;

	for (size_t round = 0; round < 60; round++) {
		size_t packed = round % 2 == 0 ? block_write(&seed) : block_compress(300, &seed);
		size_t output = lz4_walk(block, packed).output;

		for (size_t i = 0; i < 160; i++) {
			size_t room = output + 80 > i ? output + 80 - i : 0;
			struct lz4_case c = {
				nth_decoder(i), block, packed, room, i % 70, 0, room / 2, i};

			expect_case(&c);
		}
	}
}

Test(abd_lz4_decode, every_truncation_is_judged_as_liblz4_judges_it)
{
	uint64_t seed = 6;
	size_t packed = block_compress(900, &seed);

	for (size_t size = 0; size <= packed; size++) {
		struct lz4_case c = {
			nth_decoder(size), block, size, 900, size % 100, size % 7, size, size};

		expect_case(&c);
	}
}

Test(abd_lz4_decode, offset_0_is_rejected_by_every_decoder)
{
	/* Four literals, a match of 4 at offset 0, then 12 literals. */
	static const uint8_t zero[] = {
		0x40, 'a', 'b', 'c', 'd', 0, 0, 0xc0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	char room[20];

	cr_assert_eq(LZ4_decompress_safe((const char *)zero, room, sizeof(zero), 20), 20);
	for (size_t i = 0; abd_lz4_decoders[i] != NULL; i++) {
		struct lz4_case c = {abd_lz4_decoders[i], zero, sizeof(zero), 20, 3, 0, 10, 0};

		if (c.decoder->supported())
			expect_case(&c);
	}
}

Test(abd_lz4_decode, a_match_at_offset_0_is_rejected_in_a_group_too)
{
	/* Four literals, a match of 4 or 29 at offset 0, and room enough for the quick loop. */
	static uint8_t zero[2][100] = {
		{0x40, 'a', 'b', 'c', 'd', 0, 0}, {0x4f, 'a', 'b', 'c', 'd', 0, 0, 10}};
	static char hub[64 + ABD_LZ4_HUB_MARGIN], room[1000];

	for (size_t i = 0; abd_lz4_decoders[i / 2] != NULL; i++) {
		const struct abd_lz4_decoder *decoder = abd_lz4_decoders[i / 2];
		const struct iovec run = {zero[i % 2], sizeof(zero[0])};

		if (decoder->supported())
			cr_assert_eq(decoder->decode(room, sizeof(room), ABD_LZ4_STOP_PREFIX, &run,
					     0, sizeof(zero[0]), hub, 64),
				-EBADMSG, "%s", decoder->name);
	}
}

/*
 * Blocks with damage, offset 0 among it, cut or not: a result that only some decoders give is a
 * fault, whichever is right.
 */
Test(abd_lz4_decode, every_decoder_judges_alike)
{
	uint64_t seed = 7;
	uint8_t room[3000];
	size_t refused = 0, taken = 0;

	for (size_t n = 0; n < abd_test_share(CASES); n++) {
		size_t size = 1 + lz4_below(&seed, 2000), packed = block_compress(size, &seed);
		size_t dst_size = lz4_below(&seed, 3) == 0 ? size : lz4_below(&seed, size + 9);
		size_t stop = lz4_below(&seed, 2) == 0 ? ABD_LZ4_STOP_WHOLE : ABD_LZ4_STOP_PREFIX;
		struct iovec run = {block, packed};
		ssize_t first = 0;

		for (size_t damage = lz4_below(&seed, 3); damage > 0; damage--) {
			size_t at = lz4_below(&seed, packed);

			block[at] = (uint8_t)(lz4_below(&seed, 2) == 0 ? 0 : lz4_random(&seed));
			block[at + (at + 1 < packed)] = 0;
		}
		for (size_t i = 0; abd_lz4_decoders[i] != NULL; i++) {
			const struct abd_lz4_decoder *decoder = abd_lz4_decoders[i];
			ssize_t result;

			if (!decoder->supported())
				continue;
			result = decoder->decode(room, dst_size, stop, &run, 0, packed, NULL, 0);
			if (i == 0 || !abd_lz4_decoders[i - 1]->supported())
				first = result;
			cr_assert_eq(result, first, "%s: case %zu: %zd, not %zd", decoder->name, n,
				result, first);
		}
		refused += first < 0;
		taken += first > 0;
	}
	cr_assert(refused > 0 && taken > 0);
}

/* 17 MiB of 255 add up to more than 32 bits hold: a wrapped length must not pass. */
Test(abd_lz4_decode, lengths_beyond_the_address_space_are_rejected)
{
	enum { RUN = 65536, RUNS = 260 };
	static uint8_t all[RUN], first[RUN];
	static struct iovec runs[RUNS];
	uint8_t room[64];

	memset(all, 255, sizeof(all));
	for (size_t i = 0; i < RUNS; i++)
		runs[i] = (struct iovec){all, RUN};
	runs[0].iov_base = first;
	ABD_TEST_EACH(abd_lz4_decoder, decoder, abd_lz4_decoders) {
		memset(first, 255, RUN);
		cr_assert_eq(
			decoder->decode(room, 64, SIZE_MAX, runs, 0, (size_t)RUN * RUNS, NULL, 0),
			-EBADMSG);
		first[0] = 0x1f;
		first[1] = 'x';
		first[2] = 1;
		first[3] = 0;
		cr_assert_eq(
			decoder->decode(room, 64, SIZE_MAX, runs, 0, (size_t)RUN * RUNS, NULL, 0),
			-EBADMSG);
	}
}

Test(abd_lz4_decode, empty_output_takes_the_empty_block_only)
{
	for (unsigned byte = 0; byte < 256; byte++) {
		uint8_t src[2] = {(uint8_t)byte, 0};

		for (size_t size = 0; size <= 2; size++) {
			struct lz4_case c = {nth_decoder(byte), src, size, 0, 1, 0, 1, 0};

			expect_case(&c);
		}
	}
}

Test(abd_lz4_decode, scattered_output_is_right_beyond_the_window)
{
	uint64_t seed = 99;

	for (size_t round = 0; round < 40; round++) {
		size_t size = RECORD_MAX - lz4_below(&seed, 70000),
		       packed = block_compress(size, &seed);
		struct lz4_case c = {
			nth_decoder(round), block, packed, size, 4096, 0, size / 3, seed};

		expect_case(&c);
	}
}

Test(abd_lz4_decode, a_match_longer_than_the_window_is_scattered_whole)
{
	memset(record, 'z', RECORD_MAX);
	int packed = LZ4_compress_default((char *)record, (char *)block, RECORD_MAX, BLOCK_MAX);

	for (size_t i = 0; i < 8; i++) {
		struct lz4_case c = {nth_decoder(i), block, (size_t)packed, RECORD_MAX, 50 * i, 0,
			70000, i << 13};

		expect_case(&c);
	}
}

Test(abd_lz4_decode, decoders_are_found_by_name)
{
	cr_assert_null(abd_choice_find(&abd_lz4_choice, "no such decoder"));
	cr_assert_not_null(abd_choice_find(&abd_lz4_choice, NULL));
	for (size_t i = 0; abd_lz4_decoders[i] != NULL; i++) {
		const struct abd_lz4_decoder *decoder = abd_lz4_decoders[i];
		const struct abd_kernel *found = abd_choice_find(&abd_lz4_choice, decoder->name);

		cr_assert(found == (decoder->supported() ? &decoder->kernel : NULL));
	}
}
