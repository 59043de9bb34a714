/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: decoding into scattered output, through the public call. Records are up to
 * several times the window, and the runs of the output have any length. Nothing outside the given
 * range of the output is written, whether the block is right or damaged.
 */
#include "fuzz_lz4_buffers.h"

enum { RECORD_MAX = 600 << 10, STRETCH_MAX = 16, BEHIND = 70 };

static uint8_t expected[RECORD_MAX], got[RECORD_MAX + 256 + BEHIND];

static bool is_outside(const uint8_t *bytes, size_t size)
{
	while (size > 0)
		if (bytes[--size] != FUZZ_OUTSIDE)
			return false;
	return true;
}

static const char *check(
	const struct fuzz_lz4_input *input, const abd_t *src, size_t skip, size_t room)
{
	size_t dst_off = (size_t)(input->seed >> 7) % 90;
	/* A large output gets longer runs: making many of them takes long. */
	size_t chunk = fuzz_lz4_two(input->header, FUZZ_RANGE) % 9000 + room / 512;
	ssize_t result = fuzz_lz4_whole(input, expected, room), produced;
	struct fuzz_lz4_buffer dst;
	const char *fault = NULL;

	fuzz_lz4_buffer_make(&dst, room + BEHIND, chunk, dst_off, input->seed);
	produced = abd_lz4_decompress(dst.abd, src, dst_off, room, skip, input->size);
	lz4_runs_copy(&dst.runs, 0, got, dst_off + room + BEHIND, false);
	if (produced != result)
		fault = "scatter: another result than liblz4's";
	else if (result > 0 && memcmp(got + dst_off, expected, (size_t)result) != 0)
		fault = "scatter: other bytes than liblz4's";
	else if (!is_outside(got, dst_off) || !is_outside(got + dst_off + room, BEHIND))
		fault = "scatter: written outside the range";
	fuzz_lz4_buffer_free(&dst);
	return fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lz4_input input;
	struct fuzz_lz4_buffer src;
	size_t skip, room;
	const char *fault;

	if (!fuzz_lz4_read(&input, data, size, STRETCH_MAX))
		return 0;
	room = fuzz_lz4_room(&input, RECORD_MAX - 128);
	abd_tuning_set("lz4", fuzz_lz4_decoder(&input)->name);
	skip = fuzz_lz4_source_make(&src, &input);
	fault = check(&input, src.abd, skip, room);
	if (fault != NULL)
		fuzz_lz4_found(&input, fault);
	fuzz_lz4_buffer_free(&src);
	return 0;
}
