/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers for the fuzzers of the public calls: each is a gang whose children are allocations of
 * exactly their size, so that a checker sees an access one byte too far.
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

/* Make a buffer of skip + size bytes. chunk is the length of every run; 0: random lengths. */
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
 * Put the block of an input, after skip bytes, into a buffer whose runs the input chooses. In half
 * of the cases the buffer goes on after the block.
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

/*
 * Decode the block of an input with liblz4 into at most room bytes. Returns the bytes written to
 * record, or -EBADMSG.
 */
static inline ssize_t fuzz_lz4_whole(
	const struct fuzz_lz4_input *input, uint8_t *record, size_t room)
{
	int size = LZ4_decompress_safe(
		(const char *)input->block, (char *)record, (int)input->size, (int)room);

	return size < 0 || lz4_walk(input->block, input->size).zero_offset ? -EBADMSG : size;
}

/*
 * Decode a block byte by byte for as long as its tokens make sense. The only rule is that an offset
 * must not reach back past the start. Returns how many bytes there are.
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
