/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rarer answers of io_uring: taking fewer requests than were handed over, refusing them
 * halfway, interrupted waits, requests to be repeated, writes that move nothing. The kernel is
 * played here, by scripts of answers; liburing's own inline functions run on the queues as ever.
 * Its calls that enter the kernel are ours for all rings of this program, and real ones are passed
 * on.
 */
#include "abd_test_fixture.h"
#include "test_uring_kernel.h"

#include <abd/pool.h>
#include <abd/uring.h>

enum { ENTRIES = 8, ALL = 1 << 30, MORE = ALL - 1, PAGES = 20, SIZE = PAGES << 12, END = -100000 };

static struct {
	struct io_uring ring;
	unsigned sq_head, sq_tail, sq_flags, cq_head, cq_tail;
	unsigned done; /* completions there are, of which cq_tail are told */
	struct io_uring_sqe sqes[ENTRIES];
	struct io_uring_cqe cqes[2 * ENTRIES];
	/* What is answered: one by one, and when END is met everything that is asked for. */
	const int *submits; /* requests taken by a call, or -errno */
	const int *results; /* bytes moved by a request, ALL, MORE than it asks for, or -errno */
	const int *waits;   /* 0 or -errno */
	const int *rooms;   /* the same, where room for requests is waited for */
	bool lags;          /* a thread's ring: what it took is told where room is waited for */
	unsigned sq_taken;
	unsigned twice; /* number of the request that is answered twice; 0: none */
	unsigned executed;
	int flags_seen; /* of any request */
	int registers;  /* answered to io_uring_register_buffers() */
	unsigned registered, unregistered;
	size_t registered_bytes;
	bool has_gaps; /* between what was registered */
	bool is_old;   /* before Linux 4.14: every page of a process is its child's too */
	unsigned engine_every, engine_told; /* a completion of the engine's behind each so many of
					       ours; 0: none */
} kernel;

static const int always[] = {END};
static struct abd_uring uring = {.ring = &kernel.ring};

static void kernel_begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.submits = kernel.results = kernel.waits = kernel.rooms = always;
	kernel.ring.ring_fd = -1;
	kernel.ring.features = IORING_FEAT_EXT_ARG; /* without it liburing takes a user_data of its
						       own */
	kernel.ring.sq.khead = &kernel.sq_head;
	kernel.ring.sq.ktail = &kernel.sq_tail;
	kernel.ring.sq.kflags = &kernel.sq_flags;
	kernel.ring.sq.sqes = kernel.sqes;
	kernel.ring.sq.ring_entries = ENTRIES;
	kernel.ring.sq.ring_mask = ENTRIES - 1;
	kernel.ring.cq.khead = &kernel.cq_head;
	kernel.ring.cq.ktail = &kernel.cq_tail;
	kernel.ring.cq.cqes = kernel.cqes;
	kernel.ring.cq.ring_entries = 2 * ENTRIES;
	kernel.ring.cq.ring_mask = 2 * ENTRIES - 1;
}

bool test_uring_kernel_is(const struct io_uring *ring)
{
	return ring == &kernel.ring;
}

static int next(const int **script, int otherwise)
{
	return **script != END ? *(*script)++ : otherwise;
}

static int execute(const struct io_uring_sqe *sqe)
{
	int moves = next(&kernel.results, ALL);
	size_t size = sqe->len < (unsigned)moves ? sqe->len : (unsigned)moves;
	void *addr = (void *)(uintptr_t)sqe->addr;
	bool writes = sqe->opcode == IORING_OP_WRITE || sqe->opcode == IORING_OP_WRITE_FIXED;

	kernel.executed++;
	kernel.flags_seen |= sqe->rw_flags;
	if (moves < 0)
		return moves;
	if (moves == MORE)
		return (int)sqe->len + 1;

	ssize_t moved = writes ? pwrite(sqe->fd, addr, size, (off_t)sqe->off)
			       : pread(sqe->fd, addr, size, (off_t)sqe->off);

	return moved >= 0 ? (int)moved : -errno;
}

