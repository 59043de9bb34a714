/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Broken contracts: in every build each one is reported in one line that names the call, before
 * anything is damaged.
 */
#include "abd_gang.h"
#include "abd_test_fixture.h"

#define SIZE ABD_TEST_KIND_SIZE
#define broken(statement, text) abd_test_expect_contract(statement, text)
#define past_end(statement) abd_test_expect_contract(statement, "reaches past the end")

static char flat[64];

static int iterate(void *buf, size_t len, void *priv)
{
	return 0;
}

static int iterate2(void *bufa, void *bufb, size_t len, void *priv)
{
	return 0;
}

static void raidz_gen(void **c, const void *d, size_t csize, size_t dsize)
{
}

static void raidz_rec(void **t, const size_t tsize, void **c, const unsigned *mul)
{
}

/*
 * Ranges that reach past the end of a buffer of SIZE bytes: by one, by far, from past it, and by
 * sums that wrap.
 */
static const struct {
	size_t off, size;
} past[] = {
	{0, SIZE + 1},
	{SIZE, 1},
	{1, SIZE},
	{SIZE + 1, 0},
	{SIZE - 1, 2},
	{1, SIZE_MAX},
	{SIZE_MAX, 1},
	{SIZE_MAX, 0},
	{SIZE_MAX - 1, 2},
	{SIZE, SIZE_MAX - SIZE + 1},
	{SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1},
};

static void past_the_end(abd_t *abd, abd_t *other, size_t off, size_t size)
{
	size_t covered;
	struct iovec iov[1];

	past_end(abd_copy_off(abd, other, off, 0, size));
	past_end(abd_copy_off(other, abd, 0, off, size));
	past_end(abd_copy_from_buf_off(abd, flat, off, size));
	past_end(abd_copy_to_buf_off(flat, abd, off, size));
	past_end(abd_zero_off(abd, off, size));
	past_end(abd_iterate_func(abd, off, size, iterate, NULL));
	past_end(abd_iterate_func2(abd, other, off, 0, size, iterate2, NULL));
	past_end(abd_iterate_func2(other, abd, 0, off, size, iterate2, NULL));
	past_end(abd_cmp_buf_off(abd, flat, off, size));
	past_end(abd_cmp_zero_off(abd, off, size));
	past_end(abd_equal_off(abd, other, off, 0, size));
	past_end(abd_equal_off(other, abd, 0, off, size));
	past_end(abd_equal_buf_off(abd, flat, off, size));
	past_end(abd_diff_off(abd, other, off, 0, size));
	past_end(abd_diff_off(other, abd, 0, off, size));
	past_end(abd_free(abd_get_offset_size(abd, off, size)));
	past_end(abd_to_iov(abd, off, size, iov, 1, &covered));
	past_end(abd_pread(-1, abd, off, size, 0));
	past_end(abd_pwrite(-1, abd, off, size, 0));
	past_end(abd_lz4_compress(other, abd, 0, off, size));
	past_end(abd_lz4_decompress(abd, other, off, size, 0, 1));
	past_end(abd_lz4_decompress(other, abd, 0, 1, off, size));
	past_end(abd_lz4_decompress_to_buf(flat, abd, 1, off, size));
}

static void every_past_the_end(struct abd_test_buffer *b)
{
	struct abd_test_buffer other;

	abd_test_build(&other, 0, 1);
	for (size_t i = 0; i < sizeof(past) / sizeof(past[0]); i++)
		past_the_end(b->abd, other.abd, past[i].off, past[i].size);
	cr_assert_eq(abd_test_differs(b), b->size, "%s was written", b->kind);
	cr_assert_eq(abd_test_differs(&other), b->size, "the other side was written");
	abd_test_drop(&other);
}

TestSuite(abd_contract, .init = begin, .fini = end);

Test(abd_contract, no_range_reaches_past_the_end_of_any_kind)
{
	abd_test_each_kind(every_past_the_end);
}

Test(abd_contract, views_and_room_end_where_the_buffer_ends)
{
	struct abd_test_buffer b;
	abd_t view;

	abd_test_build(&b, 7, 1);
	past_end(abd_free(abd_get_offset(b.abd, SIZE + 1)));
	past_end(abd_free(abd_get_offset(b.abd, SIZE_MAX)));
	past_end(abd_get_offset_struct(&view, b.abd, 1, SIZE));
	past_end(abd_get_offset_struct(&view, b.abd, SIZE_MAX, 2));
	past_end(abd_lz4_compress(b.abd, b.abd, SIZE + 1, 0, 1));
	broken(abd_free(abd_get_offset(b.abd, SIZE)), "a view of 0 bytes");
	broken(abd_free(abd_get_offset_size(b.abd, 7, 0)), "a view of 0 bytes");
	broken(abd_get_offset_struct(&view, b.abd, SIZE, 0), "a view of 0 bytes");
	broken(abd_get_offset_struct(b.abd, b.abd, 0, 1), "take the place of its parent");
	broken(abd_get_offset_struct(NULL, b.abd, 0, 1), "abd is NULL");
	abd_test_drop(&b);
}

