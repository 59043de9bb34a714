/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers and the outside: to and from iovecs, files.
 * Invariant: no system call gets more than ABD_IO_BATCH entries (IOV_MAX is 1024 on Linux), nor a
 * byte outside the range.
 */
#include "abd_io.h"

#include "abd_check.h"
#include "abd_runs.h"
#include "abd_walk.h"

#include <abd/io.h>

/*
 * 64 entries: 1 KiB of stack, and 256 KiB of 4 KiB runs per call. At that size the cost of the call
 * itself no longer counts.
 */
#define ABD_IO_BATCH 64

int abd_to_iov(
	const abd_t *abd, size_t off, size_t size, struct iovec *iov, int iov_max, size_t *covered)
{
	abd_check_range(__func__, abd, off, size);
	ABD_REQUIRE(covered != NULL, "covered is NULL");
	ABD_REQUIRE(iov != NULL || iov_max <= 0, "iov is NULL");
	*covered = 0;
	if (iov_max < 0)
		return -EINVAL;
	return (int)abd_runs_map(NULL, abd, off, size, iov, (size_t)iov_max, covered);
}

static inline bool abd_io_aligned_segment(void *priv, const struct abd_segment *segment)
{
	uintptr_t *bits = priv;

	*bits |= (uintptr_t)segment->a | segment->size;
	return true;
}

static const struct abd_body abd_io_aligned_body = {.segment = abd_io_aligned_segment};

bool abd_is_aligned(const abd_t *abd, size_t off, size_t size, size_t alignment)
{
	struct abd_side a = abd_side(abd, off);
	uintptr_t bits = 0;

	abd_check_range(__func__, abd, off, size);
	ABD_REQUIRE(alignment > 0 && (alignment & (alignment - 1)) == 0,
		"alignment of %zu bytes is no power of two", alignment);
	abd_walk(NULL, &a, NULL, size, 0, abd_io_aligned_body, &bits);
	return (bits & (alignment - 1)) == 0;
}

static bool abd_io_sum(const struct iovec *iov, int iov_count, size_t *sum)
{
	*sum = 0;
	for (int i = 0; i < iov_count; i++) {
		if (iov[i].iov_len > SIZE_MAX - *sum)
			return false;
		*sum += iov[i].iov_len;
	}
	return *sum > 0;
}

static bool abd_io_add(abd_t *gang, const struct iovec *piece)
{
	abd_t *child = abd_get_from_buf(piece->iov_base, piece->iov_len);

	if (child == NULL)
		return false;
	if (abd_gang_add(gang, child, true) == 0)
		return true;
	abd_free(child);
	return false;
}

abd_t *abd_from_iov(const struct iovec *iov, int iov_count)
{
	size_t sum;

	ABD_REQUIRE(iov != NULL || iov_count <= 0, "iov is NULL");
	for (int i = 0; i < iov_count; i++)
		ABD_REQUIRE(iov[i].iov_base != NULL || iov[i].iov_len == 0,
			"piece %d, of %zu bytes, is NULL", i, iov[i].iov_len);
	if (!abd_io_sum(iov, iov_count, &sum)) {
		errno = EINVAL;
		return NULL;
	}

	abd_t *gang = abd_alloc_gang();

	for (int i = 0; gang != NULL && i < iov_count; i++) {
		if (iov[i].iov_len == 0 || abd_io_add(gang, &iov[i]))
			continue;
		abd_free(gang);
		gang = NULL;
		errno = ENOMEM;
	}
	return gang;
}

/* One transfer: bytes moved, or -errno. An interrupted one is repeated, up to ABD_IO_TRIES times.
 */
static ssize_t abd_io_transfer(int fd, const struct iovec *iov, int count, int64_t off, bool writes)
{
	unsigned tries = 0;
	ssize_t moved;

	do {
		moved = writes ? pwritev(fd, iov, count, off) : preadv(fd, iov, count, off);
	} while (moved < 0 && errno == EINTR && ++tries < ABD_IO_TRIES);
	return moved < 0 ? -errno : moved;
}

/*
 * Move the bytes batch by batch: from the file if there is a reader, the call, else to the file.
 * After a short transfer, continue where it ended.
 */
static ssize_t abd_io_all(
	const char *reader, int fd, const abd_t *abd, size_t off, size_t size, int64_t file_off)
{
	struct iovec iov[ABD_IO_BATCH];
	size_t done = 0, covered;

	while (done < size) {
		int count = (int)abd_runs_map(
			reader, abd, off + done, size - done, iov, ABD_IO_BATCH, &covered);
		ssize_t moved =
			abd_io_transfer(fd, iov, count, file_off + (int64_t)done, reader == NULL);

		if (moved < 0)
			return moved;
		done += (size_t)moved;
		if (moved == 0)
			return reader == NULL ? -EIO : (ssize_t)done;
	}
	return (ssize_t)done;
}

ssize_t abd_pread(int fd, abd_t *dst, size_t dst_off, size_t size, int64_t file_off)
{
	abd_check_range(__func__, dst, dst_off, size);
	if (!abd_io_range_exists(file_off, size))
		return -EINVAL;
	return abd_io_all(__func__, fd, dst, dst_off, size, file_off);
}

ssize_t abd_pwrite(int fd, const abd_t *src, size_t src_off, size_t size, int64_t file_off)
{
	abd_check_range(__func__, src, src_off, size);
	if (!abd_io_range_exists(file_off, size))
		return -EINVAL;
	return abd_io_all(NULL, fd, src, src_off, size, file_off);
}
