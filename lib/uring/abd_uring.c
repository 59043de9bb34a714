/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers and io_uring: one request for each piece of memory. A piece that lies in the pool is
 * transferred as part of a registered buffer.
 *
 * Invariants: a piece lies in one registered buffer or in none. When a transfer returns, Linux no
 * longer uses its memory. A transfer consumes only the completions of its own requests.
 *
 * Linux registers buffers of at most 1 GiB, so the pool is registered in parts of that size; see
 * io_uring_register(2).
 */
#include "abd_check.h"
#include "abd_io.h"
#include "abd_iter.h"

#include <abd/pool.h>
#include <abd/uring.h>

#include <fcntl.h>
#include <liburing.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ABD_URING_PART ((size_t)1 << 30)
/*
 * 64 requests at a time, which is 256 KiB in single pages: enough that the cost of the system call
 * does not show.
 */
#define ABD_URING_BATCH 64

static size_t abd_uring_parts(size_t size)
{
	return size / ABD_URING_PART + (size % ABD_URING_PART != 0);
}

/* ---- the process that the memory belongs to -------------------------------------------------- */

#define ABD_URING_HOME_SIZE 4096

/*
 * A byte that is 1 in this process and 0 in its children, because fork() gives them an empty page.
 * If a child asks for a transfer of registered memory, Linux transfers the memory of the process
 * that registered it.
 */
static unsigned char *abd_uring_home_new(void)
{
	void *page = MAP_FAILED;

	if (!abd_mem_refused())
		page = mmap(NULL, ABD_URING_HOME_SIZE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, ABD_URING_HOME_SIZE, MADV_WIPEONFORK) != 0) { /* before Linux 4.14 */
		munmap(page, ABD_URING_HOME_SIZE);
		return NULL;
	}
	*(unsigned char *)page = 1;
	return page;
}

/* Whether this is a child of the process that called abd_uring_begin(). */
static bool abd_uring_is_away(const struct abd_uring *uring)
{
	return uring->abd_home != NULL && *uring->abd_home == 0;
}

/*
 * The thread of a ring with SQPOLL transfers the memory of the process that set the ring up,
 * registered or not.
 */
static bool abd_uring_is_unusable(const struct abd_uring *uring)
{
	return (uring->ring->flags & IORING_SETUP_SQPOLL) != 0 && abd_uring_is_away(uring);
}

/* ---- registering ----------------------------------------------------------------------------- */

static int abd_uring_register(struct abd_uring *uring)
{
	void *base;
	size_t size;
	int error = -ENOMEM;

	if (!abd_chunk_pool_hold(&base, &size))
		return -ENOMEM;

	unsigned count = (unsigned)abd_uring_parts(size);
	struct iovec *parts = abd_mem_alloc(count * sizeof(*parts), sizeof(void *));

	for (unsigned i = 0; parts != NULL && i < count; i++) {
		size_t off = i * ABD_URING_PART;

		parts[i] = (struct iovec){(char *)base + off, abd_min(size - off, ABD_URING_PART)};
	}
	if (parts != NULL) {
		error = io_uring_register_buffers(uring->ring, parts, count);
		abd_mem_free(parts, count * sizeof(*parts), sizeof(void *));
	}
	if (error != 0) {
		/* Linux may have made the whole pool resident before it refused. */
		abd_chunk_pool_release();
		return error;
	}
	uring->abd_base = base;
	uring->abd_size = size;
	return 0;
}

int abd_uring_begin(struct abd_uring *uring, struct io_uring *ring)
{
	ABD_REQUIRE(uring != NULL, "uring is NULL");
	ABD_REQUIRE(ring != NULL, "ring is NULL");
	*uring = (struct abd_uring){.ring = ring, .abd_home = abd_uring_home_new()};
	return uring->abd_home != NULL ? abd_uring_register(uring) : -ENOMEM;
}