/* tests/nulls.py makes the test of all calls that NULL breaks. */
Test(abd_contract, null_is_no_buffer)
{
	abd_t *gang = abd_alloc_gang();

	broken(abd_gang_add(gang, NULL, false), "cabd is NULL");
	abd_free(NULL);
	abd_free_const(NULL);
	abd_free(gang);
	abd_buf_free(NULL, 100);
	abd_buf_free_marked(NULL, 100, true);
}

Test(abd_contract, nothing_is_also_a_size)
{
	struct abd_test_buffer b;

	abd_test_build(&b, 7, 1);
	abd_copy_from_buf_off(b.abd, NULL, SIZE, 0);
	abd_copy_to_buf_off(NULL, b.abd, 0, 0);
	cr_assert_eq(abd_cmp_buf_off(b.abd, NULL, 3, 0), 0);
	cr_assert(abd_equal_buf_off(b.abd, NULL, 3, 0));
	abd_copy_off(b.abd, b.abd, SIZE, 0, 0);
	abd_zero_off(b.abd, SIZE, 0);
	cr_assert_eq(abd_cmp_zero_off(b.abd, SIZE, 0), 0);
	cr_assert_eq(abd_diff_off(b.abd, b.abd, SIZE, 0, 0), 0);
	cr_assert(abd_key_equal(flat, flat, 0));
	cr_assert_eq(abd_test_differs(&b), b.size);
	abd_test_drop(&b);
}

Test(abd_contract, copies_onto_what_they_overlap_are_told)
{
	abd_t *linear = abd_alloc_linear(9000, false), *single = abd_alloc(8192, false);

	broken(abd_copy_off(linear, linear, 0, 1, 100), "overlap");
	broken(abd_copy_off(linear, linear, 99, 0, 100), "overlap");
	broken(abd_copy_off(single, single, 1, 0, 8191), "overlap");
	broken(abd_copy_from_buf_off(linear, (char *)abd_to_buf(linear) + 1, 0, 8), "overlap");
	broken(abd_copy_to_buf_off((char *)abd_to_buf(linear) + 7, linear, 0, 8), "overlap");
	broken(abd_flush_copy_off(linear, linear, 1, 0, 8, 0), "overlap");
	abd_zero(linear, 9000);
	abd_copy_off(linear, linear, 100, 0, 100); /* next to each other is apart */
	abd_copy_off(linear, linear, 0, 100, 100);
	abd_copy_off(linear, linear, 7, 7, 8000); /* the same bytes */
	cr_assert_eq(abd_cmp_zero(linear, 9000), 0);
	abd_free(linear);
	abd_free(single);
}

Test(abd_contract, only_equal_sizes_compare)
{
	abd_t *a = abd_alloc(5000, false), *b = abd_alloc(5001, false);

	broken(abd_cmp(a, b), "buffers of 5000 and 5001 bytes are compared");
	cr_assert(!abd_equal(a, b));
	abd_free(a);
	abd_free(b);
}

static void misfit_borrows(struct abd_test_buffer *b)
{
	abd_t *abd = b->abd;

	broken(abd_buf_free(abd_borrow_buf(abd, SIZE + 1), 1), "16001 bytes");
	broken(abd_buf_free(abd_borrow_buf_copy(abd, SIZE_MAX), 1), "bytes are borrowed");
	broken(abd_buf_free(abd_borrow_buf(abd, 0), 1), "0 bytes");
	broken(abd_return_buf(abd, flat, SIZE + 1), "16001 bytes");
	broken(abd_return_buf_copy(abd, flat, SIZE + 1), "16001 bytes");
	broken(abd_return_buf(abd, flat, 0), "0 bytes");
	if (abd_is_linear(abd)) {
		broken(abd_return_buf(abd, flat, 8), "whose memory is");
		broken(abd_return_buf_copy(abd, flat, 8), "whose memory is");
	} else {
		broken(abd_to_buf(abd), "is not linear");
	}
	cr_assert_eq(abd_test_differs(b), b->size, "%s was written", b->kind);
}

Test(abd_contract, borrows_and_returns_fit_the_buffer)
{
	abd_test_each_kind(misfit_borrows);
}

