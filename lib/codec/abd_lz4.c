/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4 blocks in buffers, decoded. The runs are read where they lie (abd_lz4_decode.h).
 * Invariant: nothing outside the stated ranges is read or written, whatever the data.
 * OpenZFS: zio_decompress_data() in module/zfs/zio_compress.c, then a macro of
 * include/sys/zio_compress.h that borrows and copies, then module/zfs/lz4_zfs.c.
 */
#include "abd_allocator.h"
#include "abd_check.h"
#include "abd_iter.h"
#include "abd_lz4_decode.h"
#include "abd_runs.h"

#include <abd/codec.h>

#include <limits.h>

/*
 * OpenZFS's largest record. A range that ends beyond it is cut to the record's real size before
 * memory is allocated.
 */
#define ABD_LZ4_RECORD_MAX ((size_t)16 << 20)

/*
 * Decode into dst. stop says how much: ABD_LZ4_STOP_PREFIX, the record's first dst_size bytes;
 * ABD_LZ4_STOP_WHOLE, the whole record, which must fit into dst_size bytes.
 */
static ssize_t abd_lz4_decode_to(
	void *dst, const abd_t *src, size_t dst_size, size_t stop, size_t src_off, size_t src_size)
{
	const struct abd_lz4_decoder *decoder = abd_lz4_decoder_for(src_size);
	struct abd_runs runs;
	ssize_t result;
	char nothing[1];

	if (src_size > INT_MAX)
		return -EINVAL;
	if (src_size == 0)
		return -EBADMSG;
	if (!abd_runs_read(&runs, src, src_off, src_size))
		return -ENOMEM;
	result = decoder->decode(dst != NULL ? dst : nothing, dst_size, stop, runs.runs, runs.skip,
		src_size, NULL, 0);
	abd_runs_end(&runs);
	return result;
}

ssize_t abd_lz4_decompress_to_buf(
	void *dst, const abd_t *src, size_t dst_size, size_t src_off, size_t src_size)
{
	abd_check_range(__func__, src, src_off, src_size);
	ABD_REQUIRE(dst != NULL || dst_size == 0, "dst is NULL");
	return abd_lz4_decode_to(dst, src, dst_size, ABD_LZ4_STOP_WHOLE, src_off, src_size);
}

/* Returns produced, but -EBADMSG if that is a count other than size. */
static ssize_t abd_lz4_expect(ssize_t produced, size_t size)
{
	return produced >= 0 && (size_t)produced != size ? -EBADMSG : produced;
}

ssize_t abd_lz4_decompress_exact_to_buf(
	void *dst, const abd_t *src, size_t size, size_t src_off, size_t src_size)
{
	abd_check_range(__func__, src, src_off, src_size);
	ABD_REQUIRE(dst != NULL || size == 0, "dst is NULL");
	return abd_lz4_expect(
		abd_lz4_decode_to(dst, src, size, ABD_LZ4_STOP_WHOLE, src_off, src_size), size);
}

/* Decode into several runs of output, through a window: see decode_scatter() of abd_lz4_decode.h.
 */
static ssize_t abd_lz4_decode_scattered(const char *call, abd_t *dst, const abd_t *src,
	size_t dst_off, size_t dst_size, size_t src_off, size_t src_size)
{
	const struct abd_lz4_decoder *decoder = abd_lz4_decoder_for(src_size);
	size_t window_size = abd_min(dst_size, ABD_LZ4_WINDOW_MIN);
	struct abd_runs from, to;
	ssize_t result = -ENOMEM;
	void *window;

	if (src_size > INT_MAX)
		return -EINVAL;
	if (src_size == 0)
		return -EBADMSG;
	if (!abd_runs_read(&from, src, src_off, src_size))
		return -ENOMEM;
	if (!abd_runs_write(&to, call, dst, dst_off, dst_size))
		goto out_from;
	window = abd_allocator_get(window_size, false);
	if (window == NULL)
		goto out_to;
	result = decoder->decode_scatter(
		to.runs, to.skip, dst_size, from.runs, from.skip, src_size, window, window_size);
	abd_allocator_put(window, window_size, false);
out_to:
	abd_runs_end(&to);
out_from:
	abd_runs_end(&from);
	return result;
}

static ssize_t abd_lz4_decode_into(const char *call, abd_t *dst, const abd_t *src, size_t dst_off,
	size_t dst_size, size_t src_off, size_t src_size)
{
	struct abd_iter room;

	abd_check_range(call, dst, dst_off, dst_size);
	abd_check_range(call, src, src_off, src_size);
	abd_iter_begin_write(&room, call, dst, dst_off, dst_size);
	if (room.len < dst_size)
		return abd_lz4_decode_scattered(
			call, dst, src, dst_off, dst_size, src_off, src_size);
	return abd_lz4_decode_to(dst_size > 0 ? room.addr : NULL, src, dst_size, ABD_LZ4_STOP_WHOLE,
		src_off, src_size);
}

