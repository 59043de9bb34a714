/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: writing plain blocks. A list makes a record, which is repeated with a few bytes
 * changed, so that it has many pages. Compressed from one piece into one, liblz4 must decode it;
 * from pages, or from pieces of any length, into pieces of any length, the block must be the same,
 * and with a byte less of room there must be none. Every piece is an allocation of exactly its
 * size.
 */
#include "fuzz_lz4_buffers.h"

enum { RECORD_MAX = 200 << 10, STRETCH_MAX = 4 };

static uint8_t record[RECORD_MAX], again[RECORD_MAX], packed[LZ4_COMPRESSBOUND(RECORD_MAX)];
static uint8_t other[sizeof(packed)];

/* Repeat the first made bytes up to size; every 64th or so is another one. */
static void repeat(size_t made, size_t size, uint64_t state)
{
	for (size_t i = made; i < size; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		record[i] = (uint8_t)(record[i - made] + (state >> 58 == 0));
	}
}

/* Compress in one piece. Returns the block's size, or 0. */
static size_t linear(size_t size)
{
	abd_t *src = abd_get_from_buf(record, size),
	      *dst = abd_get_from_buf(packed, sizeof(packed));
	ssize_t got = abd_lz4_compress(dst, src, 0, 0, size);

	abd_free(src);
	abd_free(dst);
	return got > 0 ? (size_t)got : 0;
}

static const char *check_runs(const struct fuzz_lz4_input *input, size_t size, size_t packed_size)
{
	size_t chunk = input->header[FUZZ_SKIP] % 2 == 0
			       ? 4096
			       : fuzz_lz4_two(input->header, FUZZ_CHUNK) % 4097;
	size_t skip = fuzz_lz4_two(input->header, FUZZ_STOP) % 4096;
	struct fuzz_lz4_buffer src, dst;
	const char *fault = NULL;

	fuzz_lz4_buffer_make(&src, size, chunk, skip, input->seed);
	fuzz_lz4_buffer_make(&dst, packed_size, fuzz_lz4_two(input->header, FUZZ_CHUNK) % 1000, 0,
		input->seed + 1);
	abd_copy_from_buf_off(src.abd, record, skip, size);
	if (abd_lz4_compress(dst.abd, src.abd, 0, skip, size) != (ssize_t)packed_size) {
		fault = "runs: another size";
	} else {
		abd_copy_to_buf(other, dst.abd, packed_size);
		if (memcmp(other, packed, packed_size) != 0)
			fault = "runs: another block";
	}
	if (fault == NULL && abd_lz4_compress(dst.abd, src.abd, 1, skip, size) != -ENOSPC)
		fault = "runs: more than there is room for";
	fuzz_lz4_buffer_free(&src);
	fuzz_lz4_buffer_free(&dst);
	return fault;
}

static const char *check(const struct fuzz_lz4_input *input)
{
	size_t made = fuzz_lz4_model(record, sizeof(record), input->block, input->size);
	size_t size = fuzz_lz4_two(input->header, FUZZ_RANGE) * 2 + input->header[FUZZ_MORE],
	       packed_size;

	if (made == 0)
		return NULL;
	size = size > made ? size : made;
	repeat(made, size, input->seed);
	packed_size = linear(size);
	if (packed_size == 0)
		return "linear: an error that can't be";
	if (LZ4_decompress_safe((const char *)packed, (char *)again, (int)packed_size,
		    (int)sizeof(again)) != (int)size ||
		memcmp(again, record, size) != 0)
		return "linear: liblz4 decodes something else";
	return check_runs(input, size, packed_size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lz4_input input;
	const char *fault;

	if (!fuzz_lz4_read(&input, data, size, STRETCH_MAX))
		return 0;
	fault = check(&input);
	if (fault != NULL)
		fuzz_lz4_found(&input, fault);
	return 0;
}
