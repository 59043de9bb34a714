/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rings that an engine uses as well, on the real Linux kernel. Its requests are in progress and its
 * completions wait while buffers are read and written through the same ring, in this process and in
 * a child. Each test is skipped if the system has no such ring.
 */
#include "abd_test.h"

#include <abd/io.h>
#include <abd/pool.h>
#include <abd/uring.h>
#include <liburing.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { ENTRIES = 8, PIECES = 40, SIZE = PIECES << 12, WAITING = 5, FILE_SIZE = 1 << 20 };

static const unsigned kinds[] = {
	0,
	IORING_SETUP_COOP_TASKRUN,
	IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
	IORING_SETUP_CQE32,
	IORING_SETUP_SQE128,
	IORING_SETUP_SQPOLL,
	IORING_SETUP_SUBMIT_ALL,
};

/*
 * With SQPOLL a thread of the kernel spins for as long as sq_thread_idle says, a second by default,
 * and so does whoever ends the ring. A millisecond also tests that the thread is woken.
 */
static int ring_init(struct io_uring *ring, unsigned flags)
{
	struct io_uring_params params = {.flags = flags, .sq_thread_idle = 1};

	return io_uring_queue_init_params(ENTRIES, ring, &params);
}

/* A file of bytes that follow from their place, by the flags of open(); -1: not possible here. */
static int file_new(int flags)
{
	char path[] = "/tmp/abd_uring.XXXXXX";
	int fd = flags == 0 ? memfd_create("abd", 0) : mkstemp(path);
	unsigned char *bytes = malloc(FILE_SIZE);

	for (size_t i = 0; i < FILE_SIZE; i++)
		bytes[i] = (unsigned char)(i * 7 + (i >> 12));
	cr_assert_eq(pwrite(fd, bytes, FILE_SIZE, 0), FILE_SIZE);
	free(bytes);
	if (flags != 0) {
		close(fd);
		fd = open(path, O_RDWR | flags);
		unlink(path);
	}
	return fd;
}

static bool is_file_at(const unsigned char *bytes, size_t size, size_t off)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != (unsigned char)((off + i) * 7 + ((off + i) >> 12)))
			return false;
	return true;
}

/* An engine: reads of 64 KiB that have completed, and one of a pipe that has not. */
struct engine {
	struct io_uring ring;
	int fd, pipe[2];
	unsigned char *bytes;
	char byte;
};

static uint64_t engine_data(const struct engine *engine, unsigned number)
{
	uint64_t data[WAITING] = {0, 1, (uintptr_t)engine, UINT64_MAX - 1, 63};

	return data[number];
}

static bool engine_begin(struct engine *engine, unsigned kind, int fd)
{
	if (ring_init(&engine->ring, kind) != 0)
		return false;
	engine->fd = fd;
	cr_assert_eq(pipe(engine->pipe), 0);
	engine->bytes = aligned_alloc(4096, WAITING << 16);
	memset(engine->bytes, 0, WAITING << 16); /* valgrind can't see the kernel fill it */

	struct io_uring_sqe *sqe = io_uring_get_sqe(&engine->ring);

	io_uring_prep_read(sqe, engine->pipe[0], &engine->byte, 1, 0);
	io_uring_sqe_set_data64(sqe, 2);
	for (unsigned i = 0; i < WAITING; i++) {
		sqe = io_uring_get_sqe(&engine->ring);
		io_uring_prep_read(
			sqe, fd, engine->bytes + ((size_t)i << 16), 1 << 16, (uint64_t)i << 16);
		io_uring_sqe_set_data64(sqe, engine_data(engine, i));
	}
	cr_assert_eq(io_uring_submit_and_wait(&engine->ring, 0), WAITING + 1);
	return true;
}

/* All of its completions are there, each once; the pipe's too. */
static void engine_end(struct engine *engine)
{
	unsigned found = 0;

	cr_assert_eq(write(engine->pipe[1], "x", 1), 1);
	for (unsigned i = 0; i <= WAITING; i++) {
		struct io_uring_cqe *cqe;
		unsigned number = 0;

		cr_assert_eq(io_uring_wait_cqe(&engine->ring, &cqe), 0);
		while (number < WAITING && cqe->user_data != engine_data(engine, number))
			number++;
		cr_assert(number < WAITING || cqe->user_data == 2);
		cr_assert_eq(cqe->res, number < WAITING ? 1 << 16 : 1);
		cr_assert_eq(found & 1u << number, 0);
		found |= 1u << number;
		io_uring_cqe_seen(&engine->ring, cqe);
	}
	cr_assert_eq(io_uring_cq_ready(&engine->ring), 0);
	cr_assert(is_file_at(engine->bytes, WAITING << 16, 0));
	io_uring_queue_exit(&engine->ring);
	close(engine->pipe[0]);
	close(engine->pipe[1]);
	free(engine->bytes);
}

