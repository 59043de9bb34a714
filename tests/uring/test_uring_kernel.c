/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rarer answers of io_uring: taking fewer requests than were handed over, refusing them
 * halfway, interrupted waits, requests to be repeated, writes that move nothing. The kernel is
 * played here, by scripts of answers; liburing's own inline functions run on the queues as ever.
 * Its calls that enter the kernel are ours for all rings of this program, and real ones are passed
 * on.
 */
#include "test_uring_kernel.h"

#include "abd_test.h"
#include "abd_test_child.h"
#include "abd_test_fault.h"

#include <abd/pool.h>
#include <abd/uring.h>
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abd_test_fixture.h"

enum { ENTRIES = 8, ALL = 1 << 30, PAGES = 20, SIZE = PAGES << 12, END = -100000 };

static struct {
	struct io_uring ring;
	unsigned sq_head, sq_tail, sq_flags, cq_head, cq_tail;
	unsigned done; /* completions there are, of which cq_tail are told */
	struct io_uring_sqe sqes[ENTRIES];
	struct io_uring_cqe cqes[2 * ENTRIES];
	/* What is answered: one by one, and when END is met everything that is asked for. */
	const int *submits; /* requests taken by a call, or -errno */
	const int *results; /* bytes moved by a request, ALL, or -errno */
	const int *waits;   /* 0 or -errno */
	unsigned executed;
	int registers; /* answered to io_uring_register_buffers() */
	unsigned registered, unregistered;
	size_t registered_bytes;
	bool has_gaps; /* between what was registered */
} kernel;

static const int always[] = {END};
static struct abd_uring uring = {.ring = &kernel.ring};

static void kernel_begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.submits = kernel.results = kernel.waits = always;
	kernel.ring.ring_fd = -1;
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
	if (moves < 0)
		return moves;

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

int test_uring_kernel_submit(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	int takes = next(&kernel.submits, ENTRIES), taken;

	sq->sqe_head = sq->sqe_tail;
	kernel.sq_tail = sq->sqe_tail;
	if (takes < 0)
		return takes;
	for (taken = 0; taken < takes && kernel.sq_head != kernel.sq_tail; taken++) {
		const struct io_uring_sqe *sqe = &sq->sqes[kernel.sq_head++ & sq->ring_mask];

		tell(sqe->user_data, execute(sqe));
	}
	return taken;
}

/* In liburing's place, by the linker (--wrap): a static archive would not have second ones. */
int __wrap___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
	unsigned wait, sigset_t *mask);
int __wrap_io_uring_register_buffers(
	struct io_uring *ring, const struct iovec *parts, unsigned count);
int __wrap_io_uring_unregister_buffers(struct io_uring *ring);
int __real___io_uring_get_cqe(struct io_uring *ring, struct io_uring_cqe **cqe, unsigned submit,
	unsigned wait, sigset_t *mask);
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
		cr_assert_neq(kernel.cq_head, kernel.done, "waits for ever");
		kernel.cq_tail = kernel.cq_head + 1;
		*cqe = &kernel.cqes[kernel.cq_head % (2 * ENTRIES)];
	}
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

Test(abd_uring_kernel, requests_taken_a_few_at_a_time_are_handed_over_again, .init = begin,
	.fini = end)
{
	transfers((const int[]){3, 0, 2, -EINTR, -EAGAIN, 1, END}, always, always);
	cr_assert_eq(kernel.executed, 2 * PAGES);
}

Test(abd_uring_kernel, requests_to_be_repeated_are, .init = begin, .fini = end)
{
	transfers(always, (const int[]){ALL, -EAGAIN, -EINTR, 1, ALL, 4095, END}, always);
	cr_assert_eq(kernel.executed, 2 * (PAGES + 4));
}

Test(abd_uring_kernel, interrupted_waits_go_on, .init = begin, .fini = end)
{
	transfers(always, always, (const int[]){-EINTR, 0, -EINTR, -EINTR, END});
}

Test(abd_uring_kernel, a_refusal_halfway_leaves_nothing_under_way_and_nothing_prepared,
	.init = begin, .fini = end)
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

Test(abd_uring_kernel, the_first_error_is_told_and_all_answers_are_awaited, .init = begin,
	.fini = end)
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

