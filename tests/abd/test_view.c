/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a view consists of and what it costs: it is linear if it lies within one run. And views of
 * read-only buffers.
 */
#include "abd_impl.h"
#include "abd_test_fixture.h"

#define PAGES 7
#define SIZE ((size_t)PAGES << ABD_CHUNK_SHIFT)
#define broken abd_test_expect_contract

static uint8_t model[SIZE];

/* A scatter buffer whose runs have at most this order, holding model[]. */
static abd_t *scatter(const char *max_order)
{
	uint64_t seed = 19;
	abd_t *abd;

	abd_tuning_set("max_order", max_order);
	abd = abd_alloc(SIZE, true);
	abd_tuning_set("max_order", "10");
	cr_assert(abd != NULL && !abd_is_linear(abd));
	abd_test_random_fill(&seed, model, SIZE);
	abd_copy_from_buf(abd, model, SIZE);
	return abd;
}

/* The run that holds the byte at off, by walking the table. */
static const struct iovec *run_of(const abd_t *abd, size_t *off)
{
	const struct iovec *run = ABD_SCATTER(abd).abd_runs;

	for (; *off >= run->iov_len; run++)
		*off -= run->iov_len;
	return run;
}

/* A view is linear exactly if one run holds it; it lies there; it has no mark but that. */
static void check_view(abd_t *parent, abd_t *root, size_t root_off, size_t off, size_t size)
{
	size_t within = root_off + off;
	const struct iovec *run = run_of(root, &within);
	bool one = size <= run->iov_len - within;
	abd_t *view = abd_get_offset_size(parent, off, size);

	abd_test_check(
		abd_is_linear(view) == one, "[%zu, +%zu) of a view from %zu", off, size, root_off);
	abd_test_check(!one || abd_to_buf(view) == (char *)run->iov_base + within,
		"[%zu, +%zu) lies elsewhere", off, size);
	abd_test_check((view->abd_flags & ~(unsigned)(ABD_FLAG_LINEAR | ABD_FLAG_ALLOCD)) == 0,
		"flags 0x%x", (unsigned)view->abd_flags);
	abd_test_check(
		abd_cmp_buf(view, model + root_off + off, size) == 0, "[%zu, +%zu)", off, size);
	abd_verify(view);
	abd_free(view);
}

static const size_t edges[] = {1, 2, 511, 512, 2048, 4095, 4096, 4097, 8191, 8192, 8193, 12288,
	16383, 16384, 16385, SIZE - 1, SIZE};

TestSuite(abd_view, .init = begin, .fini = end);

Test(abd_view, what_lies_within_one_run_is_linear)
{
	static const char *const max_order[] = {"0", "1", "2", "10"};

	for (size_t m = 0; m < 4; m++) {
		abd_t *abd = scatter(max_order[m]);

		for (size_t off = 0; off < SIZE;
			off += off % 4096 == 0 || off % 4096 == 4094 ? 1 : 4093)
			for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
				if (edges[i] <= SIZE - off)
					check_view(abd, abd, 0, off, edges[i]);
		abd_free(abd);
	}
}

Test(abd_view, a_view_of_a_view_that_was_scattered_may_be_linear)
{
	abd_t *abd = scatter("1"), *outer = abd_get_offset_size(abd, 4095, SIZE - 5000);

	cr_assert(!abd_is_linear(outer));
	for (size_t off = 0; off < SIZE - 5000; off += 1021)
		for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
			if (edges[i] <= SIZE - 5000 - off)
				check_view(outer, abd, 4095, off, edges[i]);
	abd_free(outer);
	abd_free(abd);
}

Test(abd_view, borrowing_within_a_run_copies_nothing_and_writes_the_parent)
{
	abd_t *abd = scatter("0");
	struct abd_stats at = abd_test_stats();

	for (size_t page = 0; page < PAGES; page++) {
		abd_t *view = abd_get_offset_size(abd, page << ABD_CHUNK_SHIFT, ABD_CHUNK_SIZE);
		char *buf = abd_borrow_buf(view, ABD_CHUNK_SIZE);

		memset(buf, (int)page, ABD_CHUNK_SIZE);
		memset(model + (page << ABD_CHUNK_SHIFT), (int)page, ABD_CHUNK_SIZE);
		abd_return_buf(view, buf, ABD_CHUNK_SIZE);
		abd_free(view);
	}
	cr_assert_eq(abd_test_stats().borrow_cnt, at.borrow_cnt + PAGES);
	cr_assert_eq(abd_test_stats().borrow_copy_cnt, at.borrow_copy_cnt);
	cr_assert_eq(abd_cmp_buf(abd, model, SIZE), 0);
	abd_free(abd);
}

