/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liblz4 as a decoder among the others: OpenZFS's way, borrow and copy, and the oracle of the rest.
 * It takes match offset 0, which the format forbids.
 */
#include "abd_allocator.h"
#include "abd_counter.h"
#include "abd_lz4_decode.h"

#include <errno.h>
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

static ssize_t abd_lz4_decode_liblz4_block(
	const char *src, char *dst, size_t src_size, size_t dst_size, size_t stop)
{
	int room = (int)dst_size, produced;

	if (stop == ABD_LZ4_STOP_PREFIX || stop < dst_size)
		produced = LZ4_decompress_safe_partial(
			src, dst, (int)src_size, (int)abd_min(stop, dst_size), room);
	else
		produced = LZ4_decompress_safe(src, dst, (int)src_size, room);
	return produced >= 0 ? produced : -EBADMSG;
}

static ssize_t abd_lz4_decode_liblz4_decode(void *dst, size_t dst_size, size_t stop,
	const struct iovec *runs, size_t run_count, size_t skip, size_t src_size)
{
	(void)run_count;
	abd_counter_add(ABD_COUNTER(borrow_cnt), 1);
	if (src_size <= runs->iov_len - skip)
		return abd_lz4_decode_liblz4_block(
			(const char *)runs->iov_base + skip, dst, src_size, dst_size, stop);

	char *copy = abd_allocator_get(src_size, false);
	ssize_t result;

	if (copy == NULL)
		return -ENOMEM;
	abd_counter_add(ABD_COUNTER(borrow_copy_cnt), 1);
	abd_counter_add(ABD_COUNTER(borrow_copy_bytes), src_size);
	abd_lz4_gather(copy, runs, skip, src_size);
	result = abd_lz4_decode_liblz4_block(copy, dst, src_size, dst_size, stop);
	abd_allocator_put(copy, src_size, false);
	return result;
}

static ssize_t abd_lz4_decode_liblz4_scatter(const struct iovec *dst_runs, size_t dst_run_count,
	size_t dst_skip, size_t dst_size, const struct iovec *runs, size_t run_count, size_t skip,
	size_t src_size, void *window, size_t window_size)
{
	char *record = window_size >= dst_size ? window : abd_allocator_get(dst_size, false);
	ssize_t result;

	(void)dst_run_count;
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
	.decode_scatter = abd_lz4_decode_liblz4_scatter,
};
