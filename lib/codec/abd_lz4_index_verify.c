/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A walk over a block's sequences, which copies no byte of the record. It allows what
 * abd_lz4_decompress_indexed.c can decode, and no more: a sequence reaches back to the last point
 * at or before it, or into the hub; where that point lies in the hub, to the hub's begin.
 * Invariant: no byte outside the block is read, whatever the block.
 * Source: the block format's own description, lz4_Block_format.md.
 */
#include "abd_lz4_index_verify.h"
#include "abd_lease.h"
#include "abd_lz4_encode.h"

#include <errno.h>

struct abd_lz4_steps {
	const struct abd_lz4_index *index;
	const uint8_t *begin, *at, *end; /* of the block */
	size_t logical;                  /* where at is in the record */
	size_t points;                   /* how many were passed */
	size_t base, hub, hub_end;       /* of the sequence at hand */
};

/* Whether at is where all points up to byte limit of the record must be. */
static bool abd_lz4_steps_pass(struct abd_lz4_steps *s, size_t limit)
{
	const struct abd_lz4_index *index = s->index;

	for (; s->points < index->count && s->points * index->group_size <= limit; s->points++) {
		size_t off = s->points * index->group_size;

		if (index->points[s->points].logical != s->logical ||
			index->points[s->points].stored != (size_t)(s->at - s->begin))
			return false;
		s->base = s->logical;
		if (off % ABD_LZ4_HUB_EVERY == 0) {
			s->hub = s->logical;
			s->hub_end = off + index->hub_size;
		}
	}
	return true;
}

/* A length that the token begins; what it is cut off by is found by who uses it. */
static size_t abd_lz4_steps_length(struct abd_lz4_steps *s, size_t length)
{
	uint8_t more = length == 15 ? 255 : 0;

	for (; more == 255 && s->at < s->end; length += more)
		more = *s->at++;
	return length;
}

/* Whether the sequence's match, of so many bytes, may lie so many bytes before its place. */
static bool abd_lz4_steps_reach(const struct abd_lz4_steps *s, size_t offset, size_t size)
{
	size_t from = s->logical - offset;

	if (offset == 0 || offset > s->logical)
		return false;
	if (from >= (s->base <= s->hub_end ? s->hub : s->base))
		return true;
	return from >= s->hub && from + size <= s->hub_end;
}

/* Step over a sequence. False: it is none that the index allows. */
static bool abd_lz4_steps_next(struct abd_lz4_steps *s)
{
	if (!abd_lz4_steps_pass(s, s->logical))
		return false;

	unsigned token = *s->at++;
	size_t size = abd_lz4_steps_length(s, token >> 4), offset;

	if (size > (size_t)(s->end - s->at))
		return false;
	s->at += size;
	s->logical += size;
	if (s->at == s->end)
		return true;
	if (s->end - s->at < 2)
		return false;
	offset = s->at[0] | (size_t)s->at[1] << 8;
	s->at += 2;
	size = abd_lz4_steps_length(s, token & 15) + 4;
	if (!abd_lz4_steps_reach(s, offset, size))
		return false;
	s->logical += size;
	return true;
}

int abd_lz4_index_verify(
	const struct abd_lz4_index *index, const abd_t *src, size_t src_off, size_t src_size)
{
	struct abd_lz4_steps steps = {.index = index};
	struct abd_lease from;
	bool is_right = true;

	if (!abd_lease_read(&from, src, src_off, src_size))
		return -ENOMEM;
	steps.begin = steps.at = (const uint8_t *)from.buf;
	steps.end = steps.begin + src_size;
	while (is_right && steps.at < steps.end)
		is_right = abd_lz4_steps_next(&steps);
	is_right = is_right && abd_lz4_steps_pass(&steps, SIZE_MAX);
	abd_lease_end(&from);
	return is_right ? 0 : -EBADMSG;
}