static void write_zeros(abd_t *zeros, abd_t *other, size_t off, size_t size)
{
	broken(abd_copy_off(zeros, other, off, 0, size), "can't be written");
	broken(abd_copy_from_buf_off(zeros, flat, off, 8), "can't be written");
	broken(abd_zero_off(zeros, off, size), "can't be written");
	broken(abd_pread(-1, zeros, off, size, 0), "can't be written");
	broken(abd_lz4_decompress(zeros, other, off, 8, 0, 8), "can't be written");
	broken(abd_raidz_gen_iterate(&zeros, other, 0, SIZE, 0, 1, raidz_gen), "can't be written");
	broken(abd_raidz_rec_iterate(&other, &zeros, SIZE, 1, raidz_rec, NULL), "can't be written");
}

Test(abd_contract, zeros_are_never_written)
{
	struct abd_test_buffer other;
	abd_t *zeros = abd_get_zeros(SIZE), *view = abd_get_offset_size(zeros, 9, 100);
	abd_t *gang = abd_alloc_gang(), *view_of_gang;
	void *buf;

	abd_test_build(&other, 0, 1);
	write_zeros(zeros, other.abd, 100, 8);
	broken(abd_zero(view, 1), "can't be written");
	cr_assert_eq(abd_gang_add(gang, zeros, false), 0);
	write_zeros(gang, other.abd, 100, 8);
	view_of_gang = abd_get_offset_size(gang, 16, 64);
	broken(abd_zero_off(view_of_gang, 63, 1), "can't be written");
	buf = abd_borrow_buf_copy(zeros, 4096);
	broken(abd_return_buf_copy(zeros, buf, 4096), "can't be written");
	abd_buf_free(buf, 4096);
	abd_free(view_of_gang);
	abd_free(gang);
	abd_free(view);
#if !ABD_CHECKED
	abd_free(zeros);
#else
	zeros->abd_borrows = NULL; /* the borrow ended without a return */
	abd_free(zeros);
#endif
	abd_test_drop(&other);
}

Test(abd_contract, gangs_take_what_they_can_hold)
{
	abd_t *gang = abd_alloc_gang(), *linear = abd_alloc_linear(100, false);
	abd_t *second = abd_alloc_gang(), *zeros = abd_get_zeros(SIZE_MAX), *view, freed;

	broken(abd_gang_add(linear, gang, false), "is no gang");
	broken(abd_gang_add(gang, gang, false), "added to itself");
	broken(abd_gang_add(gang, gang, true), "added to itself");
	cr_assert_eq(abd_gang_add(gang, linear, false), 0);
	broken(abd_gang_add(gang, gang, false), "added to itself");
	broken(abd_gang_add(gang, zeros, false), "can't grow");
	view = abd_get_offset_size(gang, 0, 10);
	broken(abd_gang_add(view, linear, false), "is a view");
	broken(abd_gang_add(gang, view, false), "added to itself");
	broken(abd_gang_add(second, linear, true), "in a gang already");
	broken(abd_free(linear), "in a gang that lives");
	abd_get_from_buf_struct(&freed, flat, 8);
	abd_free(&freed);
	broken(abd_gang_add(second, &freed, false), "freed");
	cr_assert_eq(abd_get_size(gang), 100);
	cr_assert_eq(abd_get_size(second), 0);
	abd_free(view);
	abd_free(gang);
	abd_free(second);
	abd_free(linear);
	abd_free(zeros);
}

Test(abd_contract, only_the_owner_gives_memory_up)
{
	abd_t *single = abd_alloc(4096, false), *linear = abd_alloc_linear(100, false);
	abd_t *view = abd_get_offset(linear, 1), *view_of_single = abd_get_offset(single, 1);
	abd_t *foreign = abd_get_from_buf(flat, sizeof(flat)), *gang = abd_alloc_gang();
	abd_t *multi = abd_alloc(5 << 12, false);

	cr_assert(abd_is_linear_page(single));
	broken(abd_release_ownership_of_buf(single), "made of runs");
	broken(abd_release_ownership_of_buf(view_of_single), "does not own");
	broken(abd_release_ownership_of_buf(multi), "made of runs");
	broken(abd_release_ownership_of_buf(gang), "abd_release_ownership_of_buf");
	broken(abd_release_ownership_of_buf(view), "does not own");
	broken(abd_release_ownership_of_buf(foreign), "does not own");
	broken(abd_take_ownership_of_buf(linear, false), "belongs to somebody");
	broken(abd_take_ownership_of_buf(view, false), "belongs to somebody");
	broken(abd_take_ownership_of_buf(single, false), "belongs to somebody");
	broken(abd_take_ownership_of_buf(view_of_single, false), "belongs to somebody");
	broken(abd_take_ownership_of_buf(multi, false), "not linear");
	broken(abd_take_ownership_of_buf(gang, false), "buffer of 0 bytes is not linear");
	abd_free(multi);
	abd_free(gang);
	abd_free(foreign);
	abd_free(view_of_single);
	abd_free(view);
	abd_free(linear);
	abd_free(single);
}

