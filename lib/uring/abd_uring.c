/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers and io_uring: a request per piece of memory, by registered buffer where the piece lies in
 * the pool. Invariants: a piece lies in one registered buffer or in none; when a transfer returns,
 * the kernel uses none of its memory.
 *
 * The kernel takes buffers of up to 1 GiB, so the region is registered in parts of that; see
 * io_uring_register(2).
 */
#include "abd_checked.h"
#include "abd_iter.h"

#include <abd/pool.h>
#include <abd/uring.h>

#include <liburing.h>

#define ABD_URING_PART ((size_t)1 << 30)
/*
 * 64 requests at a time: 256 KiB of single pages, by which the cost of entering the kernel no
 * longer shows.
 */
#define ABD_URING_BATCH 64

static size_t abd_uring_parts(size_t size)
{
	return size / ABD_URING_PART + (size % ABD_URING_PART != 0);
}

int abd_uring_begin(struct abd_uring *uring, struct io_uring *ring)
{
	void *base;
	size_t size;

	ABD_REQUIRE(uring != NULL && ring != NULL, "ring is NULL");
	*uring = (struct abd_uring){.ring = ring};

	int error = abd_pool_region(&base, &size);

	if (error != 0)
		return error;

	unsigned count = (unsigned)abd_uring_parts(size);
	struct iovec *parts = abd_mem_alloc(count * sizeof(*parts), sizeof(void *));

	if (parts == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		size_t off = i * ABD_URING_PART;

		parts[i] = (struct iovec){(char *)base + off, abd_min(size - off, ABD_URING_PART)};
	}
	error = io_uring_register_buffers(ring, parts, count);
	abd_mem_free(parts, count * sizeof(*parts), sizeof(void *));
	if (error != 0)
		return error;
	uring->abd_base = base;
	uring->abd_size = size;
	return 0;
}

void abd_uring_end(struct abd_uring *uring)
{
	ABD_REQUIRE(uring != NULL, "ring is NULL");
	if (uring->abd_base != NULL)
		io_uring_unregister_buffers(uring->ring);
	*uring = (struct abd_uring){0};
}

/* A piece of memory and its place in the file. */
struct abd_uring_piece {
	char *addr;
	size_t size;
	off_t off;
	bool ended; /* its last request moved nothing */
};

/* Where in the registered region an address lies, or past its end. */
static size_t abd_uring_within(const struct abd_uring *uring, const char *addr)
{
	size_t within = (size_t)((uintptr_t)addr - (uintptr_t)uring->abd_base);

	return uring->abd_base != NULL && within < uring->abd_size ? within : SIZE_MAX;
}

/* The iteration's next piece: a span, or as much of it as one request may have. */
static struct abd_uring_piece abd_uring_next(
	const struct abd_uring *uring, struct abd_iter *iter, off_t off)
{
	size_t within = abd_uring_within(uring, iter->addr);
	size_t room = ABD_URING_PART;

	if (within != SIZE_MAX)
		room = abd_min(room - within % ABD_URING_PART, uring->abd_size - within);

	struct abd_uring_piece piece = {iter->addr, abd_min(iter->len, room), off, false};

	abd_iter_advance(iter, piece.size);
	return piece;
}

static void abd_uring_prep(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	const struct abd_uring_piece *piece, bool writes)
{
	size_t within = abd_uring_within(uring, piece->addr);
	unsigned size = (unsigned)piece->size;
	uint64_t off = (uint64_t)piece->off;

	if (within == SIZE_MAX) {
		if (writes)
			io_uring_prep_write(sqe, fd, piece->addr, size, off);
		else
			io_uring_prep_read(sqe, fd, piece->addr, size, off);
		return;
	}

	int part = (int)(within / ABD_URING_PART);

	if (writes)
		io_uring_prep_write_fixed(sqe, fd, piece->addr, size, off, part);
	else
		io_uring_prep_read_fixed(sqe, fd, piece->addr, size, off, part);
}

size_t abd_uring_prep_read(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	abd_t *dst, size_t dst_off, size_t size, off_t file_off)
{
	struct abd_iter iter;

	ABD_REQUIRE(uring != NULL && sqe != NULL, "ring or request is NULL");
	ABD_REQUIRE(size > 0, "size is 0");
	abd_check_range(__func__, dst, dst_off, size);
	abd_iter_begin_write(&iter, __func__, dst, dst_off, size);

	struct abd_uring_piece piece = abd_uring_next(uring, &iter, file_off);

	abd_uring_prep(uring, sqe, fd, &piece, false);
	return piece.size;
}

size_t abd_uring_prep_write(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	const abd_t *src, size_t src_off, size_t size, off_t file_off)
{
	struct abd_iter iter;

	ABD_REQUIRE(uring != NULL && sqe != NULL, "ring or request is NULL");
	ABD_REQUIRE(size > 0, "size is 0");
	abd_check_range(__func__, src, src_off, size);
	abd_iter_begin(&iter, src, src_off, size);

	struct abd_uring_piece piece = abd_uring_next(uring, &iter, file_off);

	abd_uring_prep(uring, sqe, fd, &piece, true);
	return piece.size;
}

