/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making iovecs of buffers and buffers of iovecs, files with short transfers, memory with a
 * callback.
 */
#include "abd_test_fixture.h"

#include <sys/resource.h>
#include <sys/syscall.h>

/* ---- a system that does less than asked: preadv() and pwritev() of our own ------------------- */

static struct {
	size_t limit; /* bytes that one call moves at most; 0: as many as it is asked to */
	unsigned interrupts;
	bool stuck; /* a call moves nothing */
} lazy;

/* There under MemorySanitizer, which knows only the C library's preadv(). */
extern void __msan_unpoison(const volatile void *, size_t) __attribute__((weak));

static void declare_read(const struct iovec *iov, ssize_t moved)
{
	for (size_t left = moved > 0 ? (size_t)moved : 0, n; left > 0; left -= n, iov++) {
		n = iov->iov_len < left ? iov->iov_len : left;
		__msan_unpoison(iov->iov_base, n);
	}
}

static ssize_t lazy_transfer(long call, int fd, const struct iovec *iov, int count, off_t off)
{
	struct iovec some[1024];
	size_t room = lazy.limit > 0 ? lazy.limit : SIZE_MAX;
	int used = 0;

	if (lazy.interrupts > 0) {
		lazy.interrupts--;
		errno = EINTR;
		return -1;
	}
	for (; used < count && room > 0; used++) {
		some[used] = iov[used];
		if (some[used].iov_len > room)
			some[used].iov_len = room;
		room -= some[used].iov_len;
	}
	return lazy.stuck ? 0
			  : syscall(call, fd, some, used, (long)off, (long)((uint64_t)off >> 32));
}

ssize_t preadv(int fd, const struct iovec *iov, int count, off_t off)
{
	ssize_t moved = lazy_transfer(SYS_preadv, fd, iov, count, off);

	if (__msan_unpoison != NULL)
		declare_read(iov, moved);
	return moved;
}

ssize_t pwritev(int fd, const struct iovec *iov, int count, off_t off)
{
	return lazy_transfer(SYS_pwritev, fd, iov, count, off);
}

static void lazy_pair(int fd, struct abd_test_buffer *b, struct abd_test_buffer *back, size_t limit)
{
	lazy.limit = limit;
	lazy.interrupts = 3;
	cr_assert_eq(abd_pwrite(fd, b->abd, 5, b->size - 5, 9), (ssize_t)b->size - 5);
	lazy.interrupts = 2;
	if (back->writes) {
		cr_assert_eq(abd_pread(fd, back->abd, 3, b->size - 5, 9), (ssize_t)b->size - 5);
		memcpy(back->model + 3, b->model + 5, b->size - 5);
	}
	lazy.limit = 0;
	lazy.interrupts = 0;
	abd_test_check(abd_test_differs(back) == back->size, "%s to %s by %zu bytes: wrong at %zu",
		b->kind, back->kind, limit, abd_test_differs(back));
}

TestSuite(abd_io, .init = begin, .fini = end);

Test(abd_io, transfers_go_on_where_they_fell_short)
{
	size_t limits[] = {1, 511, 4095, 4096, 4097, 15990};
	int fd = memfd_create("abd", 0);

	for (size_t kind = 0; kind < abd_test_kind_count; kind++) {
		struct abd_test_buffer b, back;

		abd_test_build(&b, kind, kind);
		abd_test_build(&back, abd_test_kind_count - 1 - kind, kind + 1);
		for (size_t i = kind == 5 || kind == 18 ? 0 : 1; i < 6; i++)
			lazy_pair(fd, &b, &back, limits[i]);
		abd_test_drop(&back);
		abd_test_drop(&b);
	}
	close(fd);
}

Test(abd_io, a_device_that_takes_nothing_is_an_error)
{
	abd_t *abd = abd_get_zeros(100), *to = abd_alloc(100, false);
	int fd = memfd_create("abd", 0);

	lazy.stuck = true;
	cr_assert_eq(abd_pwrite(fd, abd, 0, 100, 0), -EIO);
	cr_assert_eq(abd_pread(fd, to, 0, 100, 0), 0);
	lazy.stuck = false;
	close(fd);
	abd_free(abd);
	abd_free(to);
}

