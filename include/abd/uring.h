/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes by io_uring. The pool's region is registered with a ring once; from then on runs
 * in it are transferred without the kernel looking their pages up each time. Buffers from elsewhere
 * work too, unregistered.
 *
 * The ring stays the engine's. abd_uring_pread() and abd_uring_pwrite() consume the completions of
 * their own requests only, whatever user_data the engine uses. Requests of the engine may be under
 * way, and its completions may wait in the ring: they stay there, in their order. A ring that can't
 * be shared is a broken contract, found before anything is submitted where that is possible.
 *
 * After fork() a child may go on with its copy of the ring: its transfers go unregistered. With
 * IORING_SETUP_SQPOLL they are refused, for the kernel's thread works on the memory of the process
 * that set the ring up.
 *
 * Only where the library was built with liburing: ABD_HAS_URING in version.h.
 */
#ifndef ABD_URING_H
#define ABD_URING_H

#include <abd/buffer.h>
#include <abd/version.h>

#if !ABD_HAS_URING
#error "this libabd was built without io_uring: ABD_WITH_URING, which needs liburing"
#endif

ABD_BEGIN_DECLS

/* liburing's; its header wants _GNU_SOURCE. */
struct io_uring;
struct io_uring_sqe;

/** A ring that knows the pool. The ring is the caller's. The other fields are private. */
struct abd_uring {
	struct io_uring *ring;
	char *abd_base; /* of the registered region; NULL: none */
	size_t abd_size;
	unsigned char *abd_home; /* a byte: 1 in the process that called abd_uring_begin(), 0 in its
				    children */
	uint64_t abd_mark; /* tells whole transfers' completions from others; 0: not chosen yet */
};

/**
 * Register the pool's region with a ring, as its fixed buffers: the ring must have none of its own.
 *
 * The kernel takes and keeps pool_size bytes of memory for it, at once; abd_cache_reap_now() gives
 * none of the pool's back from then on.
 *
 * Contract: this process set the ring up.
 * Returns: 0, and *uring is ready; or -errno: -ENOMEM no region, no memory, or more than
 *          RLIMIT_MEMLOCK allows; -EBUSY the ring has fixed buffers; others as
 *          io_uring_register_buffers(). *uring then works all the same, unregistered.
 * Owner:   *uring and *ring stay the caller's; end with abd_uring_end(), after an error too.
 * Threads: one at a time per ring, as for liburing; for all calls here.
 * Source:  io_uring_register_buffers() of liburing.
 */
ABD_API int abd_uring_begin(struct abd_uring *uring, struct io_uring *ring);

/**
 * Unregister what abd_uring_begin() registered. In a child of the process that called it, only
 * *uring ends: the ring's registration serves the parent.
 *
 * Contract: nothing prepared here is under way.
 * Returns:  nothing; can't fail.
 * Owner:    *uring and *ring stay the caller's.
 * Threads:  one at a time per ring.
 * Source:   io_uring_unregister_buffers() of liburing.
 */
ABD_API void abd_uring_end(struct abd_uring *uring);

/**
 * Prepare one request for the first piece of dst [dst_off, dst_off + size): a read of the file from
 * file_off.
 *
 * Contract: size > 0; the range lies within dst, which outlives the request. In a child of the
 *           process that called abd_uring_begin(), the ring has no IORING_SETUP_SQPOLL.
 * Units:    offsets and size in bytes.
 * Returns:  how many of the size bytes the request covers, at most 1 GiB: prepare the next for the
 *           rest. A completion may be shorter than that, as every read's. With a negative file_off
 *           the request completes with -EINVAL.
 * Owner:    the request refers to dst until it has completed.
 * Threads:  one at a time per ring; dst is written until then.
 * Source:   io_uring_prep_read_fixed() of liburing; zio's issue to a device in OpenZFS.
 */
ABD_API size_t abd_uring_prep_read(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	abd_t *dst, size_t dst_off, size_t size, off_t file_off)
	__attribute__((warn_unused_result));

/**
 * The same for a write of src to the file.
 *
 * Contract: as abd_uring_prep_read(), with src in place of dst.
 * Units:    offsets and size in bytes.
 * Returns:  how many of the size bytes the request covers, at most 1 GiB. With a negative file_off
 *           the request completes with -EINVAL.
 * Owner:    the request refers to src until it has completed.
 * Threads:  one at a time per ring; src is read until then.
 * Source:   io_uring_prep_write_fixed() of liburing.
 */
ABD_API size_t abd_uring_prep_write(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	const abd_t *src, size_t src_off, size_t size, off_t file_off)
	__attribute__((warn_unused_result));

/**
 * Read size bytes at file_off of a file into dst at dst_off, all pieces at the same time. Short
 * reads are continued. Interrupted ones are repeated, up to 1,000 times in a row.
 *
 * Contract: no request is prepared in the ring that was not submitted. The completion queue keeps
 *           one place for this call: requests of the engine that are under way, and its completions
 *           that wait, are fewer together than the queue has entries. With IORING_SETUP_IOPOLL, but
 *           not SQPOLL, there are none of either. Nobody holds a completion (io_uring_peek_cqe())
 *           that is not marked as seen: it may move. The ring was set up by flags of Linux 6.17 or
 *           before. io_uring_wait_cqe() does not fail for good, as it does on a ring that was
 *           ended.
 * Units:    offsets and size in bytes.
 * Returns:  bytes read, fewer than size only at the end of the file; or -errno, and dst's range
 *           then holds no promise. Nothing of it is under way any more when this returns. Errors:
 *           -EINVAL file_off is negative, or file_off + size is past the largest off_t, or the ring
 *           has SQPOLL and was begun by this process's parent; -EAGAIN the kernel takes no request
 *           now, or the file has no data now and does not wait (O_NONBLOCK); -EINTR too many
 *           interruptions; others as the kernel's.
 * Threads:  one at a time per ring; dst is written.
 * Source:   see abd_pread().
 */
ABD_API ssize_t abd_uring_pread(
	struct abd_uring *uring, int fd, abd_t *dst, size_t dst_off, size_t size, off_t file_off);

/**
 * Write size bytes of src from src_off to a file at file_off; as abd_uring_pread().
 *
 * Contract: the ring's, as abd_uring_pread().
 * Units:    offsets and size in bytes.
 * Returns:  size; or -errno, and the file's range then holds no promise. Errors: as
 *           abd_uring_pread(); -EIO the file accepts no byte.
 * Threads:  one at a time per ring; src is read.
 * Source:   see abd_pwrite().
 */
ABD_API ssize_t abd_uring_pwrite(struct abd_uring *uring, int fd, const abd_t *src, size_t src_off,
	size_t size, off_t file_off);

ABD_END_DECLS

#endif