Test(abd_uring_kernel, a_write_that_moves_nothing_is_an_error, .init = begin, .fini = end)
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

Test(abd_uring_kernel, a_ring_that_others_use_is_a_broken_contract, .init = begin, .fini = end)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	for (unsigned i = 0; i < ENTRIES; i++)
		cr_assert_not_null(io_uring_get_sqe(&kernel.ring));
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pread: the ring is full");
	kernel_begin();
	tell(1000, 0);
	abd_test_expect_contract((void)abd_uring_pwrite(&uring, -1, abd, 0, SIZE, 0),
		"abd_uring_pwrite: another request of the ring was under way");
	abd_free(abd);
}

/* Returning would leave the kernel with memory that the caller may free. */
Test(abd_uring_kernel, a_ring_that_is_broken_is_not_left_with_the_buffer, .init = begin,
	.fini = end)
{
	abd_t *abd = pages_alloc(1);

	kernel_begin();
	kernel.waits = (const int[]){0, -EBADF, END};
	abd_test_expect_contract((void)abd_uring_pread(&uring, -1, abd, 0, SIZE, 0),
		"tells of no completions: error 9");
	abd_free(abd);
}

Test(abd_uring_kernel, rings_and_requests_are_never_null, .init = begin, .fini = end)
{
	struct abd_uring none = {0};
	struct io_uring_sqe sqe;
	abd_t *abd = abd_alloc(4096, false);
	volatile size_t n = 0;

	abd_test_expect_contract(
		abd_uring_begin(NULL, &kernel.ring), "abd_uring_begin: ring is NULL");
	abd_test_expect_contract(abd_uring_begin(&uring, NULL), "abd_uring_begin: ring is NULL");
	abd_test_expect_contract(abd_uring_end(NULL), "abd_uring_end: ring is NULL");
	abd_test_expect_contract(n = abd_uring_prep_read(NULL, &sqe, 0, abd, 0, 1, 0),
		"abd_uring_prep_read: ring or request");
	abd_test_expect_contract(n = abd_uring_prep_read(&uring, NULL, 0, abd, 0, 1, 0),
		"abd_uring_prep_read: ring or request");
	abd_test_expect_contract(n = abd_uring_prep_read(&uring, &sqe, 0, abd, 0, 0, 0),
		"abd_uring_prep_read: size is 0");
	abd_test_expect_contract(n = abd_uring_prep_write(NULL, &sqe, 0, abd, 0, 1, 0),
		"abd_uring_prep_write: ring or request");
	abd_test_expect_contract(n = abd_uring_prep_write(&uring, NULL, 0, abd, 0, 1, 0),
		"abd_uring_prep_write: ring or request");
	abd_test_expect_contract(n = abd_uring_prep_write(&uring, &sqe, 0, abd, 0, 0, 0),
		"abd_uring_prep_write: size is 0");
	abd_test_expect_contract(
		(void)abd_uring_pread(NULL, 0, abd, 0, 1, 0), "abd_uring_pread: ring is NULL");
	abd_test_expect_contract(
		(void)abd_uring_pread(&none, 0, abd, 0, 1, 0), "abd_uring_pread: ring is NULL");
	abd_test_expect_contract(
		(void)abd_uring_pwrite(NULL, 0, abd, 0, 1, 0), "abd_uring_pwrite: ring is NULL");
	abd_test_expect_contract(
		(void)abd_uring_pwrite(&none, 0, abd, 0, 1, 0), "abd_uring_pwrite: ring is NULL");
	cr_assert_eq(n, 0);
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
	/* No region. */
	abd_test_fault_from(0);
	abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == -ENOMEM);
	abd_test_fault_end();
	abd_uring_end(&one);
	abd_test_child_expect(kernel.unregistered == 0);

	/* A kernel that refuses: it works all the same. */
	kernel.registers = -EBUSY;
	abd_test_child_expect(abd_uring_begin(&one, &kernel.ring) == -EBUSY);
	abd_test_child_expect(one.ring == &kernel.ring && one.abd_base == NULL);
	abd_uring_end(&one);
	abd_test_child_expect(kernel.unregistered == 0 && one.ring == NULL);

	kernel.registers = 0;
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