void abd_uring_end(struct abd_uring *uring)
{
	ABD_KEEP_ERRNO;

	ABD_REQUIRE(uring != NULL, "uring is NULL");
	/* A child leaves the ring's registration to the process that made it. */
	if (uring->abd_base != NULL && !abd_uring_is_away(uring)) {
		io_uring_unregister_buffers(uring->ring);
		abd_chunk_pool_release();
	}
	if (uring->abd_home != NULL)
		munmap(uring->abd_home, ABD_URING_HOME_SIZE);
	*uring = (struct abd_uring){0};
}

/* ---- one request ----------------------------------------------------------------------------- */

/* A piece of memory and its place in the file. */
struct abd_uring_piece {
	char *addr;
	size_t size;
	int64_t off;
	bool under_way; /* its request is not answered yet */
	bool ended;     /* its last request moved nothing */
};

/*
 * The offset of an address in the registered memory; SIZE_MAX: it lies outside, or another process
 * registered the memory.
 */
static size_t abd_uring_within(const struct abd_uring *uring, const char *addr)
{
	size_t within = (size_t)((uintptr_t)addr - (uintptr_t)uring->abd_base);

	if (uring->abd_base == NULL || within >= uring->abd_size || abd_uring_is_away(uring))
		return SIZE_MAX;
	return within;
}

/* The next piece of an iteration: a span, or as much of it as one request may transfer. */
static struct abd_uring_piece abd_uring_next(
	const struct abd_uring *uring, struct abd_iter *iter, int64_t off)
{
	size_t within = abd_uring_within(uring, iter->addr);
	size_t room = ABD_URING_PART;

	if (within != SIZE_MAX)
		room = abd_min(room - within % ABD_URING_PART, uring->abd_size - within);

	struct abd_uring_piece piece = {
		.addr = iter->addr, .size = abd_min(iter->len, room), .off = off};

	abd_iter_advance(iter, piece.size);
	return piece;
}