Test(abd_contract, raidz_takes_one_to_three_and_whole_sectors)
{
	abd_t *c[] = {abd_alloc(8192, false), abd_alloc(8192, false), abd_alloc(8192, false)};
	abd_t *d = abd_alloc(8192, false), *gang = abd_alloc_gang();

	broken(abd_raidz_gen_iterate(c, d, 0, 8192, 8192, 0, raidz_gen), "0 parity buffers");
	broken(abd_raidz_gen_iterate(c, d, 0, 8192, 8192, 4, raidz_gen), "4 parity buffers");
	broken(abd_raidz_gen_iterate(c, d, 0, 8192, 8193, 1, raidz_gen), "[0, +8193) reaches past");
	broken(abd_raidz_gen_iterate(c, d, 512, 512, 8192, 1, raidz_gen), "[512, +8192) reaches");
	broken(abd_raidz_gen_iterate(c, d, 0, 8193, 8192, 1, raidz_gen), "past the end");
	broken(abd_raidz_gen_iterate(c, d, 512, 8192, 0, 1, raidz_gen), "past the end");
	broken(abd_raidz_rec_iterate(c, &d, 8192, 0, raidz_rec, NULL), "0 parity buffers");
	broken(abd_raidz_rec_iterate(c, &d, 8192, 4, raidz_rec, NULL), "4 parity buffers");
	broken(abd_raidz_rec_iterate(c, &d, 8193, 1, raidz_rec, NULL), "past the end");
	cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(700, false), true), 0);
	cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(8192 - 700, false), true), 0);
	broken(abd_raidz_gen_iterate(c, gang, 0, 8192, 8192, 1, raidz_gen), "a sector is split");
	broken(abd_raidz_gen_iterate(c, d, 0, 2048, 1000, 1, raidz_gen), "end within a sector");
	abd_free(gang);
	abd_free(d);
	for (size_t i = 0; i < 3; i++)
		abd_free(c[i]);
}

Test(abd_contract, a_freed_struct_of_the_callers_reaches_nowhere)
{
	abd_t abd;

	abd_alloc_linear_struct(&abd, 100, false);
	abd_free(&abd);
	past_end(abd_zero_off(&abd, 0, 1));
	past_end(abd_copy_to_buf_off(flat, &abd, 0, 1));
	broken(abd_buf_free(abd_borrow_buf(&abd, 1), 1), "abd_borrow_buf");
}

/* ---- the handler ---- */

ABD_TEST_CHILD(contract_aborts)
{
	abd_t *abd = abd_alloc(5000, false);

	abd_zero_off(abd, 4999, 2);
	return 0;
}

static void returns(const char *message)
{
	fprintf(stderr, "handler: %s\n", message);
}

ABD_TEST_CHILD(contract_aborts_when_the_handler_returns)
{
	abd_contract_handler_set(returns);
	abd_zero_off(NULL, 0, 1);
	return 0;
}

static void exits(const char *message)
{
	exit(strstr(message, "abd_zero_off: abd is NULL") != NULL ? 42 : 1);
}

ABD_TEST_CHILD(contract_handler_may_exit)
{
	abd_contract_handler_set(exits);
	abd_zero_off(NULL, 0, 1);
	return 0;
}

Test(abd_contract, a_broken_contract_is_one_line_and_an_abort)
{
	char text[512];
	int status = abd_test_child_run("contract_aborts", NULL, text, sizeof(text));

	cr_assert(
		WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %x", (unsigned)status);
	cr_assert_str_eq(text, "abd: contract broken: abd_zero_off: range [4999, +2) reaches past "
			       "the end of a buffer of 5000 bytes\n");
}

Test(abd_contract, the_handler_gets_the_line_and_must_not_return)
{
	char text[512];
	int status = abd_test_child_run(
		"contract_aborts_when_the_handler_returns", NULL, text, sizeof(text));

	cr_assert(
		WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "status %x", (unsigned)status);
	cr_assert_str_eq(text, "abd: contract broken: abd_zero_off: abd is NULL\n"
			       "handler: abd: contract broken: abd_zero_off: abd is NULL\n");
	status = abd_test_child_run("contract_handler_may_exit", NULL, text, sizeof(text));
	cr_assert_eq(abd_test_child_exit(status), 42);
}

Test(abd_contract, memory_of_size_0_given_back_is_told)
{
	abd_test_expect_contract(abd_buf_free(flat, 0), "size 0");
	abd_buf_free(NULL, 0);
}

Test(abd_contract, a_struct_freed_twice_is_told)
{
	abd_t abd;

	cr_assert_not_null(abd_get_from_buf_struct(&abd, flat, sizeof(flat)));
	abd_free(&abd);
	abd_test_expect_contract(abd_free(&abd), "size 0");
}
