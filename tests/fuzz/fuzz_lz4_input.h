/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the lz4 fuzzers read an input: a header of choices, then either the block, or a list of
 * sequences from which a block is written. The list is needed because mutation alone seldom makes a
 * block that is right except for its last five bytes. A sequence takes three bytes: literals,
 * match, offset.
 * Invariant: one layout for all targets, so that a seed of one serves the others.
 *
 * Inputs must be dense where decoders change their method. So nearly half of the offset bytes mean
 * a distance of 1 to 20 (patterns that repeat). More than half of the length bytes mean a length
 * just above 15, around the 64 bytes of the widest vector, or around several such vectors. With
 * evenly spread lengths and offsets a wrong stride for offset 11 stayed undetected for ten
 * minutes; tests/plants requires that it is found within a minute.
 */
#ifndef FUZZ_LZ4_INPUT_H
#define FUZZ_LZ4_INPUT_H

#include "../codec/test_lz4_decode_case.h"
#include "fuzz_input.h"

/* The bytes of the header, named by what they choose. */
enum {
	FUZZ_DECODER, /* from 128 up, the rest is a list */
	FUZZ_CHUNK,   /* two bytes */
	FUZZ_SKIP = 3,
	FUZZ_MORE,       /* above 128: this much more room than the record needs */
	FUZZ_LESS,       /* above 128: this much less */
	FUZZ_STOP,       /* two bytes */
	FUZZ_SEED = 8,   /* two bytes */
	FUZZ_RANGE = 10, /* two bytes */
	FUZZ_HEADER = 12,
};

enum {
	FUZZ_SEQUENCES_MAX = 200,
	FUZZ_LENGTH_MAX = 962,
	FUZZ_BLOCK_MAX = FUZZ_SEQUENCES_MAX * (FUZZ_LENGTH_MAX * 2 + 16),
};

struct fuzz_lz4_input {
	const uint8_t *header;
	const uint8_t *block;
	size_t size;
	size_t output; /* what the tokens add up to */
	uint64_t seed;
};

static inline size_t fuzz_lz4_two(const uint8_t *header, int at)
{
	return (size_t)header[at] | (size_t)header[at + 1] << 8;
}

/*
 * Map a byte to a length of one of four classes. The last class is whole vectors and 0 to 2 bytes
 * more: there a copy by vectors overruns its end by least, or by most.
 */
static inline size_t fuzz_lz4_length(uint8_t byte)
{
	if (byte < 112)
		return byte % 20;
	if (byte < 176)
		return 15 + (size_t)(byte - 112);
	if (byte < 208)
		return 60 + (size_t)(byte - 176) * 7;
	return (size_t)(byte - 208) / 3 * 64 + (size_t)(byte - 208) % 3;
}

/*
 * Map a byte to an offset: its own value, or 1 to 20, or a distance that reaches close to the start
 * of the output, or one byte before it.
 */
static inline size_t fuzz_lz4_offset(uint8_t byte, size_t output)
{
	if (byte < 64)
		return byte;
	if (byte < 160)
		return 1 + (size_t)(byte - 64) % 20;
	return output + 1 > byte - 160u ? output + 1 - (byte - 160u) : 1;
}

static inline size_t fuzz_lz4_put_length(uint8_t *block, size_t at, size_t length)
{
	if (length < 15)
		return at;
	for (length -= 15; length >= 255; length -= 255)
		block[at++] = 255;
	block[at++] = (uint8_t)length;
	return at;
}

/*
 * Write the block of a list of sequences. The last sequence has no match. Matches are stretch times
 * as long as the list says. Returns the size of the block.
 */
static inline size_t fuzz_lz4_write(
	uint8_t *block, const uint8_t *list, size_t count, size_t stretch)
{
	size_t at = 0, output = 0;

	for (size_t i = 0; i < count; i++, list += 3) {
		size_t literals = fuzz_lz4_length(list[0]),
		       match = fuzz_lz4_length(list[1]) * stretch,
		       offset = fuzz_lz4_offset(list[2], output + literals);

		block[at++] =
			(uint8_t)((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15));
		at = fuzz_lz4_put_length(block, at, literals);
		/*
		 * No byte is like its neighbours: otherwise bytes copied from the wrong place could
		 * be equal by chance.
		 */
		for (size_t j = 0; j < literals; j++, output++)
			block[at++] = (uint8_t)(output * 0x9e3779b1u >> 13);
		if (i + 1 == count)
			break;
		block[at++] = (uint8_t)offset;
		block[at++] = (uint8_t)(offset >> 8);
		at = fuzz_lz4_put_length(block, at, match);
		output += match + 4;
	}
	return at;
}

/*
 * False: the input is too short for a header. stretch_max: 1, or more to make records much larger
 * than their input.
 */
static inline bool fuzz_lz4_read(
	struct fuzz_lz4_input *input, const uint8_t *data, size_t size, size_t stretch_max)
{
	static uint8_t written[FUZZ_BLOCK_MAX];
	size_t count = (size - FUZZ_HEADER) / 3;

	if (size < FUZZ_HEADER)
		return false;
	input->header = data;
	input->block = data + FUZZ_HEADER;
	input->size = size - FUZZ_HEADER;
	input->seed = fuzz_lz4_two(data, FUZZ_SEED) * 0x9e3779b97f4a7c15u;
	if (data[FUZZ_DECODER] >= 128) {
		size_t most = count < FUZZ_SEQUENCES_MAX ? count : FUZZ_SEQUENCES_MAX;
		size_t stretch = 1 + data[FUZZ_DECODER] / 8 % stretch_max;

		input->size = fuzz_lz4_write(written, input->block, most, stretch);
		input->block = written;
	}
	input->output = lz4_walk(input->block, input->size).output;
	return true;
}

/*
 * The room for the output starts from what the record needs, so that small changes of the input
 * test the rules at the output's end. Half of the inputs get no extra room, and half get nothing
 * subtracted.
 */
static inline size_t fuzz_lz4_room(const struct fuzz_lz4_input *input, size_t most)
{
	size_t room = input->output < most ? input->output : most;
	size_t more = input->header[FUZZ_MORE], less = input->header[FUZZ_LESS];

	room += more < 128 ? 0 : more - 128;
	less = less < 128 ? 0 : less - 128;
	return room - (less < room ? less : room);
}

static inline const struct abd_lz4_decoder *fuzz_lz4_decoder(const struct fuzz_lz4_input *input)
{
	const struct abd_lz4_decoder *able[8];
	size_t count = 0;

	for (size_t i = 0; abd_lz4_decoders[i] != NULL && count < 8; i++)
		if (abd_lz4_decoders[i]->supported())
			able[count++] = abd_lz4_decoders[i];
	return able[input->header[FUZZ_DECODER] % count];
}

static inline void fuzz_lz4_found(const struct fuzz_lz4_input *input, const char *fault)
{
	fprintf(stderr, "%s: %s (block %zu, record %zu)\n", fuzz_lz4_decoder(input)->name, fault,
		input->size, input->output);
	abort();
}

#endif
