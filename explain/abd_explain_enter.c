/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statement about an lz4 block that can be entered in the middle. What of the block a range
 * needs is found from outside: a piece of the block is damaged, and if the range then comes out
 * otherwise, or not at all, that piece was read.
 */
#include "abd_explain_range.h"

#include <abd/codec.h>
#include <stdlib.h>
#include <string.h>

enum { ABD_EXPLAIN_PIECE = 64, ABD_EXPLAIN_ENTER_MAX = 128 << 10 };

struct abd_explain_entered {
	size_t off, size, block_size;
	abd_t *block;
	char *memory; /* of the block */
	struct abd_lz4_index *index;
	char *right, *got; /* what the range should be, and is */
};

/* Decode the range: with the index, or without it. Returns whether it is right. */
static bool abd_explain_enter_is_right(const struct abd_explain_entered *entered, bool is_indexed)
{
	ssize_t made = is_indexed ? abd_lz4_decompress_indexed_range_to_buf(entered->got,
					    entered->block, entered->off, entered->size, 0,
					    entered->block_size, entered->index)
				  : abd_lz4_decompress_range_to_buf(entered->got, entered->block,
					    entered->off, entered->size, 0, entered->block_size);

	return made == (ssize_t)entered->size &&
	       memcmp(entered->got, entered->right, entered->size) == 0;
}

/* How many of the bytes from..to of the block are read, up to the last one that matters. */
static size_t abd_explain_enter_read(
	const struct abd_explain_entered *entered, size_t from, size_t to, bool is_indexed)
{
	char saved[ABD_EXPLAIN_PIECE];
	size_t last = from, length;

	for (size_t at = from; at < to; at += length) {
		length = to - at < ABD_EXPLAIN_PIECE ? to - at : ABD_EXPLAIN_PIECE;
		memcpy(saved, entered->memory + at, length);
		memset(entered->memory + at, 0xff, length);
		if (!abd_explain_enter_is_right(entered, is_indexed))
			last = at + length;
		memcpy(entered->memory + at, saved, length);
	}
	return last - from;
}

/* Draw the block, a part for each group, and mark what is read. Returns how much that is. */
static size_t abd_explain_enter_draw(
	struct abd_explain_run *run, const struct abd_explain_entered *entered)
{
	const struct abd_lz4_index *index = entered->index;
	struct abd_explain_shot *shot = abd_explain_trace_new(run->trace, sizeof(*shot));
	size_t sum = 0;

	shot->name = "block";
	shot->kind = "memory";
	shot->size = entered->block_size;
	shot->is_linear = true;
	shot->head = abd_explain_trace_text(run->trace, "%zu bytes of lz4, in %s",
		entered->block_size, abd_explain_run_count(run, index->count, "group"));
	shot->part_count = index->count;
	shot->parts = abd_explain_trace_new(run->trace, index->count * sizeof(*shot->parts));
	for (size_t i = 0; i < index->count; i++) {
		size_t from = index->points[i].stored,
		       to = i + 1 < index->count ? index->points[i + 1].stored
						 : entered->block_size,
		       read = abd_explain_enter_read(entered, from, to, true);

		shot->parts[i] = (struct abd_explain_part){from, to - from, 0, "",
			abd_explain_trace_text(run->trace, "group %zu", i), -1, -1};
		if (read > 0)
			abd_explain_trace_mark(shot, from, read, "read");
		sum += read;
	}
	abd_explain_run_show(run, shot);
	return sum;
}

static void abd_explain_enter_range(
	struct abd_explain_run *run, const struct abd_explain_range *range, size_t group)
{
	size_t size = abd_get_size(range->buffer->abd), room = size + size / 255 + 16, sum;
	struct abd_explain_entered entered = {.off = range->off, .size = range->size};
	ssize_t made;

	abd_explain_range_touched(run, range, "asked for");
	entered.index = malloc(abd_lz4_index_size(size, group));
	entered.memory = abd_explain_run_scratch(run, room + 2 * range->size);
	entered.right = entered.memory + room;
	entered.got = entered.right + range->size;
	entered.block = abd_get_from_buf(entered.memory, room);
	if (entered.index == NULL || entered.block == NULL)
		abort();
	made = abd_lz4_compress_indexed(
		entered.block, range->buffer->abd, 0, 0, size, group, 0, entered.index);
	if (made < 0)
		abort();
	entered.block_size = (size_t)made;
	abd_copy_to_buf_off(entered.right, range->buffer->abd, range->off, range->size);
	sum = abd_explain_enter_draw(run, &entered);
	abd_explain_trace_note(run->trace, run->step,
		"%zu bytes of the block are read. Without the index it would be %zu.", sum,
		abd_explain_enter_read(&entered, 0, entered.block_size, false));
	abd_free(entered.block);
	free(entered.index);
}

void abd_explain_enter(struct abd_explain_run *run)
{
	struct abd_explain_range range = abd_explain_range_next(run);
	size_t group = abd_explain_run_size(run, "GROUP"), size = abd_get_size(range.buffer->abd);

	abd_explain_run_end(run);
	if (range.size == 0 || !abd_explain_range_is_inside(&range))
		abd_explain_run_wrong(
			run, "no such bytes: expected a range of %s", range.buffer->name);
	if (size > ABD_EXPLAIN_ENTER_MAX)
		abd_explain_run_wrong(
			run, "%zu bytes are too many to try: expected at most 128k", size);
	if (abd_lz4_index_size(size, group) == 0)
		abd_explain_run_wrong(run, "no such group: expected a power of two, 1k to 64k");
	abd_explain_run_call(run,
		"abd_lz4_compress_indexed(block, %s, 0, 0, %zu, %zu, 0, index); "
		"abd_lz4_decompress_indexed_range_to_buf(buf, block, %zu, %zu, 0, size, index)",
		range.buffer->name, size, group, range.off, range.size);
	abd_explain_enter_range(run, &range, group);
}
