/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What only checked builds report: buffers freed in the wrong order, misused borrows, memory used
 * after it was freed.
 * In other builds this file is one test that says so: they have none of these checks, and no cost
 * for them.
 */
#include "abd_checked.h"
#include "abd_quarantine.h"
#include "abd_test.h"

#define broken(statement, text) abd_test_expect_contract(statement, text)

#if ABD_CHECKED

static void begin(void)
{
	abd_test_provider_begin();
}

static void end(void)
{
	abd_test_provider_end();
}

Test(abd_checked, a_parent_outlives_its_views, .init = begin, .fini = end)
{
	abd_t *parents[] = {abd_alloc(5 << 12, false), abd_alloc(4096, false),
		abd_alloc_linear(100, false), abd_get_zeros(100)};

	for (size_t i = 0; i < 4; i++) {
		abd_t *view = abd_get_offset(parents[i], 1), *second = abd_get_offset(view, 1);

		broken(abd_free(parents[i]), "has 1 views that live");
		broken(abd_free(view), "has 1 views that live");
		abd_free(second);
		abd_free(view);
		abd_free(parents[i]);
	}
}

Test(abd_checked, a_gang_outlives_its_views, .init = begin, .fini = end)
{
	abd_t *gang = abd_alloc_gang(), *view, own;

	cr_assert_eq(abd_gang_add(gang, abd_alloc(9000, false), true), 0);
	view = abd_get_offset_size(gang, 10, 20);
	abd_get_offset_struct(&own, gang, 0, 5);
	broken(abd_free(gang), "has 2 views that live");
	abd_free(view);
	abd_free(&own);
	abd_free(gang);
}

Test(abd_checked, what_was_only_lent_is_not_changed, .init = begin, .fini = end)
{
	abd_t *abd = abd_alloc(5 << 12, false);
	char *buf;

	abd_zero(abd, 5 << 12);
	buf = abd_borrow_buf_copy(abd, 9000);
	buf[8999] = 1;
	broken(abd_return_buf(abd, buf, 9000), "were changed");
	abd_buf_free(buf, 9000);

	/* The other way round: the buffer changed under the borrow. */
	buf = abd_borrow_buf_copy(abd, 9000);
	abd_copy_from_buf(abd, "x", 1);
	broken(abd_return_buf(abd, buf, 9000), "were changed");
	abd_buf_free(buf, 9000);
	abd_free(abd);
}

Test(abd_checked, what_was_borrowed_is_returned_once_and_as_it_was, .init = begin, .fini = end)
{
	abd_t *multi = abd_alloc(5 << 12, false), *single = abd_alloc(4096, false);
	char *buf;

	abd_zero(multi, 5 << 12);
	buf = abd_borrow_buf_copy(multi, 9000);
	broken(abd_return_buf(multi, buf, 8999), "were not borrowed");
	broken(abd_return_buf_copy(multi, buf + 1, 9000), "were not borrowed");
	broken(abd_free(multi), "is borrowed from");
	abd_return_buf(multi, buf, 9000);
	broken(abd_return_buf(multi, buf, 9000), "or returned before");

	buf = abd_borrow_buf(single, 100);
	broken(abd_free(single), "is borrowed from");
	abd_return_buf(single, buf, 100);
	broken(abd_return_buf(single, buf, 100), "or returned before");
	abd_free(multi);
	abd_free(single);
}

Test(abd_checked, borrows_of_one_buffer_end_in_any_order, .init = begin, .fini = end)
{
	abd_t *abd = abd_alloc(5 << 12, false);
	char *buf[4];

	abd_zero(abd, 5 << 12);
	for (size_t i = 0; i < 4; i++)
		buf[i] = abd_borrow_buf_copy(abd, 5000 + i);
	abd_return_buf(abd, buf[1], 5001);
	abd_return_buf(abd, buf[3], 5003);
	abd_return_buf_copy(abd, buf[0], 5000);
	broken(abd_free(abd), "is borrowed from");
	abd_return_buf(abd, buf[2], 5002);
	abd_free(abd);
}

#ifndef ABD_ASAN

/* AddressSanitizer tells of these itself, by ending the process. */

Test(abd_checked, a_struct_is_not_used_after_its_end, .init = begin, .fini = end)
{
	abd_t *abd = abd_alloc(5 << 12, false), *linear = abd_alloc_linear(10, false);

	abd_free(abd);
	broken(abd_zero_off(abd, 0, 1), "used after it was freed");
	broken(abd_free(abd), "used after it was freed");
	abd_free(linear);
	broken(abd_cmp_zero_off(linear, 0, 1), "used after it was freed");
	broken(abd_to_buf(linear), "used after it was freed");
}

static void write_after_end(char *byte, const char *text)
{
	char was = *byte;

	*byte = 1;
	broken(abd_cache_reap_now(), text);
	*byte = was;
	abd_cache_reap_now();
}

Test(abd_checked, a_write_after_return_is_found, .init = begin, .fini = end)
{
	abd_t *abd = abd_alloc(5 << 12, false);
	char *buf;

	abd_zero(abd, 5 << 12);
	buf = abd_borrow_buf_copy(abd, 9000);
	abd_return_buf(abd, buf, 9000);
	cr_assert_eq((unsigned char)buf[8999], ABD_POISON);
	write_after_end(buf + 77, "byte 77 of a block of 12288 bytes");
	abd_free(abd);
}

/*
 * From the default provider: a damaged block is never given back, which the test provider would
 * count.
 */
Test(abd_checked, a_write_to_a_freed_run_is_found)
{
	abd_t *abd = abd_alloc(8192, false);
	char *run = abd_to_buf(abd);

	abd_free(abd);
	cr_assert_eq((unsigned char)run[0], ABD_POISON);
	write_after_end(run + 8191, "byte 8191 of a block of 8192 bytes");
}

Test(abd_checked, a_write_behind_the_bytes_asked_for_is_found)
{
	char *buf = abd_buf_alloc(100, false), was = buf[100];

	buf[100] = 1;
	broken(abd_buf_free(buf, 100), "byte 100 of a block of 100 bytes");
	buf[100] = was;
	abd_buf_free(buf, 100);
}

#endif

#else

Test(abd_checked, other_builds_keep_no_account_of_views_and_borrows)
{
	abd_t *abd = abd_alloc(5 << 12, false), *view = abd_get_offset(abd, 1);
	void *buf = abd_borrow_buf(abd, 5000);

	cr_assert_eq(abd->abd_children, 0);
	cr_assert_null(abd->abd_borrows);
	abd_return_buf(abd, buf, 5000);
	abd_free(view);
	abd_free(abd);
}

#endif