static void abd_uring_prep(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	const struct abd_uring_piece *piece, bool writes)
{
	size_t within = abd_uring_within(uring, piece->addr);
	unsigned size = (unsigned)piece->size;
	/* For Linux, -1 means the file's current position; it refuses other negative offsets. */
	uint64_t off = piece->off >= 0 ? (uint64_t)piece->off : (uint64_t)INT64_MIN;

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

static void abd_uring_check_request(const char *call, const struct abd_uring *uring,
	const struct io_uring_sqe *sqe, size_t size)
{
	ABD_REQUIRE_IN(call, uring != NULL, "uring is NULL");
	ABD_REQUIRE_IN(call, uring->ring != NULL, "uring has no ring");
	ABD_REQUIRE_IN(call, sqe != NULL, "sqe is NULL");
	ABD_REQUIRE_IN(call, size > 0, "size is 0");
	ABD_REQUIRE_IN(call, !abd_uring_is_unusable(uring),
		"the ring was made before fork(): its kernel thread transfers the parent's memory");
}

size_t abd_uring_prep_read(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	abd_t *dst, size_t dst_off, size_t size, int64_t file_off)
{
	struct abd_iter iter;

	abd_uring_check_request(__func__, uring, sqe, size);
	abd_check_range(__func__, dst, dst_off, size);
	abd_iter_begin_write(&iter, __func__, dst, dst_off, size);

	struct abd_uring_piece piece = abd_uring_next(uring, &iter, file_off);

	abd_uring_prep(uring, sqe, fd, &piece, false);
	return piece.size;
}

size_t abd_uring_prep_write(const struct abd_uring *uring, struct io_uring_sqe *sqe, int fd,
	const abd_t *src, size_t src_off, size_t size, int64_t file_off)
{
	struct abd_iter iter;

	abd_uring_check_request(__func__, uring, sqe, size);
	abd_check_range(__func__, src, src_off, size);
	abd_iter_begin(&iter, src, src_off, size);

	struct abd_uring_piece piece = abd_uring_next(uring, &iter, file_off);

	abd_uring_prep(uring, sqe, fd, &piece, true);
	return piece.size;
}

/* ---- the completion queue -------------------------------------------------------------------- */

/* A transfer of up to ABD_URING_BATCH pieces. */
struct abd_uring_transfer {
	struct abd_uring *uring;
	const char *call;
	int fd;
	bool writes;
	bool streams;       /* a pipe or a socket: one request at a time, all at the same offset */
	int64_t off;        /* where the whole transfer begins in the file */
	int flags;          /* for requests to come: RWF_NOWAIT or 0 */
	int asked_flags;    /* of the requests under way */
	unsigned count;     /* pieces */
	unsigned under_way; /* requests that are not answered yet */
	/* this round has transferred something or reached the end of the file */
	bool has_moved;
	int error; /* 0, or -errno of the first piece that failed */
	unsigned error_piece;
	struct abd_uring_piece pieces[ABD_URING_BATCH];
};

/*
 * The user_data of this ring's transfers is the mark with the piece's number in the low bits. The
 * engine may use any value for its own requests, so the mark has 58 random bits.
 */
static uint64_t abd_uring_mark(struct abd_uring *uring)
{
	static _Atomic size_t rings;
	uint64_t word;

	if (uring->abd_mark != 0)
		return uring->abd_mark;
	/*
	 * Linux gives each process 16 random bytes. The stack protector may use the first 8 of
	 * them.
	 */
	memcpy(&word, (const char *)getauxval(AT_RANDOM) + 8, sizeof(word));
	/* splitmix64 gives any two rings different marks. */
	word += (uint64_t)(atomic_fetch_add_explicit(&rings, 1, memory_order_relaxed) + 1) *
		0x9e3779b97f4a7c15u;
	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
	word = (word ^ word >> 27) * 0x94d049bb133111ebu;
	uring->abd_mark = (word ^ word >> 31) | (ABD_URING_BATCH - 1);
	return uring->abd_mark;
}

/* A completion has 16 bytes, or 32 in a ring that was set up so. */
static struct io_uring_cqe *abd_uring_cqe(const struct io_uring *ring, unsigned place)
{
	return &ring->cq.cqes[io_uring_cqe_index(ring, place, ring->cq.ring_mask)];
}

/* Note the answer to a piece's request: how many bytes it moved, or -errno. */
static void abd_uring_answered(struct abd_uring_transfer *transfer, unsigned number, int moved)
{
	struct abd_uring_piece *piece = &transfer->pieces[number];

	ABD_REQUIRE_IN(transfer->call, moved < 0 || (size_t)moved <= piece->size,
		"a request for %zu bytes is answered with %d", piece->size, moved);
	piece->under_way = false;
	transfer->under_way--;
	/* A file that does not know RWF_NOWAIT obeys O_NONBLOCK of its descriptor anyway. */
	if (moved == -EOPNOTSUPP && transfer->asked_flags != 0) {
		transfer->flags = 0;
		return; /* the next round asks again */
	}
	if (moved == -EINTR)
		return; /* the same */
	if (moved < 0) {
		if (transfer->error == 0 || number < transfer->error_piece) {
			transfer->error = moved;
			transfer->error_piece = number;
		}
		return;
	}
	piece->ended = moved == 0;
	piece->addr += moved;
	piece->size -= (size_t)moved;
	piece->off += moved;
	transfer->has_moved = true;
}

/*
 * Take this transfer's completions out of the queue. Returns how many other completions stay there,
 * in their order.
 *
 * The places from head to tail belong to the program: Linux writes behind the tail, and reads the
 * head but none of the places. So other completions move towards the tail, over those of this
 * transfer, and the head advances by the number of those.
 */
static unsigned abd_uring_collect(struct abd_uring_transfer *transfer)
{
	struct io_uring *ring = transfer->uring->ring;
	uint64_t mark = abd_uring_mark(transfer->uring);
	unsigned head = *ring->cq.khead, tail = io_uring_smp_load_acquire(ring->cq.ktail);
	unsigned to = tail;

	for (unsigned from = tail; from != head;) {
		const struct io_uring_cqe *cqe = abd_uring_cqe(ring, --from);
		uint64_t number = cqe->user_data ^ mark;

		if (number < transfer->count && transfer->pieces[number].under_way)
			abd_uring_answered(transfer, (unsigned)number, cqe->res);
		else if (--to != from)
			memcpy(abd_uring_cqe(ring, to), cqe,
				sizeof(*cqe) << io_uring_cqe_shift(ring));
	}
	io_uring_cq_advance(ring, to - head);
	return tail - to;
}

/*
 * How many completions of other requests may wait in the queue without blocking those of this
 * transfer. If the caller polls the device, none: Linux does not poll while a completion waits.
 */
static unsigned abd_uring_others_max(const struct io_uring *ring)
{
	unsigned polls = ring->flags & (IORING_SETUP_IOPOLL | IORING_SETUP_SQPOLL);

	return polls == IORING_SETUP_IOPOLL ? 0 : ring->cq.ring_entries - 1;
}

/*
 * Wait until all requests are answered. It never returns earlier: Linux could still write to memory
 * that the caller then frees.
 */
static void abd_uring_await(struct abd_uring_transfer *transfer)
{
	struct io_uring *ring = transfer->uring->ring;
	unsigned others_max = abd_uring_others_max(ring), tries = 0;
	struct io_uring_cqe *cqe;

	for (;;) {
		unsigned others = abd_uring_collect(transfer);

		if (transfer->under_way == 0)
			return;
		ABD_REQUIRE_IN(transfer->call, others <= others_max,
			"%u completions of other requests leave the ring no room", others);

		/* Wait until the queue holds one completion more than the others. */
		int error = io_uring_wait_cqe_nr(ring, &cqe, others + 1);

		tries = error == -EAGAIN ? tries + 1 : 0;
		ABD_REQUIRE_IN(transfer->call,
			error == 0 || error == -EINTR || (error == -EAGAIN && tries < ABD_IO_TRIES),
			"the ring returns no completions: error %d", -error);
	}
}

/* ---- whole transfers ------------------------------------------------------------------------- */

/*
 * How many requests are prepared but not submitted. With SQPOLL, io_uring_sq_ready() would also
 * count submitted requests that the ring's thread has not taken yet.
 */
static unsigned abd_uring_prepared(const struct io_uring *ring)
{
	if ((ring->flags & IORING_SETUP_SQPOLL) != 0)
		return ring->sq.sqe_tail - ring->sq.sqe_head;
	return io_uring_sq_ready(ring);
}

/*
 * The setup flags that this file knows: all up to IORING_SETUP_HYBRID_IOPOLL. Later flags may
 * change the layout of the queues, as CQE_MIXED does.
 */
#define ABD_URING_FLAGS ((1u << 18) - 1)

/* Refuse a ring that can't be used, before anything is prepared. */
static void abd_uring_check_ring(const char *call, const struct io_uring *ring)
{
	unsigned prepared = abd_uring_prepared(ring), waiting = io_uring_cq_ready(ring);

	ABD_REQUIRE_IN(call, (ring->flags & ~ABD_URING_FLAGS) == 0,
		"the ring was set up with flags 0x%x, some of them unknown", ring->flags);
	/* Linux took requests that this copy of the ring never prepared. */
	ABD_REQUIRE_IN(call, prepared <= ring->sq.ring_entries,
		"another process uses the ring after fork()");
	ABD_REQUIRE_IN(call, prepared == 0,
		"%u other requests of the ring are prepared, but not submitted", prepared);
	ABD_REQUIRE_IN(call, waiting <= abd_uring_others_max(ring),
		"%u completions of other requests leave the ring no room", waiting);
}

/*
 * Take back the requests that Linux did not take. Otherwise the next submit would submit them too,
 * when their memory may have another user.
 */
static void abd_uring_withdraw(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	unsigned head = *sq->khead;

	io_uring_smp_store_release(sq->ktail, head);
	sq->sqe_head = sq->sqe_tail = head;
}

/* Submit to the ring's thread. It takes all requests sooner or later, so none can be withdrawn. */
static void abd_uring_submit_to_thread(struct abd_uring_transfer *transfer, unsigned count)
{
	unsigned tries = 0;
	int error;

	do {
		error = io_uring_submit(transfer->uring->ring);
	} while ((error == -EINTR || error == -EAGAIN) && ++tries < ABD_IO_TRIES);
	ABD_REQUIRE_IN(
		transfer->call, error >= 0, "the ring's thread can't be woken: error %d", -error);
	transfer->under_way = count;
}

/*
 * Submit count requests; under_way becomes how many Linux took. Returns 0, or -errno if it did not
 * take all.
 */
static int abd_uring_submit(struct abd_uring_transfer *transfer, unsigned count)
{
	struct io_uring *ring = transfer->uring->ring;
	unsigned start = *ring->sq.khead, tries = 0;

	while (transfer->under_way < count) {
		int error = io_uring_submit(ring);
		unsigned taken = *ring->sq.khead - start;

		tries = taken == transfer->under_way ? tries + 1 : 0;
		transfer->under_way = taken;
		if ((error >= 0 || error == -EINTR) && tries < ABD_IO_TRIES)
			continue;
		abd_uring_withdraw(ring);
		return error < 0 ? error : -EAGAIN;
	}
	return 0;
}

/*
 * Prepare requests for what is left of the pieces, as many as fit into the ring. Returns how many.
 */
static unsigned abd_uring_ask(struct abd_uring_transfer *transfer)
{
	struct io_uring *ring = transfer->uring->ring;
	unsigned others = io_uring_cq_ready(ring), asked = 0;

	transfer->asked_flags = transfer->flags;
	for (unsigned i = 0; i < transfer->count; i++) {
		struct abd_uring_piece *piece = &transfer->pieces[i];

		if (piece->size == 0 || piece->ended)
			continue;
		if (asked > 0 && asked + others >= ring->cq.ring_entries)
			break;

		struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
		struct abd_uring_piece asks = *piece;

		if (sqe == NULL)
			break;
		if (transfer->streams)
			asks.off = transfer->off;
		abd_uring_prep(transfer->uring, sqe, transfer->fd, &asks, transfer->writes);
		sqe->rw_flags = transfer->asked_flags;
		io_uring_sqe_set_data64(sqe, abd_uring_mark(transfer->uring) ^ i);
		piece->under_way = true;
		asked++;
	}
	return asked;
}

/* One round: ask for what is left, and wait for every answer. Returns 0, or -errno. */
static int abd_uring_round(struct abd_uring_transfer *transfer)
{
	struct io_uring *ring = transfer->uring->ring;
	unsigned asked = abd_uring_ask(transfer);
	int error = 0;

	transfer->has_moved = false;
	if (asked == 0) { /* the ring's thread has not taken the previous requests yet */
		error = io_uring_sqring_wait(ring);
		return error < 0 && error != -EINTR ? error : 0;
	}
	if ((ring->flags & IORING_SETUP_SQPOLL) != 0)
		abd_uring_submit_to_thread(transfer, asked);
	else
		error = abd_uring_submit(transfer, asked);
	abd_uring_await(transfer);
	return transfer->error != 0 ? transfer->error : error;
}

static bool abd_uring_is_done(const struct abd_uring_transfer *transfer)
{
	for (unsigned i = 0; i < transfer->count; i++)
		if (transfer->pieces[i].size > 0 && !transfer->pieces[i].ended)
			return false;
	return true;
}

/*
 * Whether the file has no positions: a pipe, a socket, a terminal. Its requests go one after
 * another, because Linux answers those that wait in any order. A socket wants offset 0.
 */
static bool abd_uring_is_stream(int fd)
{
	return lseek(fd, 0, SEEK_CUR) < 0 && errno == ESPIPE;
}

/* Transfer the pieces. Returns 0, or -errno. */
static int abd_uring_batch(struct abd_uring_transfer *transfer)
{
	unsigned tries = 0;
	int error = 0;

	while (error == 0 && !abd_uring_is_done(transfer)) {
		error = abd_uring_round(transfer);
		if (transfer->has_moved && !transfer->streams && !abd_uring_is_done(transfer))
			transfer->streams = abd_uring_is_stream(transfer->fd);
		tries = transfer->has_moved ? 0 : tries + 1;
		if (error == 0 && tries == ABD_IO_TRIES)
			error = -EINTR;
	}
	return error;
}

/*
 * With O_NONBLOCK, read() of an empty pipe or socket is -EAGAIN. io_uring would wait for the other
 * end; RWF_NOWAIT prevents that.
 */
static int abd_uring_flags(int fd)
{
	int mode = fcntl(fd, F_GETFL);
	struct stat stat;

	if (mode < 0 || (mode & O_NONBLOCK) == 0)
		return 0;
	stat.st_mode = S_IFREG; /* unless fstat() says otherwise */
	(void)fstat(fd, &stat);
	return S_ISREG(stat.st_mode) || S_ISBLK(stat.st_mode) ? 0 : RWF_NOWAIT;
}

/* How far a transfer came that ended within these pieces. */
static size_t abd_uring_moved(const struct abd_uring_transfer *transfer)
{
	unsigned i = 0;

	while (transfer->pieces[i].size == 0)
		i++;
	return (size_t)(transfer->pieces[i].off - transfer->off);
}

/* Transfer what iter, size bytes long, describes. Returns the bytes moved, or -errno. */
static ssize_t abd_uring_all(const char *call, struct abd_uring *uring, int fd,
	struct abd_iter *iter, size_t size, int64_t off, bool writes)
{
	struct abd_uring_transfer transfer;
	unsigned batch = (unsigned)abd_min(ABD_URING_BATCH, uring->ring->sq.ring_entries);
	size_t done = 0;

	/* The pieces are not cleared: clearing 2 KiB would show in a small read. */
	transfer.uring = uring;
	transfer.call = call;
	transfer.fd = fd;
	transfer.writes = writes;
	/* With a single piece the question is asked only if a request moves a part of it. */
	transfer.streams = iter->len < size && abd_uring_is_stream(fd);
	transfer.off = off;
	transfer.flags = abd_uring_flags(fd);
	transfer.under_way = 0;
	transfer.error = 0;

	if (transfer.streams)
		batch = 1;
	while (iter->len > 0) {
		size_t end = done;

		for (transfer.count = 0; iter->len > 0 && transfer.count < batch;) {
			struct abd_uring_piece *piece = &transfer.pieces[transfer.count++];

			*piece = abd_uring_next(uring, iter, off + (int64_t)end);
			end += piece->size;
		}

		int error = abd_uring_batch(&transfer);

		if (error == -EAGAIN && transfer.streams && abd_uring_moved(&transfer) > 0)
			return (ssize_t)abd_uring_moved(&transfer);
		if (error != 0)
			return error;
		for (unsigned i = 0; i < transfer.count; i++)
			if (transfer.pieces[i].size > 0) /* the file ended here */
				return writes ? -EIO : (ssize_t)abd_uring_moved(&transfer);
		done = end;
	}
	return (ssize_t)done;
}

/* Before a transfer: 0, or -EINVAL. */
static int abd_uring_check(const char *call, const struct abd_uring *uring, const char *name,
	const abd_t *abd, size_t off, size_t size, int64_t file_off)
{
	ABD_REQUIRE_IN(call, uring != NULL, "uring is NULL");
	ABD_REQUIRE_IN(call, uring->ring != NULL, "uring has no ring");
	abd_check_range_of(call, name, abd, off, size);
	abd_uring_check_ring(call, uring->ring);
	return abd_io_range_exists(file_off, size) && !abd_uring_is_unusable(uring) ? 0 : -EINVAL;
}

ssize_t abd_uring_pread(
	struct abd_uring *uring, int fd, abd_t *dst, size_t dst_off, size_t size, int64_t file_off)
{
	int error = abd_uring_check(__func__, uring, "dst", dst, dst_off, size, file_off);
	struct abd_iter iter;

	if (error != 0)
		return error;
	abd_iter_begin_write(&iter, __func__, dst, dst_off, size);
	return abd_uring_all(__func__, uring, fd, &iter, size, file_off, false);
}

ssize_t abd_uring_pwrite(struct abd_uring *uring, int fd, const abd_t *src, size_t src_off,
	size_t size, int64_t file_off)
{
	int error = abd_uring_check(__func__, uring, "src", src, src_off, size, file_off);
	struct abd_iter iter;

	if (error != 0)
		return error;
	abd_iter_begin(&iter, src, src_off, size);
	return abd_uring_all(__func__, uring, fd, &iter, size, file_off, true);
}