/* Into the middle of memory whose other bytes must stay. */
static void reads(struct abd_uring *uring, int fd, size_t size, size_t off)
{
	unsigned char *bytes = aligned_alloc(4096, 3 * SIZE);
	abd_t *gang = abd_alloc_gang();

	memset(bytes, 0xee, 3 * SIZE);
	/* From the last page to the first: no two are one piece. */
	for (size_t at = 0; at < size; at += 4096)
		abd_gang_add(gang,
			abd_get_from_buf(bytes + SIZE + (SIZE - 4096 - at),
				size - at < 4096 ? size - at : 4096),
			true);
	cr_assert_eq(abd_uring_pread(uring, fd, gang, 0, size, (off_t)off), (ssize_t)size);
	for (size_t at = 0; at < size; at += 4096) {
		size_t now = size - at < 4096 ? size - at : 4096;

		cr_assert(is_file_at(bytes + SIZE + (SIZE - 4096 - at), now, off + at));
	}
	for (size_t i = 0; i < SIZE; i++)
		cr_assert(bytes[i] == 0xee && bytes[2 * SIZE + i] == 0xee, "overwritten at %zu", i);
	abd_free(gang);
	free(bytes);
}

static void shares_ring(unsigned kind, int flags)
{
	static const size_t sizes[] = {4096, SIZE, 8192, SIZE - 4096};
	struct engine engine;
	int fd = file_new(flags);

	if (fd < 0 || !engine_begin(&engine, kind, fd)) {
		close(fd);
		return;
	}

	struct abd_uring uring = {.ring = &engine.ring};

	for (size_t i = 0; i < 4; i++)
		reads(&uring, fd, sizes[i], i << 14);

	abd_t *abd = abd_alloc(SIZE, false);

	cr_assert_eq(abd_pread(fd, abd, 0, SIZE, 1 << 19), SIZE);
	cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, 1 << 19), SIZE);
	reads(&uring, fd, SIZE, 1 << 19);
	abd_free(abd);
	engine_end(&engine);
	close(fd);
}

Test(abd_uring_shared, completions_of_the_engine_are_left_to_it)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		shares_ring(kinds[i], 0);
}

Test(abd_uring_shared, so_they_are_with_o_direct)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		shares_ring(kinds[i], O_DIRECT);
}

/* As many of the engine's as the ring holds but one; and a completion queue of 32 entries. */
Test(abd_uring_shared, one_free_place_in_the_ring_is_enough)
{
	struct io_uring_params params = {.flags = IORING_SETUP_CQSIZE, .cq_entries = 32};
	struct io_uring ring;
	struct io_uring_cqe *cqe;
	int fd = file_new(0);

	if (io_uring_queue_init_params(ENTRIES, &ring, &params) == 0) {
		struct abd_uring uring = {.ring = &ring};

		for (unsigned i = 0; i < 31; i++) {
			struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

			io_uring_prep_nop(sqe);
			io_uring_sqe_set_data64(sqe, i);
			cr_assert_eq(io_uring_submit_and_wait(&ring, 0), 1);
		}
		cr_assert_eq(io_uring_cq_ready(&ring), 31);
		reads(&uring, fd, SIZE, 100);
		for (unsigned i = 0; i < 31; i++) {
			cr_assert_eq(io_uring_peek_cqe(&ring, &cqe), 0);
			cr_assert_eq(cqe->user_data, i);
			io_uring_cqe_seen(&ring, cqe);
		}
		cr_assert_eq(io_uring_cq_ready(&ring), 0);
		io_uring_queue_exit(&ring);
	}
	close(fd);
}

/* ---- every call ends ------------------------------------------------------------------------- */

Test(abd_uring_shared, a_pipe_without_data_is_told)
{
	struct io_uring ring;
	abd_t *abd = abd_alloc(8192, false);
	int ends[2];

	cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
	if (io_uring_queue_init(ENTRIES, &ring, 0) == 0) {
		struct abd_uring uring = {.ring = &ring};

		cr_assert_eq(abd_uring_pread(&uring, ends[0], abd, 0, 8192, 0), -EAGAIN);
		cr_assert_eq(io_uring_cq_ready(&ring), 0);
		cr_assert_eq(write(ends[1], "x", 1), 1);
		close(ends[1]);
		cr_assert_eq(abd_uring_pread(&uring, ends[0], abd, 0, 8192, 0), 1);
		io_uring_queue_exit(&ring);
	}
	close(ends[0]);
	abd_free(abd);
}

/* ---- files without positions ----------------------------------------------------------------- */

enum { STREAM = 40000 };

