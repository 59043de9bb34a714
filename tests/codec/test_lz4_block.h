/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plain reading of lz4's block format: it decodes a block byte by byte, holds it to the rules
 * about its end, and holds an index to the block: where sequences begin, and how far back matches
 * reach. It shares no code with the library.
 */
#ifndef ABD_TEST_LZ4_BLOCK_H
#define ABD_TEST_LZ4_BLOCK_H

#include "abd_test.h"

#include <abd/codec.h>

struct test_block {
	const uint8_t *block;
	size_t size, at;
	uint8_t *record;
	size_t record_size, made;
	const struct abd_lz4_index *index;
	size_t points; /* whose sequence was met */
	size_t group;  /* where the group of this sequence begins */
	size_t hub;    /* where the hub begins, and the 64 KiB that it is of */
	size_t hub_of;
};

static inline size_t test_block_length(struct test_block *b, size_t length)
{
	uint8_t byte = length == 15 ? 255 : 0;

	while (byte == 255) {
		if (b->at == b->size)
			return SIZE_MAX / 2;
		byte = b->block[b->at++];
		length += byte;
	}
	return length;
}

/* A sequence begins here. */
static inline const char *test_block_points(struct test_block *b)
{
	const struct abd_lz4_index *index = b->index;

	while (b->points < index->count && b->points * index->group_size <= b->made) {
		if (index->points[b->points].logical != b->made ||
			index->points[b->points].stored != b->at)
			return "a point is not where a sequence begins";
		b->points++;
		b->group = b->made;
		if (b->made / 65536 > b->hub_of || b->made == 0) {
			b->hub = b->made;
			b->hub_of = b->made / 65536;
		}
	}
	return NULL;
}

static inline const char *test_block_reach(const struct test_block *b, size_t offset, size_t length)
{
	size_t from = b->made - offset;

	if (from >= b->group)
		return NULL;
	if (from < b->hub || from + length > b->hub_of * 65536 + b->index->hub_size)
		return "a match reaches out of its group and the hub";
	return NULL;
}

/* One sequence. NULL: it obeys the rules; *last says whether it is the last. */
static inline const char *test_block_sequence(struct test_block *b, bool *last)
{
	const char *fault = b->index != NULL ? test_block_points(b) : NULL;
	unsigned token = b->block[b->at++];
	size_t literals = test_block_length(b, token >> 4), offset, length;

	if (fault != NULL)
		return fault;
	if (literals > b->size - b->at || literals > b->record_size - b->made)
		return "literals past the end";
	memcpy(b->record + b->made, b->block + b->at, literals);
	b->at += literals;
	b->made += literals;
	*last = b->at == b->size;
	if (*last)
		return b->made > literals && literals < 5 ? "fewer than 5 last literals" : NULL;
	if (b->size - b->at < 2)
		return "no offset";
	if (b->record_size - b->made < 12)
		return "a match among the last 12 bytes";
	offset = b->block[b->at] | (size_t)b->block[b->at + 1] << 8;
	b->at += 2;
	length = test_block_length(b, token & 15) + 4;
	if (offset == 0 || offset > b->made || length > b->record_size - b->made)
		return "a match out of bounds";
	fault = b->index != NULL ? test_block_reach(b, offset, length) : NULL;
	for (; length > 0; length--, b->made++)
		b->record[b->made] = b->record[b->made - offset];
	return fault;
}

/* What is wrong with the block of a record, and with its index if it is not NULL; NULL: nothing. */
static inline const char *test_block_fault(const uint8_t *block, size_t size, const uint8_t *record,
	size_t record_size, const struct abd_lz4_index *index)
{
	struct test_block b = {.block = block, .size = size, .record_size = record_size};
	const char *fault = NULL;
	bool last = false;

	b.index = index;
	b.record = malloc(record_size + 1);
	while (fault == NULL && !last)
		fault = b.at < size ? test_block_sequence(&b, &last) : "no last sequence";
	if (fault == NULL && b.made != record_size)
		fault = "another length";
	if (fault == NULL && memcmp(b.record, record, record_size) != 0)
		fault = "other bytes";
	for (; fault == NULL && index != NULL && b.points < index->count; b.points++)
		if (index->points[b.points].logical != record_size ||
			index->points[b.points].stored != size)
			fault = "a point beyond the last sequence";
	free(b.record);
	return fault;
}

/* ---- records --------------------------------------------------------------------------------- */

enum { TEST_RECORD_KINDS = 6 };

/* Fill a record with data of a kind: words, islands, noise, zeros, short runs, far copies. */
static inline void test_record_fill(uint8_t *record, size_t size, unsigned kind, uint64_t seed)
{
	size_t distance = 1 + abd_test_random_below(&seed, 65535);

	for (size_t i = 0; i < size;) {
		uint64_t random = abd_test_random(&seed);
		size_t n = 1 + random % 3;

		switch (kind) {
		case 0: /* one of 256 words of 3 to 10 bytes */
			n = 3 + (random & 255) % 8;
			random = (random & 255) * 0x9e3779b97f4a7c15u;
			break;
		case 1: /* 600 bytes of noise, then 1,400 of a pattern */
			n = 1;
			random = i % 2000 < 600 ? random : i % 7;
			break;
		case 2:
			break;
		case 3:
			random = 0;
			break;
		case 4: /* runs of 1, 2, 3 bytes */
			random = (random >> 8) % 4 * 0x0101010101010101u;
			break;
		default: /* what stood distance bytes before, but for some noise */
			n = 1;
			if (i >= distance && random % 64 != 0)
				random = record[i - distance];
			break;
		}
		for (size_t k = 0; k < n && i < size; k++)
			record[i++] = (uint8_t)(random >> k % 8 * 8);
	}
}

/** A buffer of size bytes in pieces of random lengths, up to most. */
static inline abd_t *test_record_in_pieces(
	const uint8_t *record, size_t size, size_t most, uint64_t *seed)
{
	abd_t *gang = abd_alloc_gang();

	for (size_t at = 0; at < size;) {
		size_t n = 1 + abd_test_random_below(seed, most);
		abd_t *piece;

		n = n < size - at ? n : size - at;
		piece = abd_alloc_linear(n, false);
		abd_copy_from_buf(piece, record + at, n);
		abd_gang_add(gang, piece, true);
		at += n;
	}
	return gang;
}

#endif
