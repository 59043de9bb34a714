/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lz4 from and to buffers (raw lz4 blocks, without ZFS's length in front), and checksums of
 * buffers.
 *
 * The lz4 calls return the bytes produced, or -EBADMSG (the block is damaged, or would produce more
 * than there is room for), -ENOSPC (the compressed form is larger than the room), -ENOMEM, -EINVAL
 * (a size that lz4 can't serve: 2,113,929,217 bytes or more to compress, or a compressed block of
 * 2 GiB or more; a record may be larger).
 *
 * Every decoder accepts what LZ4_decompress_safe() of liblz4 accepts, except match offset 0, which
 * the format forbids. dst_size is the room in dst; only the calls named exact expect that a block
 * produces this size.
 *
 * Contract: all ranges lie within their buffers; source and destination do not overlap.
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
 * Returns: bytes written, or an error as above; the content of the room is then undefined.
 * Threads: src is read, dst written.
 * Source:  zfs_lz4_compress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API ssize_t abd_lz4_compress(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t src_size);

/**
 * Decompress the block in src [src_off, +src_size) into dst [dst_off, +dst_size).
 *
 * Units:   offsets and sizes in bytes.
 * Returns: bytes written, or an error as above; the content of the room is then undefined.
 * Threads: src is read, dst written.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API ssize_t abd_lz4_decompress(abd_t *dst, const abd_t *src, size_t dst_off, size_t dst_size,
	size_t src_off, size_t src_size);

/**
 * Decompress the block in src [src_off, +src_size) into dst [0, dst_size).
 *
 * Units:   offset and sizes in bytes.
 * Returns: bytes written, or an error as above; the content of the room is then undefined.
 * Threads: src is read.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c.
 */
ABD_API ssize_t abd_lz4_decompress_to_buf(
	void *dst, const abd_t *src, size_t dst_size, size_t src_off, size_t src_size);

/**
 * Decompress the block in src [src_off, +src_size) into dst [dst_off, +size), if it holds exactly
 * size bytes. For engines that know the size of a record. A block that holds fewer bytes, or more,
 * is damaged.
 *
 * Units:   offsets and sizes in bytes.
 * Returns: size, or an error as above, -EBADMSG for a block of another length; the content of dst's
 *          range is then undefined.
 * Threads: src is read, dst written.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c, since c90dc28089.
 */
ABD_API ssize_t abd_lz4_decompress_exact(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t size, size_t src_off, size_t src_size);

/**
 * abd_lz4_decompress_exact() into dst [0, size).
 *
 * Units:   offset and sizes in bytes.
 * Returns: size, or an error as above, -EBADMSG for a block of another length; the content of dst's
 *          range is then undefined.
 * Threads: src is read.
 * Source:  zfs_lz4_decompress_buf() in module/zfs/lz4_zfs.c, since c90dc28089.
 */
ABD_API ssize_t abd_lz4_decompress_exact_to_buf(
	void *dst, const abd_t *src, size_t size, size_t src_off, size_t src_size);

/**
 * Decompress bytes [range_off, +range_size) of the record that the block in src [src_off,
 * +src_size) holds into dst [0, range_size). The call decodes no further than the range, and checks
 * only what it decodes. For range_off > 0 it allocates memory for the bytes before the range,
 * unless the range lies past the record's end.
 *
 * Units:   offsets and sizes in bytes; the range is of the record before compression.
 * Returns: bytes written, fewer than range_size where the record ends, 0 past its end; or an error
 *          as above.
 * Threads: src is read.
 * Source:  openzfs PR 19107 proposes the same for the ARC.
 */
ABD_API ssize_t abd_lz4_decompress_range_to_buf(void *dst, const abd_t *src, size_t range_off,
	size_t range_size, size_t src_off, size_t src_size);

/* ---- blocks that can be entered in the middle ------------------------------------------------ */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* C++ has no such arrays; compilers do */
/**
 * Where a block can be entered. Each 64 KiB of the record begin with a hub of hub_size bytes; a
 * match reaches back into its own group of group_size bytes or into the hub of its 64 KiB, nowhere
 * else. points[i] is about the first sequence that begins at or after byte i * group_size of the
 * record: logical is where it begins in the record, and stored where it begins in the block. If
 * there is no such sequence, these are the ends of record and block.
 * Threads: calls that take it const only read it.
 */
struct abd_lz4_index {
	uint32_t group_size, hub_size, count, reserved;
	struct {
		uint32_t logical, stored;
	} points[];
};
#pragma GCC diagnostic pop

/**
 * Bytes of an index of a record of src_size bytes.
 *
 * Units:   bytes; group_size is a power of two, 1 KiB to 64 KiB.
 * Returns: the size, or 0 for any other group_size, and for a record that lz4 can't serve.
 * Threads: any.
 */
ABD_API size_t abd_lz4_index_size(size_t src_size, size_t group_size);

/**
 * Whether an index that came from outside can be used: whether it has size bytes, its counts agree,
 * and its points rise and lie within the record and a block of block_size bytes. Every call that
 * takes an index checks the points that it uses, but trusts count: it does not know how much memory
 * index points to. Whether the index is that of the block at hand is not seen here:
 * abd_arc_put_record() sees it with ABD_ARC_VERIFY. index may be NULL only if size is 0.
 *
 * Units:   size is the memory that index points to, block_size the block's; bytes.
 * Returns: 0, or -EBADMSG.
 * Threads: any.
 */
ABD_API int abd_lz4_index_check(const struct abd_lz4_index *index, size_t size, size_t block_size);

/** How many bytes more an index takes in a file than in memory. */
#define ABD_LZ4_INDEX_FORM 8

/**
 * Write an index in the form for files, the same on every machine: little-endian words of 32 bits:
 * the bytes 'A', 'B', 'I' and the version, 1; block_size, group_size, hub_size and count; logical
 * and stored of each point; the crc32c of all these.
 *
 * Units:   sizes in bytes, index_size and block_size as in abd_lz4_index_check().
 * Returns: bytes written; -ENOSPC if there is too little room; -EBADMSG if the index is refused by
 *          abd_lz4_index_check().
 * Threads: *index is read, dst written.
 */
ABD_API ssize_t abd_lz4_index_put(void *dst, size_t dst_size, const struct abd_lz4_index *index,
	size_t index_size, size_t block_size);

/**
 * Read the form at the begin of src [0, src_size) into *index, which has index_size bytes. Nothing
 * in src is trusted: what comes back has passed abd_lz4_index_check().
 *
 * Units:   sizes in bytes; block_size is that of the block the index must belong to.
 * Returns: bytes read; -ENOSPC if *index is too small; -EBADMSG if the form is damaged, of another
 *          version or of a block of another size. The content of *index is then undefined.
 * Threads: src is read, *index written.
 */
ABD_API ssize_t abd_lz4_index_get(struct abd_lz4_index *index, size_t index_size, const void *src,
	size_t src_size, size_t block_size);

/**
 * abd_lz4_compress() with a longer search. At effort 0 to 2 it is the same. From 3 on it follows
 * chains of earlier places as far as LZ4HC does at that level; 12 is the most.
 *
 * Units:   offsets and size in bytes; effort is 0 to 12.
 * Returns: bytes written, or an error as above. -EINVAL also for any other effort. After an error
 *          the content of the room is undefined.
 * Threads: src is read, dst written.
 */
ABD_API ssize_t abd_lz4_compress_effort(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t src_size, int effort);

/**
 * Compress src [src_off, +src_size) into dst from dst_off to its end so that the block can be
 * entered at each group. *index gets the places where. The block is a standard lz4 block for every
 * decoder. Block and index depend on the bytes alone.
 *
 * Units:   offsets and sizes in bytes; group_size as in abd_lz4_index_size(), whose result *index
 *          has room for.
 * Returns: bytes written, or an error as above. -EINVAL also if group_size is none of these, or
 *          effort is not 0 to 12. After an error the content of the room and of *index is
 *          undefined.
 * Threads: src is read, dst and *index written.
 */
ABD_API ssize_t abd_lz4_compress_indexed(abd_t *dst, const abd_t *src, size_t dst_off,
	size_t src_off, size_t src_size, size_t group_size, int effort,
	struct abd_lz4_index *index);

/**
 * abd_lz4_decompress_range_to_buf() that enters the block where the index says: it decodes the hub
 * and the groups that the range lies in.
 *
 * An index that does not belong to the block is harmless: nothing outside dst [0, range_size) is
 * written and nothing outside the block is read. The call returns -EBADMSG, or writes bytes that it
 * made of this block but that are not the record's.
 *
 * Units:   offsets and sizes in bytes; the range is of the record before compression.
 * Returns: bytes written, fewer than range_size where the record ends, 0 past its end; or an error
 *          as above.
 * Threads: src and *index are read.
 */
ABD_API ssize_t abd_lz4_decompress_indexed_range_to_buf(void *dst, const abd_t *src,
	size_t range_off, size_t range_size, size_t src_off, size_t src_size,
	const struct abd_lz4_index *index);

/* ---- as ZFS keeps blocks --------------------------------------------------------------------- */

/** Size of the length that ZFS stores in front of a block, in bytes. */
#define ABD_LZ4_LENGTH_SIZE 4

/**
 * Whether ZFS would keep a record compressed: whether that saves an eighth of size, rounded down to
 * whole bytes, or more.
 *
 * Units:   bytes; compressed_size includes the length in front.
 * Returns: true if so; false for size 0.
 * Threads: any.
 * Source:  zio_get_compression_max_size() in module/zfs/zio.c.
 */
ABD_API bool abd_lz4_pays(size_t size, size_t compressed_size);

/**
 * Guess from 1 KiB of samples whether compressing bytes [src_off, +src_size) of src would save an
 * eighth: many times as fast as trying. Bytes that look random, being encrypted or compressed
 * already, would not. The guess is wrong if long pieces of such bytes repeat at odd distances.
 * Records below 64 KiB are not sampled.
 *
 * Units:   offset and size in bytes.
 * Returns: false for size 0, and if the samples look random; true promises nothing.
 * Threads: src is read.
 * Source:  none in OpenZFS.
 */
ABD_API bool abd_lz4_might_pay(const abd_t *src, size_t src_off, size_t src_size);

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
 * Units:   off and size in bytes. seed is 0 to start, or an earlier result to continue it.
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
