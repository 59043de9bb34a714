/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liblz4 as one of the decoders. It works as OpenZFS does, by borrow and copy; tests compare the
 * other decoders with it. A block that it accepts is searched for match offset 0, which the format
 * forbids. The scalar decoder serves two cases that liblz4 would judge differently: partial
 * decoding, in which liblz4 accepts damaged blocks, and room of 2 GiB and more, which it can't
 * count.
 */
#include "abd_allocator.h"
#include "abd_counter.h"
#include "abd_lz4_decode.h"

#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <string.h>

static bool abd_lz4_decode_liblz4_supported(void)
{
	return true;
}

static void abd_lz4_gather(char *to, const struct iovec *runs, size_t skip, size_t size)
{
	for (; size > 0; runs++) {
		size_t n = abd_min(runs->iov_len - skip, size);

		memcpy(to, (const char *)runs->iov_base + skip, n);
		to += n;
		size -= n;
		skip = 0;
	}
}

/* Add the extension bytes at *at to length. */
static size_t abd_lz4_extended(const uint8_t *src, size_t *at, size_t length)
{
	uint8_t byte;

	do {
		byte = src[(*at)++];
		length += byte;
	} while (byte == 255);
	return length;
}

/*
 * Whether a block has a match at offset 0. liblz4 has accepted the block, so every sequence lies
 * within it, and the last sequence ends with its literals.
 */
static bool abd_lz4_has_offset_0(const uint8_t *src, size_t size)
{
	for (size_t at = 0;;) {
		unsigned token = src[at++];
		size_t literals = token >> 4;

		if (literals == 15)
			literals = abd_lz4_extended(src, &at, literals);
		at += literals;
		if (at == size)
			return false;
		if (src[at] == 0 && src[at + 1] == 0)
			return true;
		at += 2;
		if ((token & 15) == 15)
			abd_lz4_extended(src, &at, 0);
	}
}

static ssize_t abd_lz4_decode_liblz4_block(
	const char *src, char *dst, size_t src_size, size_t dst_size)
{
	int produced = LZ4_decompress_safe(src, dst, (int)src_size, (int)dst_size);

	if (produced < 0 || abd_lz4_has_offset_0((const uint8_t *)src, src_size))
		return -EBADMSG;
	return produced;
}

static ssize_t abd_lz4_decode_liblz4_decode(void *dst, size_t dst_size, size_t stop,
	const struct iovec *runs, size_t run_count, size_t skip, size_t src_size)
{
	if (dst_size > INT_MAX || stop < dst_size || stop == ABD_LZ4_STOP_PREFIX)
		return abd_lz4_decode_scalar.decode(
			dst, dst_size, stop, runs, run_count, skip, src_size);
	abd_counter_add(ABD_COUNTER(borrow_cnt), 1);
	if (src_size <= runs->iov_len - skip)
		return abd_lz4_decode_liblz4_block(
			(const char *)runs->iov_base + skip, dst, src_size, dst_size);

	char *copy = abd_allocator_get(src_size, false);
	ssize_t result;

	if (copy == NULL)
		return -ENOMEM;
	abd_counter_add(ABD_COUNTER(borrow_copy_cnt), 1);
	abd_counter_add(ABD_COUNTER(borrow_copy_bytes), src_size);
	abd_lz4_gather(copy, runs, skip, src_size);
	result = abd_lz4_decode_liblz4_block(copy, dst, src_size, dst_size);
	abd_allocator_put(copy, src_size, false);
	return result;
}

/* liblz4 knows no hubs. */
static ssize_t abd_lz4_decode_liblz4_group(void *dst, size_t dst_size, size_t stop,
	const struct iovec *runs, size_t skip, size_t src_size, const void *hub, size_t hub_size)
{
	return abd_lz4_decode_scalar.decode_group(
		dst, dst_size, stop, runs, skip, src_size, hub, hub_size);
}

static ssize_t abd_lz4_decode_liblz4_scatter(const struct iovec *dst_runs, size_t dst_run_count,
	size_t dst_skip, size_t dst_size, const struct iovec *runs, size_t run_count, size_t skip,
	size_t src_size, void *window, size_t window_size)
{
	ssize_t result;
	char *record;

	if (dst_size > INT_MAX)
		return abd_lz4_decode_scalar.decode_scatter(dst_runs, dst_run_count, dst_skip,
			dst_size, runs, run_count, skip, src_size, window, window_size);
	record = window_size >= dst_size ? window : abd_allocator_get(dst_size, false);
	if (record == NULL)
		return -ENOMEM;
	result = abd_lz4_decode_liblz4_decode(
		record, dst_size, ABD_LZ4_STOP_WHOLE, runs, run_count, skip, src_size);
	for (size_t done = 0; result > 0 && done < (size_t)result; dst_runs++) {
		size_t n = abd_min(dst_runs->iov_len - dst_skip, (size_t)result - done);

		memcpy((char *)dst_runs->iov_base + dst_skip, record + done, n);
		done += n;
		dst_skip = 0;
	}
	if (record != window)
		abd_allocator_put(record, dst_size, false);
	return result;
}

const struct abd_lz4_decoder abd_lz4_decode_liblz4 = {
	.name = "liblz4",
	.supported = abd_lz4_decode_liblz4_supported,
	.decode = abd_lz4_decode_liblz4_decode,
	.decode_group = abd_lz4_decode_liblz4_group,
	.decode_scatter = abd_lz4_decode_liblz4_scatter,
};
