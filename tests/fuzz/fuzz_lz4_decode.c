/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: the decoders against liblz4. Each run and each output is an allocation of
 * exactly its size.
 */
#include "fuzz_lz4_input.h"

enum { ROOM_MAX = 300 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lz4_input input;
	struct lz4_case c;
	const char *fault;

	if (!fuzz_lz4_read(&input, data, size, 1))
		return 0;
	c.decoder = fuzz_lz4_decoder(&input);
	c.src = input.block;
	c.src_size = input.size;
	c.dst_size = fuzz_lz4_room(&input, ROOM_MAX);
	c.chunk = fuzz_lz4_two(data, FUZZ_CHUNK) % 4097;
	c.skip = data[FUZZ_SKIP] % 70;
	c.stop = fuzz_lz4_two(data, FUZZ_STOP) % (c.dst_size + 2);
	c.seed = input.seed;
	fault = lz4_case_check(&c);
	if (fault != NULL)
		fuzz_lz4_found(&input, fault);
	return 0;
}
