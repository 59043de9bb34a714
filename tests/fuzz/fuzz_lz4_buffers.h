/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers for the fuzzers of the public calls: a gang whose children are exact allocations, so that
 * a checker sees one byte too many.
 * Invariant: every byte holds FUZZ_OUTSIDE until something is written there.
 */
#ifndef FUZZ_LZ4_BUFFERS_H
#define FUZZ_LZ4_BUFFERS_H

#include "fuzz_lz4_input.h"

#include <abd/abd.h>

enum { FUZZ_OUTSIDE = 0xee };

struct fuzz_lz4_buffer {
	struct lz4_runs runs;
	abd_t *abd;
};

/* skip + size bytes. chunk: length of every run; 0: random ones. */
static inline void fuzz_lz4_buffer_make(
	struct fuzz_lz4_buffer *b, size_t size, size_t chunk, size_t skip, uint64_t seed)
{
	b->runs = lz4_runs_make(size, chunk, skip, seed);
	b->abd = abd_alloc_gang();
	for (size_t i = 0; i < b->runs.count; i++)
		if (b->runs.runs[i].iov_len > 0)
			abd_gang_add(b->abd,
				abd_get_from_buf(b->runs.runs[i].iov_base, b->runs.runs[i].iov_len),
				true);
}

static inline void fuzz_lz4_buffer_free(struct fuzz_lz4_buffer *b)
{
	abd_free(b->abd);
	lz4_runs_free(&b->runs);
}

/*
 * The block of an input, skip bytes into a buffer of runs of its choice; half of the blocks end
 * before their runs do.
 */
static inline size_t fuzz_lz4_source_make(
	struct fuzz_lz4_buffer *b, const struct fuzz_lz4_input *input)
{
	size_t after = (input->seed & 16) != 0 ? (size_t)(input->seed >> 20) % 100 : 0;
	size_t chunk = fuzz_lz4_two(input->header, FUZZ_CHUNK) % 4097,
	       skip = input->header[FUZZ_SKIP] % 70;

	fuzz_lz4_buffer_make(b, input->size + after, chunk, skip, input->seed);
	if (input->size > 0)
		lz4_runs_copy(
			&b->runs, skip, (uint8_t *)(uintptr_t)input->block, input->size, true);
	lz4_runs_guard(&b->runs, skip, input->size);
	return skip;
}

/* What liblz4 makes of an input's block in room bytes at most: bytes in record, or -EBADMSG. */
static inline ssize_t fuzz_lz4_whole(
	const struct fuzz_lz4_input *input, uint8_t *record, size_t room)
{
	int size = LZ4_decompress_safe(
		(const char *)input->block, (char *)record, (int)input->size, (int)room);

	return size < 0 || lz4_walk(input->block, input->size).zero_offset ? -EBADMSG : size;
}

/*
 * A record byte by byte, as far as its tokens make sense: no rule but that offsets lie within.
 * Returns its bytes.
 */
static inline size_t fuzz_lz4_model(uint8_t *record, size_t room, const uint8_t *block, size_t size)
{
	size_t done = 0, at = 0;

	while (at < size) {
		unsigned token = block[at++];
		size_t literals = token >> 4, match = (token & 15) + 4, offset;

		if (literals == 15)
			literals += lz4_walk_extension(block, size, &at);
		for (; literals > 0 && at < size && done < room; literals--)
			record[done++] = block[at++];
		if (literals > 0 || size - at < 2)
			break;
		offset = (size_t)block[at] | (size_t)block[at + 1] << 8;
		at += 2;
		if (match == 19)
			match += lz4_walk_extension(block, size, &at);
		if (offset == 0 || offset > done)
			break;
		for (; match > 0 && done < room; match--, done++)
			record[done] = record[done - offset];
	}
	return done;
}

#endif