/*
 * A process that writes a stream slowly, in pieces of 1,000 bytes. No thread: under valgrind only
 * one runs at a time, also while it waits for a ring. Killed, because valgrind looks for leaks at
 * the end.
 */
static pid_t write_slowly(int fd)
{
	pid_t child = fork();
	unsigned char bytes[1000];

	for (size_t off = 0; child == 0 && off < STREAM; off += sizeof(bytes)) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)((off + i) * 7 + ((off + i) >> 12));
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			break;
		usleep(200);
	}
	if (child == 0)
		raise(SIGKILL);
	return child;
}

/* Of one piece, or of ten pages that lie apart. */
static abd_t *stream_buffer(bool is_linear)
{
	abd_t *abd = is_linear ? abd_alloc_linear(STREAM, false) : abd_alloc_gang();

	for (size_t off = 0; !is_linear && off < STREAM; off += 4000)
		abd_gang_add(abd, abd_alloc_linear(4000, false), true);
	abd_zero_off(abd, 0, STREAM); /* valgrind can't see the kernel fill it */
	return abd;
}

static bool is_stream(const abd_t *abd, size_t size)
{
	unsigned char bytes[STREAM];

	abd_copy_to_buf_off(bytes, abd, 0, size);
	return is_file_at(bytes, size, 0);
}

static bool ends_make(int *ends, bool is_socket, int flags)
{
	if (is_socket)
		return socketpair(AF_UNIX, SOCK_STREAM | (flags != 0 ? SOCK_NONBLOCK : 0), 0,
			       ends) == 0;
	return pipe2(ends, flags) == 0;
}

Test(abd_uring_shared, a_stream_is_read_in_its_order)
{
	struct io_uring ring;

	if (io_uring_queue_init(ENTRIES, &ring, 0) != 0)
		return;
	for (unsigned kind = 0; kind < 4; kind++) {
		struct abd_uring uring = {.ring = &ring};
		abd_t *abd = stream_buffer(kind & 1);
		pid_t writer;
		int ends[2];

		cr_assert(ends_make(ends, kind & 2, 0));
		writer = write_slowly(ends[1]);
		cr_assert_gt(writer, 0);
		cr_assert_eq(abd_uring_pread(&uring, ends[0], abd, 0, STREAM, 0), STREAM);
		cr_assert(is_stream(abd, STREAM));
		cr_assert_eq(waitpid(writer, NULL, 0), writer);
		close(ends[1]);
		cr_assert_eq(abd_uring_pread(&uring, ends[0], abd, 0, STREAM, 0), 0);
		close(ends[0]);
		abd_free(abd);
	}
	io_uring_queue_exit(&ring);
}

Test(abd_uring_shared, what_a_stream_has_is_read_and_what_it_takes_is_written)
{
	struct io_uring ring;

	if (io_uring_queue_init(ENTRIES, &ring, 0) != 0)
		return;
	for (unsigned kind = 0; kind < 4; kind++) {
		struct abd_uring uring = {.ring = &ring};
		abd_t *abd = stream_buffer(kind & 1), *back = stream_buffer(kind & 1);
		size_t written = 0;
		ssize_t n;
		int ends[2];

		cr_assert(ends_make(ends, kind & 2, O_NONBLOCK));
		for (size_t i = 0; i < STREAM; i++) {
			unsigned char byte = (unsigned char)(i * 7 + (i >> 12));

			abd_copy_from_buf_off(abd, &byte, i, 1);
		}
		cr_assert_eq(abd_uring_pwrite(&uring, ends[1], abd, 0, 1000, 0), 1000);
		cr_assert_eq(abd_uring_pread(&uring, ends[0], back, 0, STREAM, 0), 1000);
		cr_assert(is_stream(back, 1000));
		cr_assert_eq(abd_uring_pread(&uring, ends[0], back, 0, STREAM, 0), -EAGAIN);
		/* Until it is full, which is in the middle of a buffer. */
		while ((n = abd_uring_pwrite(&uring, ends[1], abd, 0, STREAM, 0)) > 0)
			written += (size_t)n;
		cr_assert_eq(n, -EAGAIN);
		cr_assert_gt(written, STREAM);
		while ((n = abd_uring_pread(&uring, ends[0], back, 0, STREAM, 0)) > 0)
			written -= (size_t)n;
		cr_assert_eq(n, -EAGAIN);
		cr_assert_eq(written, 0);
		close(ends[0]);
		close(ends[1]);
		abd_free(abd);
		abd_free(back);
	}
	io_uring_queue_exit(&ring);
}

static void ignore(int number)
{
}

