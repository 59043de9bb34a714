/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4 through liblz4, which wants one piece of memory on each side: a lease on the ranges (OpenZFS's way: borrow and copy where
 * they are not one piece).
 * Invariant: nothing outside the stated ranges is read or written, whatever the data.
 */
#include "abd_checked.h"
#include "abd_lease.h"

#include <abd/codec.h>

#include <limits.h>
#include <lz4.h>

/* liblz4 counts in int; room beyond that can't be filled by one block. */
static int abd_lz4_room(size_t size)
{
	return size > INT_MAX ? INT_MAX : (int)size;
}

ssize_t abd_lz4_compress(abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t src_size)
{
	struct abd_lease from, to;
	ssize_t result = -ENOMEM;

	abd_check_range(__func__, dst, dst_off, 0);
	abd_check_range(__func__, src, src_off, src_size);
	if (src_size > LZ4_MAX_INPUT_SIZE)
		return -EINVAL;

	size_t bound = (size_t)LZ4_compressBound((int)src_size);
	size_t room = abd_min(abd_get_size(dst) - dst_off, bound);

	if (!abd_lease_read(&from, src, src_off, src_size))
		return -ENOMEM;
	if (abd_lease_write(&to, dst, dst_off, room)) {
		int produced = LZ4_compress_default(from.buf, to.buf, (int)src_size, (int)room);

		result = produced > 0 ? produced : -ENOSPC;
		abd_lease_write_end(&to, dst, dst_off, (size_t)produced);
	}
	abd_lease_read_end(&from);
	return result;
}

/* Decompress size bytes at from. */
static ssize_t abd_lz4_block(char *dst, const char *from, size_t dst_size, size_t size)
{
	int produced;

	if (size > INT_MAX)
		return -EINVAL;
	produced = LZ4_decompress_safe(from, dst, (int)size, abd_lz4_room(dst_size));
	return produced >= 0 ? produced : -EBADMSG;
}

ssize_t abd_lz4_decompress_to_buf(
	void *dst, const abd_t *src, size_t dst_size, size_t src_off, size_t src_size)
{
	struct abd_lease from;
	ssize_t result;
	char nothing[1];

	abd_check_range(__func__, src, src_off, src_size);
	ABD_REQUIRE(dst != NULL || dst_size == 0, "memory is NULL");
	if (!abd_lease_read(&from, src, src_off, src_size))
		return -ENOMEM;
	result = abd_lz4_block(dst != NULL ? dst : nothing, from.buf, dst_size, src_size);
	abd_lease_read_end(&from);
	return result;
}

ssize_t abd_lz4_decompress(abd_t *dst, const abd_t *src, size_t dst_off, size_t dst_size,
	size_t src_off, size_t src_size)
{
	struct abd_lease to;
	ssize_t result;

	abd_check_range(__func__, dst, dst_off, dst_size);
	abd_check_range(__func__, src, src_off, src_size);
	if (!abd_lease_write(&to, dst, dst_off, dst_size))
		return -ENOMEM;
	result = abd_lz4_decompress_to_buf(to.buf, src, dst_size, src_off, src_size);
	abd_lease_write_end(&to, dst, dst_off, result > 0 ? (size_t)result : 0);
	return result;
}