static void tell(uint64_t data, int result)
{
	struct io_uring_cqe *cqe = &kernel.cqes[kernel.done++ % (2 * ENTRIES)];

	cqe->user_data = data;
	cqe->res = result;
}

/*
 * What a completion of the engine's looks like: with user_data that counts as ours does, and with
 * any.
 */
static uint64_t engine_data(unsigned number)
{
	static const uint64_t some[] = {0, 1, UINT64_MAX, 63, 1000};

	return some[number % 5] ^ (uint64_t)(number / 5) << 32;
}

int test_uring_kernel_submit(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	int takes = next(&kernel.submits, ENTRIES), taken;

	sq->sqe_head = sq->sqe_tail;
	kernel.sq_tail = sq->sqe_tail;
	if (takes < 0)
		return takes;
	for (taken = 0; taken < takes && kernel.sq_taken != kernel.sq_tail; taken++) {
		const struct io_uring_sqe *sqe = &sq->sqes[kernel.sq_taken++ & sq->ring_mask];
		int result = execute(sqe);

		tell(sqe->user_data, result);
		if (kernel.executed == kernel.twice)
			tell(sqe->user_data, result);
		if (kernel.engine_every > 0 && kernel.executed % kernel.engine_every == 0) {
			tell(engine_data(kernel.engine_told), 65536 + (int)kernel.engine_told);
			kernel.engine_told++;
		}
	}
	if (!kernel.lags)
		kernel.sq_head = kernel.sq_taken;
	return taken;
}

/* In liburing's place, by the linker (--wrap): a static archive would not have second ones. */
int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
	unsigned wait, sigset_t *mask);
int __wrap___io_uring_sqring_wait(struct io_uring *ring);
int __wrap_io_uring_register_buffers(
	struct io_uring *ring, const struct iovec *parts, unsigned count);
int __wrap_io_uring_unregister_buffers(struct io_uring *ring);
int __real___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
	unsigned wait, sigset_t *mask);
int __real___io_uring_sqring_wait(struct io_uring *ring);
int __real_io_uring_register_buffers(
	struct io_uring *ring, const struct iovec *parts, unsigned count);
int __real_io_uring_unregister_buffers(struct io_uring *ring);

/* Behind io_uring_wait_cqe(): nothing is told before it is waited for. */
int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
	unsigned wait, sigset_t *mask)
{
	if (!test_uring_kernel_is(ring))
		return __real___io_uring_get_cqe(ring, cqe, submit, wait, mask);

	int error = next(&kernel.waits, 0);

	if (error == 0) {
		cr_assert_leq(wait, kernel.done - kernel.cq_head, "waits for ever");
		if (kernel.cq_tail - kernel.cq_head < wait)
			kernel.cq_tail = kernel.cq_head + wait;
		*cqe = &kernel.cqes[kernel.cq_head % (2 * ENTRIES)];
	}
	return error;
}

/* Behind io_uring_sqring_wait(), where the ring is full of requests. */
int __wrap___io_uring_sqring_wait(struct io_uring *ring)
{
	if (!test_uring_kernel_is(ring))
		return __real___io_uring_sqring_wait(ring);

	int error = next(&kernel.rooms, 0);

	if (error == 0)
		kernel.sq_head = kernel.sq_taken;
	return error;
}

int __wrap_io_uring_register_buffers(
	struct io_uring *ring, const struct iovec *parts, unsigned count)
{
	if (!test_uring_kernel_is(ring))
		return __real_io_uring_register_buffers(ring, parts, count);
	kernel.registered += kernel.registers == 0 ? count : 0;
	for (unsigned i = 0; i < count; i++) {
		kernel.has_gaps |= i > 0 && parts[i].iov_base != (char *)parts[i - 1].iov_base +
									 parts[i - 1].iov_len;
		kernel.registered_bytes += parts[i].iov_len;
	}
	return kernel.registers;
}

int __wrap_madvise(void *address, size_t size, int advice);
int __real_madvise(void *address, size_t size, int advice);