Test(abd_uring_shared, transfers_are_whole_under_a_storm_of_signals)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {0};
	struct io_uring ring;
	int fd = file_new(0);

	if (io_uring_queue_init(ENTRIES, &ring, 0) == 0) {
		struct abd_uring uring = {.ring = &ring};

		signal(SIGALRM, ignore);
		setitimer(ITIMER_REAL, &often, NULL);
		for (unsigned i = 0; i < 200; i++)
			reads(&uring, fd, SIZE, i);
		setitimer(ITIMER_REAL, &never, NULL);
		/* Not SIG_DFL: under valgrind a last signal comes later. */
		signal(SIGALRM, SIG_IGN);
		io_uring_queue_exit(&ring);
	}
	close(fd);
}

/* ---- a child of the process that called abd_uring_begin() ------------------------------------ */

static int child_reads_and_writes(struct abd_uring *uring, int fd, abd_t *abd)
{
	unsigned char *bytes = abd_to_buf(abd);

	abd_test_child_expect(abd_uring_pread(uring, fd, abd, 0, 1 << 16, 4096) == 1 << 16);
	abd_test_child_expect(is_file_at(bytes, 1 << 16, 4096));
	memset(bytes, 0x33, 1 << 16);
	abd_test_child_expect(abd_uring_pwrite(uring, fd, abd, 0, 1 << 16, 1 << 19) == 1 << 16);

	struct io_uring_sqe *sqe = io_uring_get_sqe(uring->ring);

	abd_test_child_expect(abd_uring_prep_write(uring, sqe, fd, abd, 0, 1 << 16, 0) == 1 << 16);
	abd_test_child_expect(sqe->opcode == IORING_OP_WRITE);
	return 0;
}

static int child_status(pid_t child)
{
	int status;

	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 1;
}

ABD_TEST_CHILD(uring_is_inherited)
{
	unsigned char byte[1 << 16];
	struct abd_uring uring;
	struct io_uring ring;
	int fd = file_new(0);

	if (io_uring_queue_init(ENTRIES, &ring, 0) != 0 || abd_uring_begin(&uring, &ring) != 0)
		return 0;

	abd_t *abd = abd_alloc(1 << 16, false);
	unsigned char *bytes = abd_to_buf(abd);

	memset(bytes, 0x77, 1 << 16);

	pid_t child = fork();

	if (child == 0) {
		int status = child_reads_and_writes(&uring, fd, abd);

		abd_free(abd);
		abd_uring_end(&uring);
		_exit(status);
	}
	abd_test_child_expect(child_status(child) == 0);
	for (size_t i = 0; i < 1 << 16; i++)
		abd_test_child_expect(bytes[i] == 0x77);
	abd_test_child_expect(pread(fd, byte, 1 << 16, 1 << 19) == 1 << 16);
	for (size_t i = 0; i < 1 << 16; i++)
		abd_test_child_expect(byte[i] == 0x33);
	abd_free(abd);
	abd_uring_end(&uring);
	io_uring_queue_exit(&ring);
	return 0;
}

Test(abd_uring_shared, a_child_transfers_its_own_memory)
{
	abd_test_child_passes("uring_is_inherited",
		(const char *[]){"ABD_POOL_SIZE=16777216", "ABD_CHUNK_PROVIDER=pool", NULL});
}

/* The thread that takes this ring's requests is the parent's, and so is the memory that it sees. */
ABD_TEST_CHILD(uring_with_a_thread_is_inherited)
{
	struct abd_uring uring;
	struct io_uring ring;
	int fd = file_new(0);

	if (ring_init(&ring, IORING_SETUP_SQPOLL) != 0)
		return 0;
	(void)abd_uring_begin(&uring, &ring);

	abd_t *abd = abd_alloc(4096, false);
	pid_t child = fork();

	if (child == 0) {
		int status = abd_uring_pread(&uring, fd, abd, 0, 4096, 0) != -EINVAL ||
			     abd_uring_pwrite(&uring, fd, abd, 0, 4096, 0) != -EINVAL;

		abd_free(abd);
		_exit(status);
	}
	abd_test_child_expect(child_status(child) == 0);
	child = fork();
	if (child == 0)
		_exit((int)abd_uring_prep_read(
			&uring, io_uring_get_sqe(&ring), fd, abd, 0, 4096, 0));
	abd_test_child_expect(child_status(child) == 1); /* it was aborted */
	abd_test_child_expect(abd_uring_pread(&uring, fd, abd, 0, 4096, 0) == 4096);
	abd_free(abd);
	abd_uring_end(&uring);
	io_uring_queue_exit(&ring);
	return 0;
}

Test(abd_uring_shared, a_child_is_refused_a_ring_with_a_thread)
{
	/* The ring pins the whole pool, and each fork() copies it: a GiB takes seconds. */
	abd_test_child_passes("uring_with_a_thread_is_inherited",
		(const char *[]){"ABD_POOL_SIZE=16777216", NULL});
}
