/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes by io_uring. The pool's region is registered with a ring once. From then on
 * Linux transfers runs in it without looking up their pages each time. Buffers from elsewhere work
 * too, unregistered.
 *
 * The ring belongs to the engine. abd_uring_pread() and abd_uring_pwrite() consume the completions
 * of their own requests only, whatever user_data the engine uses. Requests of the engine may be in
 * flight, and its completions may wait in the ring: they stay there, in their order. A ring that
 * can't be shared is a broken contract. It is reported before anything is submitted, unless it
 * shows only when completions are awaited.
 *
 * After fork() either the parent or the child may continue to use the ring, but not both: its
 * queues are shared between them. A child's transfers are unregistered. With IORING_SETUP_SQPOLL
 * they are refused, because Linux's polling thread works on the memory of the process that set the
 * ring up.
 *
 * This header needs a library built with liburing: ABD_HAS_URING in version.h.
 */
#ifndef ABD_URING_H
#define ABD_URING_H

#include <abd/buffer.h>
#include <abd/version.h>

#if !ABD_HAS_URING
#error "this libabd was built without io_uring: ABD_WITH_URING, which needs liburing"
#endif

ABD_BEGIN_DECLS

/* Declared here because liburing's header needs _GNU_SOURCE. */
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
 * Linux allocates and pins pool_size bytes of memory at once. From then on abd_cache_reap_now()
 * gives back nothing of the pool. The kernel copies pinned memory at each fork(): with a region of
 * 1 GiB that took 2 to 3 s, and another 1 GiB while the child lived. A host that forks to run a
 * program should use posix_spawn() or vfork(), or call madvise(MADV_DONTFORK) for the region that
 * abd_pool_region() returns.
 *
 * Contract: this process set the ring up.
 * Returns: 0, and *uring is ready; or -errno: -ENOMEM no region, no memory, or more than
 *          RLIMIT_MEMLOCK allows; -EBUSY the ring has fixed buffers; others as
 *          io_uring_register_buffers(). *uring then still works, unregistered.
 * Owner:   *uring and *ring stay the caller's; call abd_uring_end() at the end, after an error too.
 * Threads: one at a time per ring, as for liburing; for all calls here.
 * Source:  io_uring_register_buffers() of liburing.
 */
ABD_API int abd_uring_begin(struct abd_uring *uring, struct io_uring *ring);

/**
 * Unregister what abd_uring_begin() registered. In a child of the process that called it, only
 * *uring ends: the ring's registration serves the parent.
 *
 * Contract: no request prepared by these calls is in flight.
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
 *           rest. The read may transfer fewer bytes, as any read. With a negative file_off
 *           the request completes with -EINVAL.
 * Owner:    the request refers to dst until it has completed.
 * Threads:  one at a time per ring; dst is written until then.
 * Source:   io_uring_prep_read_fixed() of liburing; zio's issue to a device in OpenZFS.
 */
ABD_API size_t abd_uring_prep_read(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	abd_t *dst, size_t dst_off, size_t size, int64_t file_off)
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
	const abd_t *src, size_t src_off, size_t size, int64_t file_off)
	__attribute__((warn_unused_result));

/**
 * Read size bytes at file_off of a file into dst at dst_off, all pieces at the same time. Short
 * reads are continued. Interrupted ones are repeated, up to 1,000 times in a row.
 *
 * Contract: every request prepared in the ring was submitted. The completion queue has room for one
 *           more: the engine's requests in flight and its waiting completions are together fewer
 *           than the queue's entries. With IORING_SETUP_IOPOLL but not SQPOLL, the engine has no
 *           request in flight and no completion waiting. Nobody holds a completion
 *           (io_uring_peek_cqe()) that is not marked as seen, because it may move. The ring was
 *           set up with flags that Linux 6.17 knows, and io_uring_queue_exit() has not been called.
 * Units:    offsets and size in bytes.
 * Returns:  bytes read, fewer than size only at the end of the file; or -errno, and the content of
 *           dst's range is then undefined. A pipe or a socket is read in its order, one piece
 *           after another, with file_off 0; with O_NONBLOCK, what it has now is read. None of the
 *           call's requests is in flight when it returns.
 *           Errors: -EINVAL file_off is negative, or file_off + size is past 2^63 - 1, or
 *           the ring has SQPOLL and abd_uring_begin() was called by this process's parent; -EAGAIN
 *           the kernel takes no request now, or the file has no data now and does not wait
 *           (O_NONBLOCK); -EINTR too many interruptions; others as the kernel's.
 * Threads:  one at a time per ring; dst is written.
 * Source:   see abd_pread().
 */
ABD_API ssize_t abd_uring_pread(
	struct abd_uring *uring, int fd, abd_t *dst, size_t dst_off, size_t size, int64_t file_off);

/**
 * Write size bytes of src from src_off to a file at file_off; as abd_uring_pread().
 *
 * Contract: the ring's, as abd_uring_pread().
 * Units:    offsets and size in bytes.
 * Returns:  size; less only if a pipe or a socket with O_NONBLOCK takes no more now; or -errno, and
 *           the content of the file's range is then undefined. Errors: as abd_uring_pread(); -EIO
 *           the file accepts no byte.
 * Threads:  one at a time per ring; src is read.
 * Source:   see abd_pwrite().
 */
ABD_API ssize_t abd_uring_pwrite(struct abd_uring *uring, int fd, const abd_t *src, size_t src_off,
	size_t size, int64_t file_off);

ABD_END_DECLS

#endif
