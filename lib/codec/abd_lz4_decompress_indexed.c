/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range of a block with an index. The block is entered at the last point at or before the range;
 * matches from there reach into the hub of their 64 KiB, which is decoded first:
 *
 *      record    [ hub   |  not decoded   | group .. | range ]
 *      window    [ hub   |                | group .. | range ]   the same places, in memory
 *
 * From the next 64 KiB on nothing reaches back, so these are decoded straight into dst.
 * Invariant: points are checked before they are used, and each match against the hub and the bytes
 * decoded, so no byte of the window that was not decoded can reach dst.
 */
#include "abd_allocator.h"
#include "abd_check.h"
#include "abd_lz4_decode.h"
#include "abd_lz4_decompress_indexed.h"
#include "abd_lz4_encode.h"
#include "abd_runs.h"

#include <abd/codec.h>

#include <errno.h>
#include <limits.h>

struct abd_lz4_entry {
	size_t logical, stored;
};

struct abd_lz4_block {
	const struct abd_lz4_decoder *decoder;
	const struct abd_lz4_index *index;
	struct abd_runs runs;
	size_t size;
	uint8_t *window; /* the caller's, or NULL */
};

static struct abd_lz4_entry abd_lz4_entry_at(const struct abd_lz4_index *index, size_t i)
{
	return (struct abd_lz4_entry){index->points[i].logical, index->points[i].stored};
}

/*
 * Decode from an entry on. Decoding ends after stop bytes, or at the block's end. dst_size is the
 * room, and may be more than stop.
 */
static ssize_t abd_lz4_decode_from(const struct abd_lz4_block *block, struct abd_lz4_entry entry,
	void *dst, size_t dst_size, size_t stop, const void *hub, size_t hub_size)
{
	const struct iovec *run = block->runs.runs;
	size_t skip = block->runs.skip + entry.stored, left = block->size - entry.stored;

	if (left == 0)
		return 0;
	for (; skip >= run->iov_len; run++)
		skip -= run->iov_len;
	if (stop == dst_size)
		stop = ABD_LZ4_STOP_PREFIX;
	return block->decoder->decode(dst, dst_size, stop, run, skip, left, hub, hub_size);
}

/* The entry of byte off: the last point at or before it. False: the index can't be this block's. */
static bool abd_lz4_entry_find(const struct abd_lz4_block *block, size_t off, size_t *group)
{
	const struct abd_lz4_index *index = block->index;
	size_t i = off / index->group_size;

	while (i > 0 && index->points[i].logical > off)
		i--;
	*group = i;
	return index->points[i].logical <= off &&
	       index->points[i].logical >= (uint64_t)i * index->group_size &&
	       index->points[i].stored <= block->size;
}

/*
 * The bytes [off, end) of the 64 KiB that first is the entry of, and in which entry lies: through a
 * window, since the hub and bytes before off are decoded too. Returns where the bytes decoded end.
 */
static ssize_t abd_lz4_decode_window(const struct abd_lz4_block *block, struct abd_lz4_entry first,
	struct abd_lz4_entry entry, size_t hub_end, uint8_t *dst, size_t off, size_t end)
{
	size_t size = end - first.logical + ABD_LZ4_SLACK, hub_size = 0, from;
	uint8_t *window = block->window != NULL ? block->window : abd_allocator_get(size, false);
	ssize_t result = -EBADMSG;