int __wrap_madvise(void *address, size_t size, int advice)
{
	if (advice == MADV_WIPEONFORK && kernel.is_old) {
		errno = EINVAL;
		return -1;
	}
	return __real_madvise(address, size, advice);
}

int __wrap_io_uring_unregister_buffers(struct io_uring *ring)
{
	if (!test_uring_kernel_is(ring))
		return __real_io_uring_unregister_buffers(ring);
	kernel.unregistered++;
	return 0;
}

/* ---- transfers ------------------------------------------------------------------------------- */

static abd_t *pages_alloc(unsigned char first)
{
	abd_tuning_set("max_order", "0");
	abd_test_runs_adjacent(false);

	abd_t *abd = abd_alloc(SIZE, false);

	for (size_t i = 0; i < SIZE; i++) {
		unsigned char byte = (unsigned char)(first + i * 7 + (i >> 12));

		abd_copy_from_buf_off(abd, &byte, i, 1);
	}
	return abd;
}

/* Nothing of a transfer is left in the ring, neither prepared nor under way nor untold. */
static bool ring_is_clean(void)
{
	return io_uring_sq_ready(&kernel.ring) == 0 && kernel.sq_head == kernel.sq_tail &&
	       kernel.cq_head == kernel.done;
}

/* Both ways by the same scripts; the kernel never saw more than it was told of. */
static void transfers(const int *submits, const int *results, const int *waits)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1), *back = pages_alloc(2);

	kernel_begin();
	kernel.submits = submits, kernel.results = results, kernel.waits = waits;
	cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, 5), SIZE);
	cr_assert(ring_is_clean());
	kernel.submits = submits, kernel.results = results, kernel.waits = waits;
	cr_assert_eq(abd_uring_pread(&uring, fd, back, 0, SIZE, 5), SIZE);
	cr_assert(ring_is_clean());
	cr_assert(abd_equal(abd, back));
	abd_free(back);
	abd_free(abd);
	close(fd);
}

TestSuite(abd_uring_kernel, .init = begin, .fini = end);

Test(abd_uring_kernel, requests_taken_a_few_at_a_time_are_handed_over_again)
{
	transfers((const int[]){3, 0, 2, -EINTR, 0, 1, END}, always, always);
	cr_assert_eq(kernel.executed, 2 * PAGES);
}

Test(abd_uring_kernel, requests_to_be_repeated_are)
{
	transfers(always, (const int[]){ALL, -EINTR, -EINTR, 1, ALL, 4095, END}, always);
	cr_assert_eq(kernel.executed, 2 * (PAGES + 4));
}

Test(abd_uring_kernel, interrupted_waits_go_on)
{
	transfers(
		always, always, (const int[]){-EINTR, 0, -EINTR, -EINTR, -EAGAIN, 0, -EAGAIN, END});
}

/* ---- every call ends ------------------------------------------------------------------------- */

/* The same answer, more often than anybody should ask for it. */
static const int *for_ever(int answer)
{
	static int script[20000];

	for (size_t i = 0; i < 19999; i++)
		script[i] = answer;
	script[19999] = END;
	return script;
}

static ssize_t read_with(const int *submits, const int *results)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.submits = submits, kernel.results = results;
	cr_assert_eq(ftruncate(fd, SIZE), 0);

	ssize_t moved = abd_uring_pread(&uring, fd, abd, 0, SIZE, 0);

	cr_assert(ring_is_clean());
	cr_assert(*kernel.submits != END || submits == always, "asked 20,000 times");
	cr_assert(*kernel.results != END || results == always, "asked 20,000 times");
	abd_free(abd);
	close(fd);
	return moved;
}

Test(abd_uring_kernel, what_can_not_go_on_is_told_at_once)
{
	cr_assert_eq(read_with((const int[]){-EAGAIN, 0, END}, always), -EAGAIN);
	cr_assert_eq(kernel.executed, 0);
	cr_assert_eq(read_with((const int[]){3, -EAGAIN, 0, END}, always), -EAGAIN);
	cr_assert_eq(kernel.executed, 3);
	cr_assert_eq(
		read_with(always, (const int[]){0, -EAGAIN, 0, 0, 0, 0, 0, 0, 0, END}), -EAGAIN);
	cr_assert_eq(kernel.executed, ENTRIES);
}

