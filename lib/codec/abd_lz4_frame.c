/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How ZFS keeps lz4 blocks: the block's length in four big-endian bytes in front of it, and only if
 * it saves enough.
 * OpenZFS: zfs_lz4_compress_buf() in module/zfs/lz4_zfs.c, zio_get_compression_max_size() in
 * module/zfs/zio.c.
 */
#include "abd_lz4_frame.h"
#include "abd_check.h"
#include "abd_impl.h"

#include <abd/codec.h>
#include <abd/operate.h>

bool abd_lz4_pays(size_t size, size_t compressed_size)
{
	return compressed_size <= abd_lz4_room(size) && size > 0;
}

void abd_lz4_length_put(abd_t *dst, size_t dst_off, uint32_t length)
{
	uint8_t bytes[ABD_LZ4_LENGTH_SIZE] = {(uint8_t)(length >> 24), (uint8_t)(length >> 16),
		(uint8_t)(length >> 8), (uint8_t)length};

	abd_check_range(__func__, dst, dst_off, sizeof(bytes));
	abd_copy_from_buf_as(__func__, dst, bytes, dst_off, sizeof(bytes));
}

ssize_t abd_lz4_length_get(const abd_t *src, size_t src_off, size_t src_size)
{
	uint8_t bytes[ABD_LZ4_LENGTH_SIZE];
	uint32_t length;

	abd_check_range(__func__, src, src_off, src_size);
	if (src_size < sizeof(bytes))
		return -EBADMSG;
	abd_copy_to_buf_off(bytes, src, src_off, sizeof(bytes));
	length = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
		 bytes[3];
	return length <= src_size - sizeof(bytes) ? (ssize_t)length : -EBADMSG;
}
