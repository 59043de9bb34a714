/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers and the outside: to and from struct iovec without a copy, to and from files, and over
 * memory that is not the library's. Contract for all: offset and size lie within the buffer. Errors
 * are returned as -errno.
 *
 * abd_pread() and abd_pwrite() are cancellation points, as pread() and pwrite() are. A thread that
 * is cancelled there leaves nothing behind: no lock, no memory. What was transferred by then stays.
 */
#ifndef ABD_IO_H
#define ABD_IO_H

#include <abd/buffer.h>

ABD_BEGIN_DECLS

/**
 * Describe abd [off, off + size) as an iovec, for readv(), writev(), sendmsg(), io_uring: nothing
 * is copied. Runs that are neighbours in memory share an entry, except in a gang.
 *
 * Units:   off and size in bytes, iov_max in entries.
 * Returns: entries written, at most iov_max. *covered is how many bytes they describe: call again
 *          from off + *covered for the rest. Errors: -EINVAL when iov_max is negative.
 * Owner:   the entries point into abd, which must outlive their use.
 * Threads: abd is read.
 * Source:  abd_iterate_page_func() in module/zfs/abd.c does this for the kernel, page by page.
 */
ABD_API int abd_to_iov(
	const abd_t *abd, size_t off, size_t size, struct iovec *iov, int iov_max, size_t *covered);

/**
 * Whether address and length of every piece of abd [off, off + size) are multiples of alignment, as
 * direct I/O requires. The pieces are those of abd_to_iov().
 *
 * Contract: alignment is a power of two.
 * Units:    off, size and alignment in bytes.
 * Returns:  true if so; for size 0 always.
 * Threads:  abd is read.
 * Source:   none in OpenZFS; zfs_uio_page_aligned() in module/os/linux/zfs/zfs_uio.c asks it of the
 *           caller's iovec.
 */
ABD_API bool abd_is_aligned(const abd_t *abd, size_t off, size_t size, size_t alignment);

/**
 * A gang over the pieces of an iovec, by reference; empty pieces are skipped.
 *
 * Units:   iov_count in entries.
 * Returns: the gang, or NULL with errno EINVAL (no bytes, or more than SIZE_MAX) or ENOMEM.
 * Owner:   the gang is the caller's, until abd_free(); the memory stays the caller's and must
 *          outlive it.
 * Threads: any.
 * Source:  asked for in libevent #1265.
 */
ABD_API abd_t *abd_from_iov(const struct iovec *iov, int iov_count)
	__attribute__((warn_unused_result));

/**
 * A linear buffer over memory of any origin, with a callback that frees that memory.
 *
 * Units:   size in bytes, from 1 up.
 * Returns: the buffer, or NULL with errno EINVAL (size 0) or ENOMEM; free_cb does not run then, and
 *          buf is still the caller's.
 * Owner:   the buffer owns the memory. free_cb runs exactly once, in the abd_free() of this buffer;
 *          its views have been freed before, as for every buffer.
 * Threads: any; free_cb runs in the thread that calls abd_free().
 * Source:  asked for in folly #696.
 */
ABD_API abd_t *abd_get_from_buf_cb(
	void *buf, size_t size, void (*free_cb)(void *buf, size_t size, void *arg), void *arg)
	__attribute__((warn_unused_result));

/**
 * Read size bytes at file_off of a file into dst at dst_off. Short reads are continued. Interrupted
 * ones are repeated, up to 1,000 times in a row.
 *
 * Units:   offsets and size in bytes.
 * Returns: bytes read, fewer than size only at the end of the file; or -errno, and the content of
 *          dst's range is then undefined. Errors: -EINVAL file_off is negative, or file_off + size
 *          is past 2^63 - 1; others as preadv().
 * Threads: dst is written.
 * Source:  vdev_file_io_strategy() in module/zfs/vdev_file.c borrows.
 */
ABD_API ssize_t abd_pread(int fd, abd_t *dst, size_t dst_off, size_t size, int64_t file_off);

/**
 * Write size bytes of src from src_off to a file at file_off. Short writes are continued.
 * Interrupted ones are repeated, up to 1,000 times in a row.
 *
 * Units:   offsets and size in bytes.
 * Returns: size; or -errno, and the content of the file's range is then undefined.
 *          Errors: -EINVAL as abd_pread(); -EIO the file accepts no byte; others as pwritev().
 * Threads: src is read.
 * Source:  vdev_file_io_strategy() in module/zfs/vdev_file.c borrows.
 */
ABD_API ssize_t abd_pwrite(int fd, const abd_t *src, size_t src_off, size_t size, int64_t file_off);

ABD_END_DECLS

#endif
