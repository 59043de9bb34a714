/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes by io_uring, against files read and written the plain way. The kernel is made to
 * do less than it is asked: io_uring_submit() here cuts requests short and is interrupted on its
 * way to the real one.
 */
#include "abd_test_fixture.h"
#include "test_uring_kernel.h"

#include <abd/pool.h>
#include <abd/stats.h>
#include <abd/uring.h>
#include <liburing.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define ENTRIES 8 /* of the ring: fewer than a buffer has pieces */

static struct {
	unsigned limit; /* bytes that one request moves at most; 0: as many as it is asked to */
	unsigned interrupts;
	unsigned fixed, plain; /* requests seen, by registered buffer or not */
} kernel;

/* In liburing's place, by the linker (--wrap): a static archive would not have a second one. */
int __wrap_io_uring_submit(struct io_uring *ring);
int __wrap_io_uring_submit(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;

	if (test_uring_kernel_is(ring))
		return test_uring_kernel_submit(ring);
	if (kernel.interrupts > 0) {
		kernel.interrupts--;
		return -EINTR;
	}
	for (unsigned i = sq->sqe_head; i != sq->sqe_tail; i++) {
		struct io_uring_sqe *sqe = &sq->sqes[i & sq->ring_mask];
		bool fixed =
			sqe->opcode == IORING_OP_READ_FIXED || sqe->opcode == IORING_OP_WRITE_FIXED;

		kernel.fixed += fixed;
		kernel.plain += !fixed;
		if (kernel.limit > 0 && sqe->len > kernel.limit)
			sqe->len = kernel.limit;
	}
	return io_uring_submit_and_wait(ring, 0);
}

static struct io_uring ring;
static struct abd_uring unregistered = {.ring = &ring};

/*
 * False where this system refuses io_uring altogether (a container's rules, an old kernel, an
 * emulator).
 */
static bool ring_begin(void)
{
	memset(&kernel, 0, sizeof(kernel));
	return io_uring_queue_init(ENTRIES, &ring, 0) == 0;
}

static void pair(int fd, struct abd_test_buffer *b, struct abd_test_buffer *back, size_t off)
{
	size_t size = b->size - off;

	kernel.interrupts = 1;
	cr_assert_eq(abd_uring_pwrite(&unregistered, fd, b->abd, off, size, 9), (ssize_t)size);
	if (back->writes) {
		kernel.interrupts = 1;
		cr_assert_eq(
			abd_uring_pread(&unregistered, fd, back->abd, off, size, 9), (ssize_t)size);
		memcpy(back->model + off, b->model + off, size);
	}
	abd_test_check(abd_test_differs(back) == back->size, "%s to %s from %zu: wrong at %zu",
		b->kind, back->kind, off, abd_test_differs(back));
}

Test(abd_uring, every_kind_is_written_and_read_whole, .init = begin, .fini = end)
{
	unsigned limits[] = {0, 4097, 1000};
	int fd = memfd_create("abd", 0);

	if (!ring_begin())
		cr_skip_test("no io_uring here");
	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer b, back;

		abd_test_build(&b, kind, kind);
		abd_test_build(&back, abd_test_kind_count - 1 - kind, kind + 1);
		for (size_t i = 0; i < 3; i++) {
			size_t offsets[ABD_TEST_OFFSETS], count = abd_test_offsets(&b, offsets);

			kernel.limit = limits[i];
			for (size_t k = 0; k < count; k += i == 0 ? 1 : 7)
				if (offsets[k] < b.size)
					pair(fd, &b, &back, offsets[k]);
		}
		abd_test_drop(&back);
		abd_test_drop(&b);
	}
	cr_assert(kernel.plain > 0 && kernel.fixed == 0);
	io_uring_queue_exit(&ring);
	close(fd);
}

Test(abd_uring, the_end_of_the_file_ends_a_read, .init = begin, .fini = end)
{
	size_t sizes[] = {0, 1, 4095, 4096, 4097, 40959};
	int fd = memfd_create("abd", 0);

	if (!ring_begin())
		cr_skip_test("no io_uring here");
	abd_tuning_set("max_order", "0");
	for (size_t i = 0; i < 6; i++)
		for (unsigned limit = 0; limit <= 3000; limit += 1500) {
			abd_t *abd = abd_alloc(40960, false);
			char *bytes = malloc(40960);

			kernel.limit = limit;
			memset(bytes, 7, 40960);
			abd_copy_from_buf(abd, bytes, 40960);
			cr_assert_eq(ftruncate(fd, 0), 0);
			cr_assert_eq(ftruncate(fd, (off_t)sizes[i]), 0);
			cr_assert_eq(abd_uring_pread(&unregistered, fd, abd, 0, 40960, 0),
				(ssize_t)sizes[i]);
			memset(bytes, 0, sizes[i]);
			cr_assert_eq(abd_cmp_buf(abd, bytes, 40960), 0);
			free(bytes);
			abd_free(abd);
		}
	io_uring_queue_exit(&ring);
	close(fd);
}