	if (window == NULL)
		return -ENOMEM;
	if (entry.logical <= hub_end)
		entry = first;
	from = entry.logical - first.logical;
	if (from > 0 && hub_end > first.logical) {
		hub_size = hub_end - first.logical;
		result = abd_lz4_decode_from(block, first, window,
			abd_min(hub_size + ABD_LZ4_SLACK, size), hub_size, NULL, 0);
		if (result < (ssize_t)hub_size) {
			result = result < 0 ? result : -EBADMSG;
			goto out;
		}
		memset(window + hub_size, 0, ABD_LZ4_HUB_MARGIN);
	}
	result = abd_lz4_decode_from(
		block, entry, window + from, size - from, end - entry.logical, window, hub_size);
	if (result >= 0) {
		size_t there = abd_min(entry.logical + (size_t)result, end);

		if (there > off)
			memcpy(dst, window + (off - first.logical), there - off);
		result = (ssize_t)there;
	}
out:
	if (block->window == NULL)
		abd_allocator_put(window, size, false);
	return result;
}

/* The bytes [off, end) of the record, off < end. Returns where the bytes decoded end. */
static ssize_t abd_lz4_decode_range(
	const struct abd_lz4_block *block, uint8_t *dst, size_t off, size_t end)
{
	const struct abd_lz4_index *index = block->index;
	size_t groups = ABD_LZ4_HUB_EVERY / index->group_size, i, first, stop;
	struct abd_lz4_entry entry, hub;
	ssize_t result;

	if (!abd_lz4_entry_find(block, off, &i))
		return -EBADMSG;
	entry = abd_lz4_entry_at(index, i);
	first = i - i % groups;
	hub = abd_lz4_entry_at(index, first);
	if (i == first && entry.logical == off)
		goto direct;
	if (hub.logical < first * index->group_size || hub.logical > entry.logical ||
		hub.stored > block->size)
		return -EBADMSG;
	stop = first + groups < index->count ? index->points[first + groups].logical : end;
	stop = abd_min(stop, end);
	if (stop <= off)
		return -EBADMSG;
	result = abd_lz4_decode_window(
		block, hub, entry, first * index->group_size + index->hub_size, dst, off, stop);
	if (result < (ssize_t)stop || stop == end)
		return result;
	entry = abd_lz4_entry_at(index, first + groups);
	if (entry.stored > block->size)
		return -EBADMSG;
direct:
	result = abd_lz4_decode_from(block, entry, dst + (entry.logical - off), end - entry.logical,
		end - entry.logical, NULL, 0);
	return result < 0 ? result : (ssize_t)entry.logical + result;
}

ssize_t abd_lz4_decompress_indexed(void *dst, const abd_t *src, size_t range_off, size_t range_size,
	size_t src_off, size_t src_size, const struct abd_lz4_index *index, void *window)
{
	struct abd_lz4_block block = {.decoder = abd_lz4_decoder_for(src_size),
		.index = index,
		.size = src_size,
		.window = window};
	size_t most, end;
	ssize_t result;

	if (src_size > INT_MAX)
		return -EINVAL;
	if (src_size == 0 || abd_lz4_index_size(0, index->group_size) == 0 ||
		index->hub_size > index->group_size)
		return -EBADMSG;
	most = (size_t)abd_min(index->count, UINT32_MAX / index->group_size) * index->group_size;
	if (range_off >= most || range_size == 0)
		return 0;
	end = range_off + abd_min(range_size, most - range_off);
	if (!abd_runs_read(&block.runs, src, src_off, src_size))
		return -ENOMEM;
	result = abd_lz4_decode_range(&block, dst, range_off, end);
	abd_runs_end(&block.runs);
	if (result < 0)
		return result;
	/* The record ends within its last group, or it is not this index's. */
	if ((size_t)result < end && (size_t)result + index->group_size <= most)
		return -EBADMSG;
	return (size_t)result > range_off ? result - (ssize_t)range_off : 0;
}

ssize_t abd_lz4_decompress_indexed_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size, const struct abd_lz4_index *index)
{
	abd_check_range(__func__, src, src_off, src_size);
	ABD_REQUIRE(dst != NULL || range_size == 0, "dst is NULL");
	ABD_REQUIRE(index != NULL, "index is NULL");
	return abd_lz4_decompress_indexed(
		dst, src, range_off, range_size, src_off, src_size, index, NULL);
}
