/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4 from and to buffers: raw lz4 blocks, without ZFS's length in front.
 * All return the bytes produced, or -EBADMSG (damaged block, or one that would produce more than there is room for),
 * -ENOSPC (compressed form larger than the room), -ENOMEM, -EINVAL (a size lz4 can't serve, from 2,113,929,217 bytes up).
 * Accepted is what LZ4_decompress_safe() of liblz4 accepts, but for match offset 0, which the format forbids.
 * dst_size is room, not an expectation. Contract: all ranges lie within their buffers; source and destination are apart.
 * Threads: as for reading src and writing dst.
 * OpenZFS: zfs_lz4_compress(), zfs_lz4_decompress() in module/zcommon/lz4_zfs.c, and their borrowing callers in module/zfs/zio_compress.c.
 */
#ifndef ABD_CODEC_H
#define ABD_CODEC_H

#include <abd/buffer.h>

ABD_BEGIN_DECLS

/**
 * Compress src [src_off, +src_size) into dst from dst_off to its end. After an error the content of that room holds no promise.
 */
ABD_API ssize_t abd_lz4_compress(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t src_size);

/** Decompress the block in src [src_off, +src_size) into dst [dst_off, +dst_size). After an error that room holds no promise. */
ABD_API ssize_t abd_lz4_decompress(abd_t *dst, const abd_t *src, size_t dst_off, size_t dst_size,
	size_t src_off, size_t src_size);

/** Decompress the block in src [src_off, +src_size) into dst [0, dst_size). After an error that room holds no promise. */
ABD_API ssize_t abd_lz4_decompress_to_buf(
	void *dst, const abd_t *src, size_t dst_size, size_t src_off, size_t src_size);

/**
 * Bytes [range_off, +range_size) of the record that the block in src [src_off, +src_size) holds, into dst [0, range_size).
 * Decodes no further than it must, and checks no more than it decodes.
 *
 * Returns: bytes written, fewer than range_size where the record ends, 0 past its end; or an error as above.
 *          -ENOMEM only for range_off > 0, where what lies before the range needs memory.
 */
ABD_API ssize_t abd_lz4_decompress_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size);

ABD_END_DECLS

#endif