Test(abd_io, offsets_that_no_file_has_are_refused)
{
	const int64_t last = INT64_MAX, wrong[] = {-1, -4096, -last - 1, last, last - 98};
	abd_t *abd = abd_alloc(100, false);
	int fd = memfd_create("abd", 0);

	abd_zero(abd, 100);
	for (size_t i = 0; i < 5; i++) {
		cr_assert_eq(abd_pread(fd, abd, 0, 100, wrong[i]), -EINVAL);
		cr_assert_eq(abd_pwrite(fd, abd, 0, 100, wrong[i]), -EINVAL);
		cr_assert_eq(abd_pread(fd, abd, 0, 0, wrong[i]), wrong[i] < 0 ? -EINVAL : 0);
	}
	cr_assert_eq(lseek(fd, 0, SEEK_END), 0);
	cr_assert_eq(abd_pread(fd, abd, 0, 100, last - 100), 0);
	close(fd);
	abd_free(abd);
}

/* Also on 32-bit machines, and whatever off_t is for the host. */
Test(abd_io, an_offset_past_4_gib_is_that_offset)
{
	const int64_t far = ((int64_t)5 << 30) + 100;
	abd_t *abd = abd_alloc(100, false);
	int fd = memfd_create("abd", 0);
	char first = 1;

	abd_copy_from_buf(abd, "at 5 GiB", 9);
	cr_assert_eq(abd_pwrite(fd, abd, 0, 9, far), 9);
	abd_zero(abd, 100);
	cr_assert_eq(abd_pread(fd, abd, 0, 100, far), 9);
	cr_assert_eq(abd_cmp_buf(abd, "at 5 GiB", 9), 0);
	cr_assert_eq(pread(fd, &first, 1, 100), 1);
	cr_assert_eq(first, 0);
	close(fd);
	abd_free(abd);
}

Test(abd_io, interruptions_without_end_are_an_error)
{
	abd_t *abd = abd_alloc(100, false);
	int fd = memfd_create("abd", 0);

	abd_zero(abd, 100);
	lazy.interrupts = 1000000;
	cr_assert_eq(abd_pwrite(fd, abd, 0, 100, 0), -EINTR);
	cr_assert_eq(abd_pread(fd, abd, 0, 100, 0), -EINTR);
	cr_assert_gt(lazy.interrupts, 900000);
	lazy.interrupts = 0;
	close(fd);
	abd_free(abd);
}

static void check_iov_of(const struct abd_test_buffer *b, size_t off, size_t size, int iov_max)
{
	size_t done = 0, covered;

	while (done < size) {
		struct iovec iov[9] = {[8] = {NULL, 77}};
		int count = abd_to_iov(b->abd, off + done, size - done, iov, iov_max, &covered);
		size_t sum = 0;

		abd_test_check(
			count > 0 && count <= iov_max && iov[8].iov_len == 77, "%d entries", count);
		for (int i = 0; i < count; i++) {
			abd_test_check(memcmp(iov[i].iov_base, b->model + off + done + sum,
					       iov[i].iov_len) == 0,
				"%s: [%zu, +%zu)", b->kind, off, size);
			sum += iov[i].iov_len;
		}
		abd_test_check(
			sum == covered && covered > 0, "%zu covered, %zu described", covered, sum);
		done += covered;
	}
	abd_test_check(done == size, "%zu of %zu", done, size);
}

static void check_iov(struct abd_test_buffer *b, size_t off, size_t size)
{
	check_iov_of(b, off, size, 1);
	check_iov_of(b, off, size, 8);
}

Test(abd_io, iovecs_describe_every_kind_and_range)
{
	abd_test_each_range(check_iov);
}

Test(abd_io, odd_counts_of_entries_are_answered)
{
	abd_t *abd = abd_alloc(5 << 12, false);
	struct iovec iov = {NULL, 5};
	size_t covered = 1;

	cr_assert_eq(abd_to_iov(abd, 0, 5 << 12, &iov, -1, &covered), -EINVAL);
	cr_assert_eq(covered, 0);
	cr_assert_eq(abd_to_iov(abd, 0, 5 << 12, &iov, 0, &covered), 0);
	cr_assert_eq(iov.iov_len, 5);
	abd_free(abd);
}

