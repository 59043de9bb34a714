/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: the decoders against liblz4, each run and output an exact allocation.
 * The first HEADER bytes of an input choose decoder, run lengths, skip, room and stop. The rest is the block
 * (fuzz_lz4_decode_seeds writes some to start from), or a list of sequences to write one from: mutation alone seldom makes
 * a block that is right but for its last five bytes.
 * Room is counted from what the block's tokens add up to, so that small changes try the rules at the output's end.
 */
#include "../codec/test_lz4_decode_case.h"

#include <stdio.h>

enum { HEADER = 10, ROOM_MAX = 300 << 10, SEQUENCES_MAX = 200, BLOCK_MAX = SEQUENCES_MAX * 1200 };

static uint8_t block[BLOCK_MAX];

static const struct abd_lz4_decoder *nth_decoder(unsigned n)
{
	const struct abd_lz4_decoder *able[8];
	unsigned count = 0;

	for (size_t i = 0; abd_lz4_decoders[i] != NULL && count < 8; i++)
		if (abd_lz4_decoders[i]->supported() &&
			strcmp(abd_lz4_decoders[i]->name, "liblz4") != 0)
			able[count++] = abd_lz4_decoders[i];
	return able[n % count];
}

/* Mostly short, up to about a thousand: lengths around 15, and long enough for every way of copying. */
static size_t length_of(uint8_t byte)
{
	return byte < 240 ? byte % 20 : (size_t)(byte - 240) * 64;
}

static size_t put_extension(size_t at, size_t length)
{
	for (length -= 15; length >= 255; length -= 255)
		block[at++] = 255;
	block[at++] = (uint8_t)length;
	return at;
}

/* Three bytes a sequence: literals, match, offset. The last has no match. */
static size_t block_write(const uint8_t *list, size_t count)
{
	size_t at = 0, output = 0;

	for (size_t i = 0; i < count; i++, list += 3) {
		size_t literals = length_of(list[0]), match = length_of(list[1]), offset = list[2];

		block[at++] =
			(uint8_t)((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15));
		if (literals >= 15)
			at = put_extension(at, literals);
		memset(block + at, (int)(i + 'a'), literals);
		for (size_t j = 0; j < literals; j += 3)
			block[at + j] = (uint8_t)j;
		at += literals;
		output += literals;
		if (i + 1 == count)
			break;
		/* The upper half counts from the output's start, and one before it. */
		if (offset >= 128)
			offset = output + 1 > offset - 128 ? output + 1 - (offset - 128) : 1;
		block[at++] = (uint8_t)offset;
		block[at++] = (uint8_t)(offset >> 8);
		if (match >= 15)
			at = put_extension(at, match);
		output += match + 4;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lz4_case c;
	const char *fault;
	size_t room;

	if (size < HEADER)
		return 0;
	c.src = data + HEADER;
	c.src_size = size - HEADER;
	if (data[0] >= 128) {
		size_t count = c.src_size / 3 < SEQUENCES_MAX ? c.src_size / 3 : SEQUENCES_MAX;

		c.src_size = block_write(c.src, count);
		c.src = block;
	}
	c.decoder = nth_decoder(data[0]);
	c.chunk = ((size_t)data[1] | (size_t)data[2] << 8) % 4097;
	c.skip = data[3] % 70;
	room = lz4_walk(c.src, c.src_size).output;
	if (room > ROOM_MAX)
		room = ROOM_MAX;
	/* Half of the inputs get just the room they need. */
	room += data[4] < 128 ? 0 : data[4] - 128;
	if (data[5] >= 128)
		room -= room < data[5] - 128u ? room : data[5] - 128u;
	c.dst_size = room;
	c.stop = ((size_t)data[6] | (size_t)data[7] << 8) % (c.dst_size + 2);
	c.seed = (uint64_t)data[8] | (uint64_t)data[9] << 8;
	c.seed *= 0x9e3779b97f4a7c15u;
	fault = lz4_case_check(&c);
	if (fault != NULL) {
		fprintf(stderr, "%s: %s (chunk %zu, room %zu)\n", c.decoder->name, fault, c.chunk,
			c.dst_size);
		abort();
	}
	return 0;
}