Test(abd_uring, an_error_is_told_and_leaves_nothing_under_way, .init = begin, .fini = end)
{
	int fd = memfd_create("abd", 0);

	if (!ring_begin())
		cr_skip_test("no io_uring here");
	abd_tuning_set("max_order", "0");

	abd_t *abd = abd_alloc(100 << 12, false);

	abd_zero(abd, 100 << 12);
	cr_assert_eq(abd_uring_pread(&unregistered, -1, abd, 0, 100 << 12, 0), -EBADF);
	cr_assert_eq(io_uring_cq_ready(&ring), 0);
	cr_assert_eq(abd_uring_pwrite(&unregistered, fd, abd, 0, 100 << 12, 0), 100 << 12);
	cr_assert_eq(abd_uring_pread(&unregistered, fd, abd, 0, 0, 0), 0);
	abd_free(abd);
	io_uring_queue_exit(&ring);
	close(fd);
}

Test(abd_uring, requests_cover_a_range_piece_by_piece, .init = begin, .fini = end)
{
	int fd = memfd_create("abd", 0);

	if (!ring_begin())
		cr_skip_test("no io_uring here");
	abd_tuning_set("max_order", "0");
	abd_test_runs_adjacent(false);

	abd_t *abd = abd_alloc(5 << 12, false);
	struct io_uring_cqe *cqe;
	size_t done = 100, n;

	abd_zero(abd, 5 << 12);
	for (unsigned i = 0; done < 5 << 12; done += n, i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

		n = abd_uring_prep_write(
			&unregistered, sqe, fd, abd, done, (5 << 12) - done, (off_t)done);
		cr_assert_eq(n, i == 0 ? 3996 : 4096);
		cr_assert_eq(sqe->opcode, IORING_OP_WRITE);
	}
	cr_assert_eq(io_uring_submit(&ring), 5);
	for (unsigned i = 0; i < 5; i++) {
		cr_assert_eq(io_uring_wait_cqe(&ring, &cqe), 0);
		cr_assert(cqe->res >= 3996);
		io_uring_cqe_seen(&ring, cqe);
	}

	struct stat stat;

	cr_assert_eq(fstat(fd, &stat), 0);
	cr_assert_eq(stat.st_size, 5 << 12);
	abd_free(abd);
	io_uring_queue_exit(&ring);
	close(fd);
}