Test(abd_io, an_iovec_becomes_a_gang_by_reference)
{
	char text[] = "gone with the wind";
	struct iovec iov[] = {{text + 14, 4}, {NULL, 0}, {text, 4}, {text + 13, 1}};
	struct iovec much[] = {{text, SIZE_MAX}, {text, 1}};
	abd_t *abd = abd_from_iov(iov, 4);

	cr_assert_eq(abd_get_size(abd), 9);
	cr_assert_eq(abd_cmp_buf(abd, "windgone ", 9), 0);
	abd_copy_from_buf(abd, "W", 1);
	cr_assert_str_eq(text, "gone with the Wind");
	abd_free(abd);
	cr_assert_null(abd_from_iov(iov, 0));
	cr_assert_eq(errno, EINVAL);
	cr_assert_null(abd_from_iov(iov + 1, 1));
	cr_assert_null(abd_from_iov(iov, -1));
	errno = 0;
	cr_assert_null(abd_from_iov(much, 2));
	cr_assert_eq(errno, EINVAL);
}

static void ended(void *buf, size_t size, void *arg)
{
	cr_assert_eq(size, 100);
	free(buf);
	++*(unsigned *)arg;
}

Test(abd_io, the_callback_ends_memory_once)
{
	unsigned count = 0;
	abd_t *abd = abd_get_from_buf_cb(malloc(100), 100, ended, &count), *view, *gang;

	abd_zero(abd, 100);
	view = abd_get_offset(abd, 10);
	abd_free(view);
	cr_assert_eq(count, 0);
	abd_free(abd);
	cr_assert_eq(count, 1);
	abd = abd_get_from_buf_cb(malloc(100), 100, ended, &count);
	gang = abd_alloc_gang();
	cr_assert_eq(abd_gang_add(gang, abd, true), 0);
	abd_test_expect_contract(abd_take_ownership_of_buf(abd, false), "belongs to somebody");
	abd_free(gang);
	cr_assert_eq(count, 2);
	cr_assert_null(abd_get_from_buf_cb(&count, 0, ended, &count));
	cr_assert_null(abd_get_from_buf_cb(NULL, 0, ended, &count));
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(count, 2);
}

static void check_file(struct abd_test_buffer *b)
{
	int fd = memfd_create("abd", 0);
	struct abd_test_buffer back;

	abd_test_build(&back, 18, 1);
	cr_assert_eq(abd_pwrite(fd, b->abd, 0, b->size, 100), (ssize_t)b->size);
	cr_assert_eq(abd_pwrite(fd, b->abd, 5000, 3000, 3), 3000);
	cr_assert_eq(abd_pread(fd, back.abd, 7, 3000, 3), 3000);
	memcpy(back.model + 7, b->model + 5000, 3000);
	cr_assert_eq(abd_test_differs(&back), back.size);
	if (b->writes) {
		cr_assert_eq(
			abd_pread(fd, b->abd, 1, b->size - 1, 4000), (ssize_t)(b->size - 3900));
		memmove(b->model + 1, b->model + 3900, b->size - 3900);
		cr_assert_eq(abd_test_differs(b), b->size, "%s", b->kind);
	}
	abd_test_drop(&back);
	close(fd);
}

Test(abd_io, files_hold_what_every_kind_held)
{
	abd_test_each_kind(check_file);
}

Test(abd_io, errors_of_the_system_come_back)
{
	abd_t *abd = abd_alloc(5 << 12, false);
	int fds[2], file = memfd_create("abd", 0);

	abd_zero(abd, 5 << 12);
	cr_assert_eq(abd_pread(-1, abd, 0, 10, 0), -EBADF);
	cr_assert_eq(abd_pwrite(-1, abd, 0, 10, 0), -EBADF);
	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(abd_pread(fds[0], abd, 0, 10, 0), -ESPIPE);
	cr_assert_eq(abd_pwrite(file, abd, 0, 10, -5), -EINVAL);
	cr_assert_eq(abd_pread(file, abd, 0, 10, 1000), 0);
	close(fds[0]);
	close(fds[1]);
	close(file);
	abd_free(abd);
}

Test(abd_io, a_full_device_is_told)
{
	abd_t *abd = abd_get_zeros(10000);
	int fd = open("/dev/full", O_WRONLY);

	if (fd >= 0) {
		cr_assert_eq(abd_pwrite(fd, abd, 0, 10000, 0), -ENOSPC);
		close(fd);
	}
	abd_free(abd);
}