/* Some files know no flag for requests that must not wait; they are asked without. */
Test(abd_uring_kernel, a_pipe_that_never_waits_is_asked_twice_at_most)
{
	static const int unknown[] = {-EOPNOTSUPP, END};
	abd_t *abd = pages_alloc(1);
	int ends[2];

	cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
	kernel_begin();
	kernel.results = unknown;
	cr_assert_eq(abd_uring_pwrite(&uring, ends[1], abd, 0, SIZE, 0), -ESPIPE); /* pwrite()'s */
	cr_assert_eq(kernel.executed, 2);
	cr_assert_eq(kernel.flags_seen, RWF_NOWAIT);
	cr_assert_eq(kernel.sqes[1].rw_flags, 0);
	cr_assert(ring_is_clean());
	kernel_begin();
	kernel.results = unknown;
	cr_assert_eq(fcntl(ends[1], F_SETFL, 0), 0);
	cr_assert_eq(abd_uring_pwrite(&uring, ends[1], abd, 0, SIZE, 0), -EOPNOTSUPP);
	cr_assert_eq(kernel.flags_seen, 0);
	close(ends[0]);
	close(ends[1]);
	abd_free(abd);
}

/* Such a file makes nobody wait for another end. */
Test(abd_uring_kernel, a_file_on_a_disk_is_read_whole_whatever_its_flags)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	cr_assert_eq(ftruncate(fd, SIZE), 0);
	cr_assert_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	cr_assert_eq(abd_uring_pread(&uring, fd, abd, 0, SIZE, 0), SIZE);
	cr_assert_eq(kernel.executed, PAGES);
	cr_assert_eq(kernel.flags_seen, 0);
	abd_free(abd);
	close(fd);
}

Test(abd_uring_kernel, interruptions_without_end_are_an_error)
{
	cr_assert_eq(read_with(always, for_ever(-EINTR)), -EINTR);
	cr_assert_eq(read_with(for_ever(-EINTR), always), -EINTR);
	cr_assert_eq(read_with(for_ever(0), always), -EAGAIN);
}

Test(abd_uring_kernel, a_wait_that_never_succeeds_is_a_broken_contract)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.waits = for_ever(-EAGAIN);
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: the ring returns no completions: error 11");
	abd_free(abd);
}

/* ---- a ring that the engine uses, too -------------------------------------------------------- */

static void engine_expects(unsigned from, unsigned to)
{
	for (; from < to; from++) {
		struct io_uring_cqe *cqe;

		cr_assert_eq(io_uring_peek_cqe(&kernel.ring, &cqe), 0);
		cr_assert_eq(cqe->user_data, engine_data(from));
		cr_assert_eq(cqe->res, 65536 + (int)from);
		io_uring_cqe_seen(&kernel.ring, cqe);
	}
}

/* Some of the engine's completions wait when a transfer begins, and more come in among its own. */
Test(abd_uring_kernel, completions_of_others_stay_in_the_ring_in_their_order)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1), *back = pages_alloc(2);

	for (unsigned waiting = 0; waiting < 2 * ENTRIES; waiting++) {
		kernel_begin();
		kernel.cq_head = kernel.cq_tail = kernel.done = UINT32_MAX - 20; /* it wraps */
		for (unsigned i = 0; i < waiting; i++)
			tell(engine_data(i), 65536 + (int)i);
		kernel.cq_tail += waiting;
		for (unsigned turn = 0; turn < 3; turn++) {
			cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, turn), SIZE);
			cr_assert_eq(abd_uring_pread(&uring, fd, back, 0, SIZE, turn), SIZE);
			cr_assert(abd_equal(abd, back));
			cr_assert_eq(io_uring_cq_ready(&kernel.ring), waiting);
		}
		engine_expects(0, waiting);
		cr_assert(ring_is_clean());
	}
	abd_free(back);
	abd_free(abd);
	close(fd);
}

