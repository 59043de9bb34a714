/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How linear memory is aligned, and who owns it.
 */
#include "abd_impl.h"
#include "abd_test_fixture.h"

TestSuite(abd_linear, .init = begin, .fini = end);

/* The rule: 64 bytes from 64 bytes up, 4 KiB from 4 KiB up, malloc's below. */
Test(abd_linear, linear_memory_is_aligned_for_every_size)
{
	for (size_t size = 1; size <= 9000; size++) {
		size_t alignment = size >= 4096 ? 4096 : size >= 64 ? 64 : 16;
		char *buf = abd_buf_alloc(size, size % 2 != 0);
		abd_t *abd = abd_alloc_linear(size, false);

		abd_test_check(
			(uintptr_t)buf % alignment == 0, "%zu bytes at %p", size, (void *)buf);
		abd_test_check((uintptr_t)abd_to_buf(abd) % alignment == 0, "%zu bytes at %p", size,
			abd_to_buf(abd));
		buf[0] = buf[size - 1] = 1;
		abd_zero(abd, size);
		abd_buf_free(buf, size);
		abd_free(abd);
	}
}

Test(abd_linear, large_linear_memory_is_aligned)
{
	size_t sizes[] = {65536, 262143, 262144, 262145, 1 << 20, (3 << 20) + 1};

	for (size_t i = 0; i < 6; i++) {
		char *buf = abd_buf_alloc(sizes[i], false);

		cr_assert_eq((uintptr_t)buf % 4096, 0);
		buf[sizes[i] - 1] = 1;
		abd_buf_free(buf, sizes[i]);
	}
}

Test(abd_linear, ownership_moves_and_is_counted)
{
	abd_t *abd = abd_alloc_linear(5000, true), *other;
	void *buf = abd_to_buf(abd);

	abd_release_ownership_of_buf(abd);
	cr_assert_eq(abd_test_stats().linear_cnt, before.linear_cnt);
	cr_assert_eq(abd->abd_flags & (ABD_FLAG_OWNER | ABD_FLAG_META), 0);
	abd_free(abd);
	memset(buf, 1, 5000); /* still there */
	other = abd_get_from_buf(buf, 5000);
	abd_take_ownership_of_buf(other, true);
	cr_assert_eq(abd_test_stats().linear_cnt, before.linear_cnt + 1);
	cr_assert_eq(abd_test_stats().linear_data_size, before.linear_data_size + 5000);
	cr_assert_eq(other->abd_flags & (ABD_FLAG_OWNER | ABD_FLAG_META),
		ABD_FLAG_OWNER | ABD_FLAG_META);
	abd_free(other);

	buf = abd_buf_alloc(100, false);
	abd = abd_get_from_buf(buf, 100);
	abd_take_ownership_of_buf(abd, false);
	abd_release_ownership_of_buf(abd);
	abd_free(abd);
	abd_buf_free(buf, 100);
}