/*
 * A limit on the file's size makes the kernel write less than it was asked, and refuse when asked
 * for the rest.
 */
ABD_TEST_CHILD(io_short_write)
{
	struct rlimit limit = {10000, 10000};
	int fd = memfd_create("abd", 0);
	abd_t *abd = abd_alloc(20000, false);
	ssize_t written;

	signal(SIGXFSZ, SIG_IGN);
	abd_zero(abd, 20000);
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 1;
	written = abd_pwrite(fd, abd, 0, 20000, 0);
	abd_free(abd);
	return written == -EFBIG && lseek(fd, 0, SEEK_END) == 10000 ? 0 : 2;
}

Test(abd_io, a_write_that_falls_short_is_asked_for_again)
{
	abd_test_child_passes("io_short_write", NULL);
}

Test(abd_io, short_transfers_are_continued)
{
	int fd = memfd_create("abd", MFD_ALLOW_SEALING);
	size_t size = 300 * 4096 + 17;
	abd_t *abd, *back;

	abd_tuning_set("max_order", "0");
	abd = abd_alloc(size, false);
	back = abd_alloc(2 * size, false);
	abd_zero(abd, size); /* its last byte is written by nobody else */
	for (size_t i = 0; i + 8 <= size; i += 8)
		abd_copy_from_buf_off(abd, &i, i, 8);
	abd_zero(back, 2 * size);
	cr_assert_eq(abd_pwrite(fd, abd, 0, size, 0), (ssize_t)size);
	/* 64 entries a call: the end of the file is met within one. */
	cr_assert_eq(abd_pread(fd, back, 1, 2 * size - 1, 0), (ssize_t)size);
	cr_assert(abd_equal_off(abd, back, 0, 1, size));
	cr_assert_eq(abd_cmp_zero_off(back, size + 1, size - 1), 0);
	close(fd);
	abd_free(abd);
	abd_free(back);
}

/* Whether every piece of abd_to_iov() starts and is long as asked. */
static bool pieces_are_aligned(const abd_t *abd, size_t off, size_t size, size_t alignment)
{
	struct iovec iov[64];
	size_t covered;
	int count = abd_to_iov(abd, off, size, iov, 64, &covered);

	cr_assert_eq(covered, size);
	for (int i = 0; i < count; i++)
		if ((uintptr_t)iov[i].iov_base % alignment != 0 || iov[i].iov_len % alignment != 0)
			return false;
	return true;
}

static void check_aligned(struct abd_test_buffer *b)
{
	static const size_t offs[] = {0, 1, 8, 512, 4095, 4096, 5000};
	static const size_t sizes[] = {0, 1, 8, 512, 4096, 4097, 8192};

	for (size_t i = 0; i < 49; i++)
		for (size_t alignment = 1; alignment <= 4096; alignment *= 8) {
			size_t off = offs[i / 7], size = sizes[i % 7];

			abd_test_check(abd_is_aligned(b->abd, off, size, alignment) ==
					       pieces_are_aligned(b->abd, off, size, alignment),
				"%s: [%zu, +%zu) by %zu", b->kind, off, size, alignment);
		}
}

Test(abd_io, aligned_is_said_of_each_piece)
{
	abd_test_each_kind(check_aligned);
}

Test(abd_io, what_was_made_for_io_is_aligned_for_direct_io)
{
	abd_t *abd = abd_alloc_for_io(7 * 4096, false);

	cr_assert(abd_is_aligned(abd, 0, 7 * 4096, 4096));
	cr_assert(!abd_is_aligned(abd, 512, 4096, 4096));
	cr_assert(!abd_is_aligned(abd, 0, 4096 + 512, 4096));
	cr_assert(abd_is_aligned(abd, 512, 4096, 512));
	abd_test_expect_contract((void)abd_is_aligned(abd, 0, 1, 0), "no power of two");
	abd_test_expect_contract((void)abd_is_aligned(abd, 0, 1, 24), "no power of two");
	abd_test_expect_contract((void)abd_is_aligned(abd, 1, 7 * 4096, 1), "reaches past");
	abd_free(abd);
}