Test(abd_uring_kernel, completions_of_others_that_come_in_meanwhile_stay)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	cr_assert_eq(ftruncate(fd, SIZE), 0);
	kernel.engine_every = 3;
	cr_assert_eq(abd_uring_pread(&uring, fd, abd, 0, SIZE, 0), SIZE);
	cr_assert_eq(kernel.engine_told, PAGES / 3);
	kernel.engine_every = 0;
	engine_expects(0, PAGES / 3);
	cr_assert(ring_is_clean());
	abd_free(abd);
	close(fd);
}

/* The second answer, told while another request is under way, is nobody's. */
Test(abd_uring_kernel, a_request_that_is_answered_twice_counts_once)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1);
	struct io_uring_cqe *cqe;

	kernel_begin();
	cr_assert_eq(ftruncate(fd, SIZE), 0);
	kernel.results = (const int[]){100, END};
	kernel.twice = 2;
	cr_assert_eq(abd_uring_pread(&uring, fd, abd, 0, 8192, 0), 8192);
	cr_assert_eq(kernel.executed, 3);
	cr_assert_eq(io_uring_cq_ready(&kernel.ring), 1);
	cr_assert_eq(io_uring_peek_cqe(&kernel.ring, &cqe), 0);
	cr_assert_eq(cqe->user_data, uring.abd_mark ^ 1);
	cr_assert_eq(cqe->res, 4096);
	io_uring_cqe_seen(&kernel.ring, cqe);
	cr_assert(ring_is_clean());
	abd_free(abd);
	close(fd);
}

Test(abd_uring_kernel, more_bytes_than_were_asked_for_are_a_broken_contract)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.results = (const int[]){MORE, END};
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, 4096, 0),
		"abd_uring_pread: a request for 4096 bytes is answered with 4097");
	abd_free(abd);
}

Test(abd_uring_kernel, a_refusal_halfway_leaves_nothing_under_way_and_nothing_prepared,
	.init = begin)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1);

	for (int takes = 0; takes < ENTRIES; takes++) {
		kernel_begin();
		kernel.submits = (const int[]){takes, -ENXIO, END};
		cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, 0), -ENXIO);
		cr_assert(ring_is_clean());
		cr_assert_eq(kernel.executed, (unsigned)takes);
		/* What was withdrawn does not come back with the next transfer. */
		cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, 0), SIZE);
		cr_assert_eq(kernel.executed, (unsigned)takes + PAGES);
	}
	abd_free(abd);
	close(fd);
}

Test(abd_uring_kernel, the_first_error_is_told_and_all_answers_are_awaited)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.results = (const int[]){0, -EIO, -ENOSPC, -EIO, 0, 0, 0, 0, END};
	cr_assert_eq(abd_uring_pwrite(&uring, -1, abd, 0, SIZE, 0), -EBADF);
	cr_assert(ring_is_clean());
	kernel.results = (const int[]){-EIO, -ENOSPC, END};
	cr_assert_eq(abd_uring_pread(&uring, -1, abd, 0, 8192, 0), -EIO);
	cr_assert(ring_is_clean());
	abd_free(abd);
}

Test(abd_uring_kernel, a_write_that_moves_nothing_is_an_error)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.results = (const int[]){ALL, 0, END};
	cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, 0), -EIO);
	cr_assert(ring_is_clean());
	abd_free(abd);
	close(fd);
}

/* ---- broken contracts ------------------------------------------------------------------------ */