/* ---- whole transfers ------------------------------------------------------------------------- */

/*
 * Take back what the kernel did not take: whoever submits next would hand it memory that is
 * somebody else's by then.
 */
static void abd_uring_withdraw(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	unsigned head = io_uring_smp_load_acquire(sq->khead);

	io_uring_smp_store_release(sq->ktail, head);
	sq->sqe_head = sq->sqe_tail = head;
}

/*
 * Hand what is prepared to the kernel, all of it. Returns 0, or -errno; *taken requests are under
 * way.
 */
static int abd_uring_submit(struct io_uring *ring, unsigned count, unsigned *taken)
{
	*taken = 0;
	while (*taken < count) {
		int more = io_uring_submit(ring);

		if (more >= 0) {
			*taken += (unsigned)more;
		} else if (more != -EINTR && more != -EAGAIN) {
			abd_uring_withdraw(ring);
			return more;
		}
	}
	return 0;
}

/* One completion: what moved is taken off its piece. Returns 0, or -errno. */
static int abd_uring_complete(
	struct io_uring *ring, const char *call, struct abd_uring_piece *pieces, unsigned count)
{
	struct io_uring_cqe *cqe;
	int error;

	do {
		error = io_uring_wait_cqe(ring, &cqe);
	} while (error == -EINTR);
	/* No way to return: the kernel may still write what the caller would then free. */
	ABD_REQUIRE_IN(call, error == 0, "the ring tells of no completions: error %d", -error);

	uint64_t place = cqe->user_data;
	int moved = cqe->res;

	ABD_REQUIRE_IN(call, place < count, "another request of the ring was under way");

	struct abd_uring_piece *piece = &pieces[place];

	io_uring_cq_advance(ring, 1);
	if (moved < 0)
		return moved != -EINTR && moved != -EAGAIN ? moved : 0; /* asked for again */
	piece->ended = moved == 0;
	piece->addr += moved;
	piece->size -= (size_t)moved;
	piece->off += moved;
	return 0;
}

/*
 * Ask for all that is left of the pieces, and wait for every answer. Returns how much was asked
 * for, or the first -errno.
 */
static int abd_uring_round(struct abd_uring *uring, int fd, struct abd_uring_piece *pieces,
	unsigned count, bool writes)
{
	const char *call = writes ? "abd_uring_pwrite" : "abd_uring_pread";
	unsigned asked = 0, taken;

	for (unsigned i = 0; i < count; i++) {
		if (pieces[i].size == 0 || pieces[i].ended)
			continue;

		struct io_uring_sqe *sqe = io_uring_get_sqe(uring->ring);

		ABD_REQUIRE_IN(call, sqe != NULL, "the ring is full: other requests are prepared");
		abd_uring_prep(uring, sqe, fd, &pieces[i], writes);
		io_uring_sqe_set_data64(sqe, i);
		asked++;
	}

	int first = abd_uring_submit(uring->ring, asked, &taken);

	for (unsigned i = 0; i < taken; i++) {
		int error = abd_uring_complete(uring->ring, call, pieces, count);

		if (first == 0)
			first = error;
	}
	return first != 0 ? first : (int)asked;
}

static ssize_t abd_uring_all(
	struct abd_uring *uring, int fd, struct abd_iter *iter, off_t off, bool writes)
{
	struct abd_uring_piece pieces[ABD_URING_BATCH];
	unsigned batch = (unsigned)abd_min(ABD_URING_BATCH, uring->ring->sq.ring_entries);
	size_t done = 0;

	while (iter->len > 0) {
		size_t end = done;
		unsigned count = 0;
		int asked;

		for (; iter->len > 0 && count < batch; count++) {
			pieces[count] = abd_uring_next(uring, iter, off + (off_t)end);
			end += pieces[count].size;
		}
		do {
			asked = abd_uring_round(uring, fd, pieces, count, writes);
		} while (asked > 0);
		if (asked < 0)
			return asked;
		for (unsigned i = 0; i < count; i++)
			if (pieces[i].size > 0) /* the file ended here */
				return writes ? -EIO : (ssize_t)(pieces[i].off - off);
		done = end;
	}
	return (ssize_t)done;
}

ssize_t abd_uring_pread(
	struct abd_uring *uring, int fd, abd_t *dst, size_t dst_off, size_t size, off_t file_off)
{
	struct abd_iter iter;

	ABD_REQUIRE(uring != NULL && uring->ring != NULL, "ring is NULL");
	abd_check_range(__func__, dst, dst_off, size);
	abd_iter_begin_write(&iter, __func__, dst, dst_off, size);
	return abd_uring_all(uring, fd, &iter, file_off, false);
}

ssize_t abd_uring_pwrite(struct abd_uring *uring, int fd, const abd_t *src, size_t src_off,
	size_t size, off_t file_off)
{
	struct abd_iter iter;

	ABD_REQUIRE(uring != NULL && uring->ring != NULL, "ring is NULL");
	abd_check_range(__func__, src, src_off, size);
	abd_iter_begin(&iter, src, src_off, size);
	return abd_uring_all(uring, fd, &iter, file_off, true);
}