ssize_t abd_lz4_decompress(abd_t *dst, const abd_t *src, size_t dst_off, size_t dst_size,
	size_t src_off, size_t src_size)
{
	return abd_lz4_decode_into(__func__, dst, src, dst_off, dst_size, src_off, src_size);
}

ssize_t abd_lz4_decompress_exact(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t size, size_t src_off, size_t src_size)
{
	return abd_lz4_expect(
		abd_lz4_decode_into(__func__, dst, src, dst_off, size, src_off, src_size), size);
}

/* The block's next byte, in whichever run it lies. */
static uint8_t abd_lz4_next(struct abd_iter *iter)
{
	uint8_t byte = *(const uint8_t *)iter->addr;

	abd_iter_advance(iter, 1);
	return byte;
}

static void abd_lz4_skip(struct abd_iter *iter, uint64_t size)
{
	while (size > 0 && iter->len > 0) {
		size_t n = (size_t)(size < iter->len ? size : iter->len);

		abd_iter_advance(iter, n);
		size -= n;
	}
}

static uint64_t abd_lz4_length(struct abd_iter *iter, unsigned length)
{
	uint64_t sum = length;
	uint8_t byte = length == 15 ? 255 : 0;

	while (byte == 255 && iter->len > 0) {
		byte = abd_lz4_next(iter);
		sum += byte;
	}
	return sum;
}

/*
 * The record's size, added up from the block's tokens. Reading stops once the sum reaches enough.
 */
static uint64_t abd_lz4_record_size(
	const abd_t *src, size_t src_off, size_t src_size, uint64_t enough)
{
	struct abd_iter iter;
	uint64_t size = 0;

	abd_iter_begin(&iter, src, src_off, src_size);
	while (iter.len > 0 && size < enough) {
		unsigned token = abd_lz4_next(&iter);
		uint64_t literals = abd_lz4_length(&iter, token >> 4);

		size += literals;
		abd_lz4_skip(&iter, literals);
		if (iter.len == 0)
			break;
		abd_lz4_skip(&iter, 2);
		size += abd_lz4_length(&iter, token & 15) + 4;
	}
	return size;
}

/*
 * The largest record that a block can hold: every byte but the token extends a length by 255; 64
 * covers the last match's rest. In 32 bits this would wrap for blocks of 16 MiB and more.
 */
static size_t abd_lz4_record_max(size_t src_size)
{
	uint64_t most = (uint64_t)src_size * 255 + 64;

	return (size_t)(most < SIZE_MAX ? most : SIZE_MAX);
}

/*
 * Where a range ends. If ask is true, or the end lies beyond ABD_LZ4_RECORD_MAX, the block's tokens
 * tell where the record ends.
 */
static size_t abd_lz4_range_end(
	size_t off, size_t size, const abd_t *src, size_t src_off, size_t src_size, bool ask)
{
	size_t end = size < SIZE_MAX - off ? off + size : SIZE_MAX;
	uint64_t there;

	end = abd_min(end, abd_lz4_record_max(src_size));
	if (!ask && end <= ABD_LZ4_RECORD_MAX)
		return end;
	there = abd_lz4_record_size(src, src_off, src_size, end);
	return (size_t)(there < end ? there : end);
}

ssize_t abd_lz4_decompress_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size)
{
	abd_check_range(__func__, src, src_off, src_size);
	ABD_REQUIRE(dst != NULL || range_size == 0, "dst is NULL");
	if (range_off == 0)
		return abd_lz4_decode_to(
			dst, src, range_size, ABD_LZ4_STOP_PREFIX, src_off, src_size);
	if (src_size > INT_MAX)
		return -EINVAL;
	if (src_size == 0)
		return -EBADMSG;
	/*
	 * Matches may reach back to any byte before the range, so those bytes are decoded too, but
	 * not copied to dst. If there is no memory for them, the block's tokens tell whether the
	 * range holds any bytes: if not, the answer is 0.
	 */
	size_t size = abd_lz4_range_end(range_off, range_size, src, src_off, src_size, false);
	char *record = size > range_off ? abd_allocator_get(size, false) : NULL;
	ssize_t result;

	if (record == NULL && size > range_off)
		size = abd_lz4_range_end(range_off, range_size, src, src_off, src_size, true);
	if (size <= range_off)
		return 0;
	if (record == NULL)
		return -ENOMEM;
	result = abd_lz4_decode_to(record, src, size, ABD_LZ4_STOP_PREFIX, src_off, src_size);
	if (result >= 0) {
		size_t there = (size_t)result > range_off ? (size_t)result - range_off : 0;

		memcpy(dst, record + range_off, there);
		result = (ssize_t)there;
	}
	abd_allocator_put(record, size, false);
	return result;
}