Test(abd_uring_kernel, a_ring_that_can_not_be_shared_is_a_broken_contract)
{
	abd_t *abd = pages_alloc(1);

	for (unsigned prepared = 1; prepared <= ENTRIES; prepared += ENTRIES - 1) {
		kernel_begin();
		for (unsigned i = 0; i < prepared; i++)
			cr_assert_not_null(io_uring_get_sqe(&kernel.ring));
		abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
			"other requests of the ring are prepared, but not submitted");
		kernel.ring.flags = IORING_SETUP_SQPOLL;
		abd_test_expect_contract((void)abd_uring_pwrite(&uring, -1, abd, 0, SIZE, 0),
			"other requests of the ring are prepared, but not submitted");
		cr_assert_eq(kernel.executed, 0);
	}
	kernel_begin();
	for (unsigned i = 0; i < 2 * ENTRIES; i++)
		tell(i, 0);
	kernel.cq_tail = kernel.done;
	abd_test_expect_contract((void)abd_uring_pwrite(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pwrite: 16 completions of other requests leave the ring no room");
	kernel_begin();
	kernel.sq_head = 1; /* Linux took a request that was not prepared here */
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: another process uses the ring after fork()");
	kernel_begin();
	kernel.ring.flags = 1u << 18;
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: the ring was set up with flags 0x40000");
	abd_free(abd);
}

/* Then the kernel looks for no more of them, or has no place to put them. */
Test(abd_uring_kernel, completions_of_others_that_stop_the_ring_are_a_broken_contract,
	.init = begin)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.ring.flags = IORING_SETUP_IOPOLL;
	tell(0, 65536);
	kernel.cq_tail++;
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: 1 completions of other requests leave the ring no room");
	kernel_begin();
	kernel.ring.flags = IORING_SETUP_IOPOLL;
	kernel.engine_every = 1;
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: 1 completions of other requests leave the ring no room");
	kernel_begin();
	kernel.ring.flags = IORING_SETUP_IOPOLL | IORING_SETUP_SQPOLL;
	kernel.engine_every = 1;
	cr_assert_eq(abd_uring_pread(&uring, -1, abd, 0, 4096, 0), -EBADF);
	cr_assert_eq(kernel.done - kernel.cq_head, 1);
	abd_free(abd);
}

/* Where a thread takes requests from the ring, none can be taken back. */
Test(abd_uring_kernel, a_thread_that_can_not_be_woken_is_a_broken_contract)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.ring.flags = IORING_SETUP_SQPOLL;
	kernel.submits = (const int[]){-EINTR, END};
	cr_assert_eq(abd_uring_pread(&uring, -1, abd, 0, SIZE, 0), -EBADF);
	kernel.submits = (const int[]){-EOWNERDEAD, END};
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: the ring's thread can't be woken: error 130");
	kernel_begin();
	kernel.ring.flags = IORING_SETUP_SQPOLL;
	kernel.submits = for_ever(-EINTR);
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: the ring's thread can't be woken: error 4");
	abd_free(abd);
}

/* It has answered all of a ring full of requests before it tells that it took them. */
Test(abd_uring_kernel, a_thread_that_lags_behind_is_waited_for)
{
	int fd = memfd_create("abd", 0);
	abd_t *abd = pages_alloc(1), *back = pages_alloc(2);

	kernel_begin();
	kernel.ring.flags = IORING_SETUP_SQPOLL;
	kernel.lags = true;
	kernel.rooms = (const int[]){-EINTR, 0, -EINTR, -EINTR, END};
	cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, 5), SIZE);
	cr_assert_eq(*kernel.rooms, END);
	cr_assert_eq(abd_uring_pread(&uring, fd, back, 0, SIZE, 5), SIZE);
	cr_assert(abd_equal(abd, back));
	cr_assert_eq(kernel.executed, 2 * PAGES);
	cr_assert_eq(kernel.cq_head, kernel.done);

	kernel_begin();
	kernel.ring.flags = IORING_SETUP_SQPOLL;
	kernel.lags = true;
	kernel.rooms = (const int[]){-EBADF, END};
	cr_assert_eq(abd_uring_pread(&uring, fd, back, 0, SIZE, 5), -EBADF);
	cr_assert_eq(kernel.executed, ENTRIES);
	cr_assert_eq(kernel.cq_head, kernel.done);
	kernel.rooms = for_ever(-EINTR);
	cr_assert_eq(abd_uring_pread(&uring, fd, back, 0, SIZE, 5), -EINTR);
	cr_assert_neq(*kernel.rooms, END, "asked 20,000 times");
	cr_assert_eq(kernel.executed, ENTRIES);
	abd_free(back);
	abd_free(abd);
	close(fd);
}

