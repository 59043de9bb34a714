/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kind a buffer becomes, and what sizes are refused.
 */
#include "abd_impl.h"
#include "abd_test_fixture.h"

static void refused(abd_t *abd, int error, const char *what)
{
	cr_assert_null(abd, "%s", what);
	cr_assert_eq(errno, error, "%s: errno %d", what, errno);
	errno = 0;
}

TestSuite(abd_alloc, .init = begin, .fini = end);

Test(abd_alloc, size_0_is_invalid)
{
	abd_t own, was;
	abd_t *like = abd_alloc(9000, false);
	char byte;

	memset(&own, 0x33, sizeof(own));
	was = own;
	refused(abd_alloc(0, false), EINVAL, "alloc");
	refused(abd_alloc_linear(0, true), EINVAL, "alloc_linear");
	refused(abd_alloc_linear_struct(&own, 0, true), EINVAL, "alloc_linear_struct");
	refused(abd_alloc_for_io(0, true), EINVAL, "alloc_for_io");
	refused(abd_alloc_sametype(like, 0), EINVAL, "alloc_sametype");
	refused(abd_get_zeros(0), EINVAL, "get_zeros");
	refused(abd_get_zeros_struct(&own, 0), EINVAL, "get_zeros_struct");
	refused(abd_get_from_buf(&byte, 0), EINVAL, "get_from_buf");
	refused(abd_get_from_buf(NULL, 0), EINVAL, "get_from_buf of nothing");
	refused(abd_get_from_buf_struct(&own, &byte, 0), EINVAL, "get_from_buf_struct");
	cr_assert_null(abd_buf_alloc(0, false));
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(memcmp(&own, &was, sizeof(own)), 0, "the struct was written");
	abd_tuning_set("scatter_min_size", "0");
	refused(abd_alloc(0, false), EINVAL, "alloc, all scattered");
	abd_free(like);
}

/* More than any machine has that a size can say: 2^60, or 3.75 GiB of 4. */
#define FAR (sizeof(size_t) == 8 ? SIZE_MAX / 16 + 1 : SIZE_MAX / 16 * 15)

Test(abd_alloc, sizes_that_no_machine_has_are_refused)
{
	/* Of 4 GiB, a 32-bit machine may well have the half. */
	size_t half = sizeof(size_t) == 8 ? SIZE_MAX / 2 : FAR;
	size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4095, SIZE_MAX - 4096, half, half + 1,
		FAR, sizeof(size_t) == 8 ? FAR >> 10 : FAR + 4096};
	abd_t own, *like = abd_alloc(9000, false);

	for (size_t i = 0; i < 8; i++) {
		refused(abd_alloc(sizes[i], false), ENOMEM, "alloc");
		refused(abd_alloc_linear(sizes[i], false), ENOMEM, "alloc_linear");
		refused(abd_alloc_linear_struct(&own, sizes[i], true), ENOMEM,
			"alloc_linear_struct");
		refused(abd_alloc_for_io(sizes[i], false), ENOMEM, "alloc_for_io");
		refused(abd_alloc_sametype(like, sizes[i]), ENOMEM, "alloc_sametype");
		cr_assert_null(abd_buf_alloc(sizes[i], false));
		cr_assert_eq(errno, ENOMEM);
	}
	abd_free(like);
}

Test(abd_alloc, zeros_have_any_size)
{
	size_t sizes[] = {1, 4095, 65535, 65536, 65537, (16 << 20) + 1, FAR >> 4, SIZE_MAX};

	for (size_t i = 0; i < 8; i++) {
		abd_t *zeros = abd_get_zeros(sizes[i]), own, *view;
		char byte = 1;

		cr_assert(zeros != NULL && abd_get_size(zeros) == sizes[i]);
		cr_assert_eq(abd_get_zeros_struct(&own, sizes[i]), &own);
		abd_copy_to_buf_off(&byte, zeros, sizes[i] - 1, 1);
		cr_assert_eq(byte, 0);
		view = abd_get_offset(zeros, sizes[i] - 1);
		cr_assert_eq(abd_cmp_zero(view, 1), 0);
		cr_assert_eq(
			abd_cmp_zero_off(&own, sizes[i] / 2, abd_min(sizes[i] / 2, 1 << 20)), 0);
		abd_free(view);
		abd_free(&own);
		abd_free(zeros);
	}
}

Test(abd_alloc, scattered_from_the_smallest_size_up)
{
	for (size_t size = 1; size < 9000; size += 13) {
		bool small = size < 1536;
		abd_t *abd = abd_alloc(size, false);

		cr_assert_eq(abd_size_alloc_linear(size), small);
		cr_assert_eq(abd_is_linear(abd) && !abd_is_linear_page(abd), small, "%zu", size);
		abd_free(abd);
	}
	abd_tuning_set("scatter_min_size", "5000");
	cr_assert(abd_size_alloc_linear(4999) && !abd_size_alloc_linear(5000));
	abd_tuning_set("scatter_enabled", "0");
	cr_assert(abd_size_alloc_linear(SIZE_MAX));

	abd_t *abd = abd_alloc(1 << 20, false);

	cr_assert(abd_is_linear(abd) && !abd_is_linear_page(abd));
	abd_free(abd);
}

static void check_sametype(struct abd_test_buffer *b)
{
	bool linear = abd_is_linear(b->abd) && !abd_is_linear_page(b->abd);

	for (size_t size = 100; size < 20000; size += 1700) {
		abd_t *abd = abd_alloc_sametype(b->abd, size);

		cr_assert_eq(abd_get_size(abd), size);
		cr_assert_eq(abd_is_linear(abd) && !abd_is_linear_page(abd), linear || size < 1536,
			"%s, %zu bytes", b->kind, size);
		cr_assert_eq(abd->abd_flags & ABD_FLAG_META, b->abd->abd_flags & ABD_FLAG_META);
		cr_assert_eq(abd->abd_flags & ABD_FLAG_GANG, 0);
		abd_free(abd);
	}
}

Test(abd_alloc, sametype_keeps_kind_and_mark_of_every_kind)
{
	abd_test_each_kind(check_sametype);
}

Test(abd_alloc, for_io_is_aligned_whatever_the_size)
{
	for (unsigned way = 0; way < 4; way++) {
		abd_tuning_set("scatter_enabled", way & 1 ? "0" : "1");
		abd_tuning_set("max_order", way & 2 ? "0" : "10");
		for (size_t size = 1; size < 40000; size += 97) {
			abd_t *abd = abd_alloc_for_io(size, false);
			struct iovec iov[16];
			size_t covered;
			int count = abd_to_iov(abd, 0, size, iov, 16, &covered);

			abd_test_check(covered == size, "%zu of %zu", covered, size);
			for (int i = 0; i < count; i++)
				abd_test_check((uintptr_t)iov[i].iov_base % 4096 == 0,
					"%zu bytes at %p", size, iov[i].iov_base);
			abd_free(abd);
		}
	}
}

Test(abd_alloc, start_and_end_may_be_called_any_time)
{
	abd_init();
	abd_init();
	abd_fini();
	abd_free(abd_alloc(9000, false));
	abd_fini();
	abd_fini();
	abd_cache_reap_now();
}
