/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4 from and to buffers (raw lz4 blocks, without ZFS's length in front), and checksums while
 * iterating. The lz4 calls return the bytes produced, or -EBADMSG (damaged block, or one that would
 * produce more than there is room for), -ENOSPC (compressed form larger than the room), -ENOMEM,
 * -EINVAL (a size lz4 can't serve: from 2,113,929,217 bytes up to be compressed, from 2 GiB up
 * compressed; a record may be larger). Accepted, by every decoder, is what LZ4_decompress_safe() of
 * liblz4 accepts, but for match offset 0, which the format forbids. dst_size is room, not an
 * expectation, but for the calls named exact.
 * Contract: all ranges lie within their buffers; source and destination are apart.
 * Threads: as for reading src and writing dst.
 * OpenZFS: zfs_lz4_compress_buf(), zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c, and their
 * borrowing callers in module/zfs/zio_compress.c.
 */
#ifndef ABD_CODEC_H
#define ABD_CODEC_H

#include <abd/buffer.h>

ABD_BEGIN_DECLS

/**
 * Compress src [src_off, +src_size) into dst from dst_off to its end.
 *
 * Units:   offsets and size in bytes.
 * Returns: bytes written, or an error as above; the room then holds no promise.
 * Threads: src is read, dst written.
 * Source:  zfs_lz4_compress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API ssize_t abd_lz4_compress(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t src_size);

/**
 * Decompress the block in src [src_off, +src_size) into dst [dst_off, +dst_size).
 *
 * Units:   offsets and sizes in bytes.
 * Returns: bytes written, or an error as above; the room then holds no promise.
 * Threads: src is read, dst written.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API ssize_t abd_lz4_decompress(abd_t *dst, const abd_t *src, size_t dst_off, size_t dst_size,
	size_t src_off, size_t src_size);

/**
 * Decompress the block in src [src_off, +src_size) into dst [0, dst_size).
 *
 * Units:   offset and sizes in bytes.
 * Returns: bytes written, or an error as above; the room then holds no promise.
 * Threads: src is read.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API ssize_t abd_lz4_decompress_to_buf(
	void *dst, const abd_t *src, size_t dst_size, size_t src_off, size_t src_size);

/**
 * Decompress the block in src [src_off, +src_size) into dst [dst_off, +size), if it holds exactly
 * size bytes: what an engine asks for that knows a record's size. A block that ends earlier, or
 * holds more, is damaged.
 *
 * Units:   offsets and sizes in bytes.
 * Returns: size, or an error as above, -EBADMSG for a block of another length; dst's range then
 *          holds no promise.
 * Threads: src is read, dst written.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c, since c90dc28089.
 */
ABD_API ssize_t abd_lz4_decompress_exact(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t size, size_t src_off, size_t src_size);

/**
 * abd_lz4_decompress_exact() into dst [0, size).
 *
 * Units:   offset and sizes in bytes.
 * Returns: size, or an error as above, -EBADMSG for a block of another length; dst's range then
 *          holds no promise.
 * Threads: src is read.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c, since c90dc28089.
 */
ABD_API ssize_t abd_lz4_decompress_exact_to_buf(
	void *dst, const abd_t *src, size_t size, size_t src_off, size_t src_size);

/**
 * Bytes [range_off, +range_size) of the record that the block in src [src_off, +src_size) holds,
 * into dst [0, range_size). Decodes no further than it must, and checks no more than it decodes.
 * For range_off > 0 what lies before the range needs memory while it is decoded, unless the range
 * lies past the record's end.
 *
 * Units:   offsets and sizes in bytes; the range is of the record before compression.
 * Returns: bytes written, fewer than range_size where the record ends, 0 past its end; or an error
 *          as above.
 * Threads: src is read.
 * Source:  openzfs PR 19107 wants the same of the ARC.
 */
ABD_API ssize_t abd_lz4_decompress_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size);

/* ---- as ZFS keeps blocks --------------------------------------------------------------------- */

/** Bytes of the length in front of a block of ZFS's. */
#define ABD_LZ4_LENGTH_SIZE 4

/**
 * Whether ZFS would keep a record compressed: if an eighth or more is saved.
 *
 * Units:   bytes; compressed_size with its length in front.
 * Returns: true if so; for size 0 never.
 * Threads: any.
 * Source:  zio_get_compression_max_size() in module/zfs/zio.c.
 */
ABD_API bool abd_lz4_pays(size_t size, size_t compressed_size);

/**
 * Write a block's length as ZFS has it, big-endian, into dst [dst_off, +4). The block goes behind
 * it.
 *
 * Units:   dst_off and length in bytes.
 * Returns: nothing; can't fail.
 * Threads: dst is written.
 * Source:  zfs_lz4_compress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API void abd_lz4_length_put(abd_t *dst, size_t dst_off, uint32_t length);

/**
 * The length in front of the block in src [src_off, +src_size); the block begins at src_off + 4.
 *
 * Units:   offset and sizes in bytes.
 * Returns: the length, or -EBADMSG when there are fewer than 4 bytes, or fewer behind them than the
 *          length says.
 * Threads: src is read.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API ssize_t abd_lz4_length_get(const abd_t *src, size_t src_off, size_t src_size);

/* ---- checksums of abd [off, +size) ----------------------------------------------------------- */

/**
 * fletcher_4 over 32-bit words in this machine's byte order, bit-compatible with OpenZFS; a last
 * word that is not complete is filled up with zeros (OpenZFS leaves such sizes undefined).
 *
 * Units:   off and size in bytes.
 * Returns: nothing; checksum has the four sums.
 * Threads: abd is read.
 * Source:  fletcher_4_native() in module/zcommon/zfs_fletcher.c.
 */
ABD_API void abd_fletcher_4(const abd_t *abd, size_t off, size_t size, uint64_t checksum[4]);

/**
 * abd_fletcher_4() over words in the other byte order.
 *
 * Units:   off and size in bytes.
 * Returns: nothing; checksum has the four sums.
 * Threads: abd is read.
 * Source:  fletcher_4_byteswap() in module/zcommon/zfs_fletcher.c.
 */
ABD_API void abd_fletcher_4_swapped(
	const abd_t *abd, size_t off, size_t size, uint64_t checksum[4]);

/**
 * crc32c (Castagnoli).
 *
 * Units:   off and size in bytes. seed 0 starts; a result continues.
 * Returns: the checksum.
 * Threads: abd is read.
 * Source:  RFC 3720 has the polynomial and test vectors.
 */
ABD_API uint32_t abd_crc32c(const abd_t *abd, size_t off, size_t size, uint32_t seed);

/**
 * XXH3, 64 bits.
 *
 * Units:   off and size in bytes.
 * Returns: the hash.
 * Threads: abd is read.
 * Source:  XXH3_64bits_withSeed() of xxHash.
 */
ABD_API uint64_t abd_xxh3(const abd_t *abd, size_t off, size_t size, uint64_t seed);

ABD_END_DECLS

#endif