/* Returning would leave the kernel with memory that the caller may free. */
Test(abd_uring_kernel, a_ring_that_is_broken_is_not_left_with_the_buffer)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.waits = (const int[]){0, -EBADF, END};
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"the ring returns no completions: error 9");
	abd_free(abd);
}

Test(abd_uring_kernel, rings_and_requests_are_never_null)
{
	struct abd_uring none = {0};
	struct io_uring_sqe sqe;
	abd_t *abd = abd_alloc(4096, false);
	volatile size_t n = 0;

	abd_test_expect_contract(n = abd_uring_prep_read(&uring, &sqe, 0, abd, 0, 0, 0),
		"abd_uring_prep_read: size is 0");
	abd_test_expect_contract(n = abd_uring_prep_write(&uring, &sqe, 0, abd, 0, 0, 0),
		"abd_uring_prep_write: size is 0");
	abd_test_expect_contract((void)abd_uring_pread(&none, 0, abd, 0, 1, 0),
		"abd_uring_pread: uring has no ring");
	abd_test_expect_contract((void)abd_uring_pwrite(&none, 0, abd, 0, 1, 0),
		"abd_uring_pwrite: uring has no ring");
	cr_assert_eq(n, 0);
	abd_free(abd);
}

/* The kernel takes -1 for the file's current position. */
Test(abd_uring_kernel, offsets_that_no_file_has_are_refused)
{
	static const int64_t wrong[] = {-1, -2, INT32_MIN, INT64_MIN, INT64_MAX};
	abd_t *abd = pages_alloc(1);
	int fd = memfd_create("abd", 0);
	struct io_uring_sqe sqe;

	kernel_begin();
	cr_assert_eq(ftruncate(fd, SIZE), 0);
	for (size_t i = 0; i < 5; i++) {
		int64_t off = wrong[i];

		cr_assert_eq(abd_pread(fd, abd, 0, SIZE, off), -EINVAL);
		cr_assert_eq(abd_pwrite(fd, abd, 0, SIZE, off), -EINVAL);
		cr_assert_eq(abd_uring_pread(&uring, fd, abd, 0, SIZE, off), -EINVAL);
		cr_assert_eq(abd_uring_pwrite(&uring, fd, abd, 0, SIZE, off), -EINVAL);
		if (off >= 0)
			continue;
		cr_assert_eq(abd_uring_pread(&uring, fd, abd, 0, 0, off), -EINVAL);
		cr_assert_eq(abd_uring_prep_read(&uring, &sqe, fd, abd, 0, 4096, off), 4096);
		cr_assert((int64_t)sqe.off < -1);
		cr_assert_eq(abd_uring_prep_write(&uring, &sqe, fd, abd, 0, 4096, off), 4096);
		cr_assert((int64_t)sqe.off < -1);
	}
	cr_assert_eq(kernel.executed, 0);
	cr_assert_eq(lseek(fd, 0, SEEK_CUR), 0);
	abd_free(abd);
	close(fd);
}

/* ---- a child of the process that called abd_uring_begin(): its byte is 0 --------------------- */

Test(abd_uring_kernel, a_child_goes_without_what_its_parent_registered)
{
	static char bytes[4096];
	unsigned char *home =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct abd_uring child = {
		.ring = &kernel.ring, .abd_base = bytes, .abd_size = 4096, .abd_home = home};
	abd_t *abd = abd_get_from_buf(bytes, 4096);
	struct io_uring_sqe sqe;
	volatile size_t n = 0;

	cr_assert(home != MAP_FAILED);
	kernel_begin();
	*home = 1;
	cr_assert_eq(abd_uring_prep_read(&child, &sqe, -1, abd, 0, 4096, 0), 4096);
	cr_assert_eq(sqe.opcode, IORING_OP_READ_FIXED);
	*home = 0;
	cr_assert_eq(abd_uring_prep_read(&child, &sqe, -1, abd, 0, 4096, 0), 4096);
	cr_assert_eq(sqe.opcode, IORING_OP_READ);
	/* A thread of the parent's would fill the parent's memory. */
	kernel.ring.flags = IORING_SETUP_SQPOLL;
	cr_assert_eq(abd_uring_pread(&child, -1, abd, 0, 4096, 0), -EINVAL);
	cr_assert_eq(abd_uring_pwrite(&child, -1, abd, 0, 4096, 0), -EINVAL);
	abd_test_expect_contract(n = abd_uring_prep_write(&child, &sqe, -1, abd, 0, 4096, 0),
		"abd_uring_prep_write: the ring was made before fork(): its kernel thread transfers "
		"the parent's memory");
	cr_assert_eq(n, 0);
	cr_assert_eq(kernel.executed, 0);
	abd_uring_end(&child);
	cr_assert_eq(kernel.unregistered, 0);
	cr_assert_null(child.abd_base);
	abd_free(abd);
}

