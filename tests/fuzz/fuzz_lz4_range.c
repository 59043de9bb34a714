/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: ranges of records, through the public call. If liblz4 decodes the whole block,
 * every range of it must come out right. A range of a damaged block may be refused; if it is not,
 * its bytes must be those of the tokens before the damage.
 */
#include "fuzz_lz4_buffers.h"

enum { RECORD_MAX = 300 << 10, STRETCH_MAX = 4 };

/* Larger than RECORD_MAX, so that the rules about the end of the output never apply. */
static uint8_t record[RECORD_MAX + 128];

static const char *check(
	const struct fuzz_lz4_input *input, const abd_t *abd, size_t skip, size_t off, size_t size)
{
	ssize_t all = fuzz_lz4_whole(input, record, sizeof(record)), got;
	size_t there = all < 0 || off >= (size_t)all ? 0 : (size_t)all - off, known;
	uint8_t *dst = malloc(size);
	const char *fault = NULL;

	got = abd_lz4_decompress_range_to_buf(dst, abd, off, size, skip, input->size);
	if (there > size)
		there = size;
	known = all < 0 ? fuzz_lz4_model(record, sizeof(record), input->block, input->size)
			: (size_t)all;
	if (all >= 0 && got != (ssize_t)there)
		fault = "range: another size than what is there";
	else if (got < 0)
		fault = got == -EBADMSG ? NULL : "range: an error that can't be";
	else if ((size_t)got > size || (got > 0 && off + (size_t)got > known))
		fault = "range: more than the tokens say";
	else if (got > 0 && memcmp(dst, record + off, (size_t)got) != 0)
		fault = "range: other bytes";
	free(dst);
	return fault;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_lz4_input input;
	struct fuzz_lz4_buffer src;
	const char *fault;
	size_t skip, off;

	if (!fuzz_lz4_read(&input, data, size, STRETCH_MAX) || input.output > RECORD_MAX)
		return 0;
	/* Times 37, because two bytes alone would not reach beyond 64 KiB of a record. */
	off = fuzz_lz4_two(data, FUZZ_STOP) * 37 % (input.output + 2);
	abd_tuning_set("lz4", fuzz_lz4_decoder(&input)->name);
	skip = fuzz_lz4_source_make(&src, &input);
	fault = check(&input, src.abd, skip, off, fuzz_lz4_two(data, FUZZ_RANGE));
	if (fault != NULL)
		fuzz_lz4_found(&input, fault);
	fuzz_lz4_buffer_free(&src);
	return 0;
}