Test(abd_view, without_the_rule_a_view_within_a_run_is_scattered)
{
	abd_t *abd = scatter("0"), *view;

	abd_tuning_set("linear_page", "0");
	view = abd_get_offset_size(abd, 100, 100);
	abd_tuning_set("linear_page", "1");
	cr_assert(!abd_is_linear(view));
	cr_assert_eq(abd_cmp_buf(view, model + 100, 100), 0);
	abd_free(view);
	abd_free(abd);
}

Test(abd_view, a_view_of_a_single_run_is_linear_and_no_page)
{
	abd_t *single = abd_alloc(8192, true), *view = abd_get_offset_size(single, 1, 8000);
	abd_t *same = abd_alloc_sametype(single, 8000), *of_view = abd_alloc_sametype(view, 8000);

	cr_assert(abd_is_linear_page(single) && abd_is_linear(view) && !abd_is_linear_page(view));
	cr_assert(abd_is_linear_page(same) && !abd_is_from_pages(same));
	cr_assert(abd_is_linear(of_view) && !abd_is_linear_page(of_view));
	cr_assert_eq(of_view->abd_flags & ABD_FLAG_META, 0, "the mark goes with ownership");
	abd_free(of_view);
	abd_free(same);
	abd_free(view);
	abd_free(single);
}

Test(abd_view, zeros_stay_scattered_and_stay_zeros)
{
	abd_t *zeros = abd_get_zeros(100), *view = abd_get_offset(zeros, 1);

	cr_assert(abd_is_zeros(zeros) && abd_is_zeros(view) && !abd_is_linear(view));
	broken(abd_zero(view, 99), "can't be written");
	abd_free(view);
	abd_free(zeros);
}

static int add_bytes(const void *buf, size_t len, void *priv)
{
	for (size_t i = 0; i < len; i++)
		*(uint64_t *)priv += ((const uint8_t *)buf)[i];
	return *(uint64_t *)priv > 100000 ? 7 : 0;
}

/* Nothing here casts. */
Test(abd_view, what_may_only_be_read_is_viewed_iterated_and_borrowed)
{
	abd_t *owner = scatter("0");
	const abd_t *abd = owner, *view = abd_get_offset_const(abd, 5000, 100);
	const abd_t *wide = abd_get_offset_const(abd, 5000, 9000);
	uint64_t sum = 0, expected = 0;
	const void *buf = abd_borrow_buf_const(wide, 9000);

	for (size_t i = 5000; i < 5100; i++)
		expected += model[i];
	cr_assert_eq(abd_iterate_func_const(abd, 5000, 100, add_bytes, &sum), 0);
	cr_assert_eq(sum, expected);
	cr_assert_eq(abd_iterate_func_const(abd, 0, SIZE, add_bytes, &sum), 7);
	cr_assert_eq(memcmp(abd_to_buf_const(view), model + 5000, 100), 0);
	cr_assert_eq(memcmp(buf, model + 5000, 9000), 0);
	abd_return_buf_const(wide, buf, 9000);
	cr_assert_eq(abd_borrow_buf_const(view, 10), abd_to_buf_const(view));
	abd_return_buf_const(view, abd_to_buf_const(view), 10);
	broken(abd_to_buf_const(wide), "not linear");
	broken(abd_free_const(abd), "no view");
	broken(abd_free_const(abd_get_offset_const(abd, SIZE, 1)), "reaches past");
	broken(abd_free_const(abd_get_offset_const(abd, 0, 0)), "0 bytes");
	broken(abd_return_buf_const(abd, abd_borrow_buf_const(abd, SIZE + 1), 1), "are borrowed");
	broken(abd_iterate_func_const(abd, 1, SIZE, add_bytes, NULL), "reaches past");
	abd_free_const(NULL);
	abd_free_const(view);
	abd_free_const(wide);
	abd_free(owner);
}

Test(abd_view, views_carry_no_mark_of_ownership)
{
	abd_t *abd = abd_alloc(5 << 12, true), *view = abd_get_offset(abd, 1);

	cr_assert_eq(view->abd_flags & (ABD_FLAG_OWNER | ABD_FLAG_META | ABD_FLAG_MULTI_CHUNK), 0);
	cr_assert_eq(view->abd_parent, abd);
	abd_free(view);
	abd_free(abd);
}

Test(abd_view, views_cost_the_same_for_two_chunks_and_for_many)
{
	abd_tuning_set("max_order", "0");

	abd_t *abd = abd_alloc(1000 * 4096, false), own;
	uint64_t struct_size = abd_test_stats().struct_size;
	abd_t *view = abd_get_offset_size(abd, 999 * 4096 - 1, 2);

	cr_assert_eq(abd_test_stats().struct_size, struct_size + sizeof(abd_t));
	cr_assert_eq(ABD_SCATTER(view).abd_runs, ABD_SCATTER(abd).abd_runs);
	abd_get_offset_struct(&own, view, 1, 1);
	cr_assert_eq(abd_test_stats().struct_size, struct_size + sizeof(abd_t));
	abd_free(&own);
	abd_free(view);
	abd_free(abd);
}