/* ---- registering: the pool is reserved once per process -------------------------------------- */

ABD_TEST_CHILD(pool_registers)
{
	struct abd_uring one;
	struct io_uring_sqe sqe;
	void *base;
	size_t size;

	kernel_begin();
	/* No region; not even a page. */
	for (size_t n = 0; n < 2; n++) {
		abd_test_fault_from(n);
		abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == -ENOMEM);
		abd_test_fault_end();
		abd_test_child_expect((one.abd_home != NULL) == (n > 0));
		abd_uring_end(&one);
	}
	abd_test_wrap_fail(ABD_TEST_MMAP, 1);
	abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == -ENOMEM);
	abd_test_child_expect(one.abd_home == NULL);
	abd_uring_end(&one);
	abd_test_child_expect(kernel.registered == 0 && kernel.unregistered == 0);

	kernel.is_old = true;
	abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == -ENOMEM);
	abd_test_child_expect(kernel.registered == 0 && one.abd_base == NULL);
	abd_uring_end(&one);
	kernel.is_old = false;

	/* A kernel that refuses: it works all the same. */
	kernel.registers = -EBUSY;
	abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == -EBUSY);
	abd_test_child_expect(one.ring == &kernel.ring && one.abd_base == NULL);
	abd_uring_end(&one);
	abd_test_child_expect(kernel.unregistered == 0 && one.ring == NULL);

	/* A region, but no memory for its parts' addresses. */
	kernel.registers = 0;
	abd_test_fault_at(1);
	abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == -ENOMEM);
	abd_test_child_expect(abd_test_fault_end() == 2);
	abd_test_child_expect(kernel.registered == 0 && one.abd_base == NULL);
	abd_uring_end(&one);

	kernel.registered_bytes = 0;
	abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == 0);
	abd_test_child_expect(kernel.registered_bytes == 1075838976 && !kernel.has_gaps);
	abd_test_child_expect(kernel.registered == 2); /* 1 GiB and the rest */
	abd_test_child_expect(abd_pool_region(&base, &size) == 0 && size == 1075838976);

	/* From memory beside the region the request goes without. */
	char byte = 0;
	abd_t *abd = abd_get_from_buf(&byte, 1);

	abd_test_child_expect(abd_uring_prep_write(&one, &sqe, 0, abd, 0, 1, 0) == 1);
	abd_test_child_expect(sqe.opcode == IORING_OP_WRITE);
	abd_free(abd);
	abd = abd_get_from_buf((char *)base + size - 1, 1);
	abd_test_child_expect(abd_uring_prep_read(&one, &sqe, 0, abd, 0, 1, 0) == 1);
	abd_test_child_expect(sqe.opcode == IORING_OP_READ_FIXED && sqe.buf_index == 1);
	abd_free(abd);
	abd_uring_end(&one);
	abd_test_child_expect(kernel.unregistered == 1 && one.abd_base == NULL);
	return 0;
}

Test(abd_uring_kernel, the_region_is_registered_in_parts_or_not_at_all)
{
	abd_test_child_passes("pool_registers", (const char *[]){"ABD_POOL_SIZE=1075838976", NULL});
}
