/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: the decoders against liblz4, each run and output an exact allocation.
 * The first HEADER bytes of an input choose decoder, run lengths, skip, room and stop; the rest is the block;
 * fuzz_lz4_decode_seeds writes some to start from.
 * Room is counted from what the block's tokens add up to, so that small changes try the rules at the output's end.
 */
#include "../codec/test_lz4_decode_case.h"

#include <stdio.h>

enum { HEADER = 10, ROOM_MAX = 300 << 10 };

static const struct abd_lz4_decoder *nth_decoder(unsigned n)
{
	const struct abd_lz4_decoder *able[8];
	unsigned count = 0;

	for (size_t i = 0; abd_lz4_decoders[i] != NULL && count < 8; i++)
		if (abd_lz4_decoders[i]->supported() && strcmp(abd_lz4_decoders[i]->name, "liblz4") != 0)
			able[count++] = abd_lz4_decoders[i];
	return able[n % count];
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
	c.decoder = nth_decoder(data[0]);
	c.chunk = ((size_t)data[1] | (size_t)data[2] << 8) % 4097;
	c.skip = data[3] % 70;
	room = lz4_walk(c.src, c.src_size).output;
	if (room > ROOM_MAX)
		room = ROOM_MAX;
	room += data[4];
	c.dst_size = room > data[5] ? room - data[5] : 0;
	c.stop = ((size_t)data[6] | (size_t)data[7] << 8) % (c.dst_size + 2);
	c.seed = (uint64_t)data[8] | (uint64_t)data[9] << 8;
	c.seed *= 0x9e3779b97f4a7c15u;
	fault = lz4_case_check(&c);
	if (fault != NULL) {
		fprintf(stderr, "%s: %s (chunk %zu, room %zu)\n", c.decoder->name, fault, c.chunk, c.dst_size);
		abort();
	}
	return 0;
}