/* Never submitted, so nothing of this much memory is touched. */
Test(abd_uring, a_request_stays_within_one_registered_part)
{
	size_t gib = (size_t)1 << 30, n;
	char *base = mmap(NULL, 2 * gib, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct abd_uring uring = {.ring = &ring, .abd_base = base, .abd_size = gib + 4096};
	struct io_uring_sqe sqe;

	if (base == MAP_FAILED)
		cr_skip_test("no room for 2 GiB of addresses");

	abd_t *abd = abd_get_from_buf(base, 2 * gib);

	n = abd_uring_prep_read(&uring, &sqe, 0, abd, gib - 100, 5000, 7);
	cr_assert_eq(n, 100);
	cr_assert_eq(sqe.opcode, IORING_OP_READ_FIXED);
	cr_assert_eq(sqe.buf_index, 0);
	cr_assert_eq(sqe.addr, (uintptr_t)base + gib - 100);
	n = abd_uring_prep_write(&uring, &sqe, 0, abd, gib, 5000, 107);
	cr_assert_eq(n, 4096);
	cr_assert_eq(sqe.opcode, IORING_OP_WRITE_FIXED);
	cr_assert_eq(sqe.buf_index, 1);
	cr_assert_eq(sqe.off, 107);
	/* What is not registered goes without, 1 GiB at most. */
	n = abd_uring_prep_read(&unregistered, &sqe, 0, abd, 1, 2 * gib - 1, 0);
	cr_assert_eq(n, gib);
	cr_assert_eq(sqe.opcode, IORING_OP_READ);
	abd_free(abd);
	munmap(base, 2 * gib);
}

/* ---- the pool, registered: once per process -------------------------------------------------- */

static int registered_transfers(struct abd_uring *uring, int fd)
{
	abd_t *abd = abd_alloc(300000, false), *back = abd_alloc(300000, false);
	int differs;

	if (abd == NULL || back == NULL)
		return 10;
	for (size_t i = 0; i < 300000; i += 8) {
		uint64_t word = i * 0x9e3779b97f4a7c15u;

		abd_copy_from_buf_off(abd, &word, i, 8);
	}
	if (abd_uring_pwrite(uring, fd, abd, 1, 299999, 0) != 299999 ||
		abd_uring_pread(uring, fd, back, 1, 299999, 0) != 299999)
		return 11;
	differs = !abd_equal_off(abd, back, 1, 1, 299999);
	abd_free(abd);
	abd_free(back);
	return differs ? 12 : 0;
}

ABD_TEST_CHILD(pool_is_registered)
{
	struct abd_uring uring, second;
	int fd = memfd_create("abd", 0), error;
	size_t size;
	void *base;

	if (!ring_begin())
		return 0;
	abd_free(abd_alloc(1 << 20, false)); /* reserves the pool */
	abd_test_fault_at(0);
	if (abd_uring_begin(&uring, &ring) != -ENOMEM || registered_transfers(&uring, fd) != 0)
		return 1;
	abd_test_fault_end();
	error = abd_uring_begin(&uring, &ring);
	if (error == -ENOMEM && geteuid() != 0)
		return 0; /* RLIMIT_MEMLOCK */
	if (error != 0 || abd_pool_region(&base, &size) != 0 || size != 16 << 20)
		return 2;
	if (abd_uring_begin(&second, &ring) != -EBUSY)
		return 3;
	memset(&kernel, 0, sizeof(kernel));
	if (registered_transfers(&uring, fd) != 0 || kernel.fixed == 0 || kernel.plain != 0)
		return 4;

	/* What the library gives back to the system is not what the kernel holds. */
	abd_t *abd = abd_alloc(4 << 20, false);
	char *bytes = abd_to_buf(abd);

	memset(bytes, 0x55, 4 << 20);
	abd_free(abd);
	abd_cache_reap_now();
	if (bytes[(4 << 20) - 1] == 0 || registered_transfers(&uring, fd) != 0)
		return 5;
	abd_uring_end(&uring);
	return abd_uring_begin(&second, &ring) != 0 ? 6 : 0;
}

Test(abd_uring, runs_of_the_pool_go_by_registered_buffers)
{
	char text[512];
	int status = abd_test_child_run("pool_is_registered",
		(const char *[]){"ABD_POOL_SIZE=16777216", "ABD_CHUNK_PROVIDER=pool",
			"ABD_THREAD_CACHE_BYTES=0", NULL},
		text, sizeof(text));

	cr_assert_eq(abd_test_child_exit(status), 0, "status %x: %s", (unsigned)status, text);
}

static size_t pool_is_resident(void)
{
	struct abd_stats stats;

	return abd_stats_get(&stats, sizeof(stats)) == 0 ? (size_t)stats.resident_pool : SIZE_MAX;
}

/* The kernel itself refuses here: the process may lock 1 MiB, and has not root's right to more. */
ABD_TEST_CHILD(registration_is_refused)
{
	struct rlimit limit = {1 << 20, 1 << 20};
	struct abd_uring uring;

	abd_test_child_expect(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
	if (geteuid() == 0 && setuid(65534) != 0)
		return 0; /* a container without other users */
	if (!ring_begin())
		return 0;
	abd_free(abd_alloc(1 << 20, false)); /* reserves the pool */

	size_t resident = pool_is_resident();

	if (abd_uring_begin(&uring, &ring) == 0)
		return 0; /* this kernel does not count registered memory */
	abd_test_child_expect(pool_is_resident() <= resident + (1 << 20));
	abd_cache_reap_now();
	abd_test_child_expect(pool_is_resident() <= resident);
	return 0;
}

Test(abd_uring, a_registration_that_the_kernel_refuses_costs_no_memory)
{
	abd_test_child_passes("registration_is_refused",
		(const char *[]){"ABD_POOL_SIZE=268435456", "ABD_CHUNK_PROVIDER=pool", NULL});
}

ABD_TEST_CHILD(read_past_the_end)
{
	abd_t *abd = abd_alloc(8192, false);

	return abd_uring_pread(&unregistered, 0, abd, 1, 8192, 0) != 0;
}

Test(abd_uring, a_range_past_the_end_is_a_broken_contract)
{
	char text[512];
	int status = abd_test_child_run("read_past_the_end", NULL, text, sizeof(text));

	cr_assert_neq(abd_test_child_exit(status), 0);
	cr_assert_not_null(strstr(text, "abd_uring_pread"), "%s", text);
}
