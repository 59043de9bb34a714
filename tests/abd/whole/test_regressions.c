/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bugs that other projects had: each test checks the behaviour that was missing there, and has the
 * bug's number in the project's list. If the design makes a bug impossible, the test still checks
 * the behaviour.
 */
#include "abd_gang.h"
#include "abd_lease.h"
#include "abd_test_fixture.h"

#include <limits.h>

#define broken(statement, text) abd_test_expect_contract(statement, text)

static char flat[256];

#define Regression(name) Test(abd_regressions, name, .init = begin, .fini = end)

Regression(bug_01_openzfs_18811_borrow_longer_than_buffer)
{
	abd_t *abds[] = {
		abd_alloc(4096, false), abd_alloc(5 << 12, false), abd_alloc_linear(9, false)};

	for (size_t i = 0; i < 3; i++) {
		size_t size = abd_get_size(abds[i]);

		broken(abd_buf_free(abd_borrow_buf(abds[i], size + 1), 1), "are borrowed");
		broken(abd_buf_free(abd_borrow_buf_copy(abds[i], SIZE_MAX), 1), "are borrowed");
		broken(abd_return_buf(abds[i], flat, size + 1), "are borrowed");
		abd_free(abds[i]);
	}
}

Regression(bug_02_openzfs_14043_borrow_ends_before_its_holder)
{
	abd_t *abd = abd_alloc(5 << 12, false), *view = abd_get_offset(abd, 5);
	void *buf;

	abd_zero(abd, 5 << 12);
	buf = abd_borrow_buf_copy(view, 9000);
#if ABD_CHECKED
	broken(abd_free(view), "is borrowed from");
#endif
	abd_return_buf(view, buf, 9000);
	abd_free(view);
	cr_assert_eq(abd_cmp_zero(abd, 5 << 12), 0);
	abd_free(abd);
}

struct sharing {
	abd_t *child;
	abd_t *gang;
	size_t rounds, wrong;
	pthread_barrier_t *
		/* all at once: a thread that ends before the next begins races with nobody */
		start;
};

static void *share(void *arg)
{
	struct sharing *s = arg;

	pthread_barrier_wait(s->start);
	for (size_t i = 0; i < s->rounds; i++) {
		abd_t gang;

		abd_alloc_gang_struct(&gang);
		s->wrong += abd_gang_add(&gang, s->child, false) != 0;
		s->wrong += abd_gang_add(&gang, s->child, false) != 0;
		s->wrong += abd_get_size(&gang) != 2 * abd_get_size(s->child);
		abd_free(&gang);
	}
	return NULL;
}

Regression(bug_03_openzfs_10401_one_child_joins_and_leaves_gangs_of_many_threads)
{
	abd_t *child = abd_alloc(9000, false);
	struct sharing s[4];
	pthread_t thread[4];
	pthread_barrier_t start;

	pthread_barrier_init(&start, NULL, 4);
	for (size_t i = 0; i < 4; i++) {
		s[i] = (struct sharing){.child = child, .rounds = 2000, .start = &start};
		cr_assert_eq(pthread_create(&thread[i], NULL, share, &s[i]), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		cr_assert_eq(s[i].wrong, 0);
	}
	pthread_barrier_destroy(&start);
	cr_assert_eq(child->abd_gang_refs, 0);
	abd_free(child);
}

Regression(bug_04_openzfs_11539_a_childs_place_is_taken_before_the_gang_grows)
{
	abd_t *gang = abd_alloc_gang();
	size_t at = 0;

	for (size_t i = 1; i < 40; i++) {
		abd_t *child = abd_alloc_linear(i, false);

		cr_assert_eq(abd_gang_add(gang, child, true), 0);
		cr_assert_eq(ABD_GANG(gang).abd_table->entries[i - 1].start, at);
		cr_assert_eq(child->abd_gang_refs, 1);
		at += i;
		cr_assert_eq(abd_get_size(gang), at);
		abd_verify(gang);
	}
	abd_free(gang);
}

Regression(bug_05_openzfs_14816_a_donor_keeps_its_size_and_empty_gangs_are_welcome)
{
	abd_t *gang = abd_alloc_gang(), *donor = abd_alloc_gang(), *empty = abd_alloc_gang();

	cr_assert_eq(abd_gang_add(gang, donor, false), 0);
	cr_assert_eq(abd_get_size(gang), 0);
	cr_assert_eq(abd_gang_add(donor, abd_alloc_linear(100, false), true), 0);
	cr_assert_eq(abd_gang_add(gang, donor, false), 0);
	cr_assert_eq(abd_get_size(gang), 100);
	cr_assert_eq(abd_get_size(donor), 100);
	cr_assert_eq(abd_gang_add(gang, empty, true), 0);
	cr_assert_eq(abd_get_size(gang), 100);
	abd_zero(donor, 100);
	cr_assert_eq(abd_cmp_zero(gang, 100), 0);
	abd_verify(donor);
	abd_free(gang);
	abd_free(donor);
}

Regression(bug_06_openzfs_14795_an_empty_gang_verifies)
{
	abd_t *gang = abd_alloc_gang(), own;

	abd_verify(gang);
	abd_verify(abd_alloc_gang_struct(&own));
	abd_zero(gang, 0);
	cr_assert_eq(abd_cmp(gang, &own), 0);
	abd_free(gang);
	abd_free(&own);
}

Regression(bug_07_openzfs_10430_gangs_in_gangs_keep_their_offsets)
{
	abd_t *outer = abd_alloc_gang();
	uint8_t expected = 0;

	for (size_t i = 0; i < 5; i++) {
		abd_t *inner = abd_alloc_gang(), *innermost = abd_alloc_gang();

		cr_assert_eq(abd_gang_add(innermost, abd_alloc_linear(1 + i, false), true), 0);
		cr_assert_eq(abd_gang_add(innermost, abd_alloc(4096 + i, false), true), 0);
		cr_assert_eq(abd_gang_add(inner, abd_alloc_linear(3, false), true), 0);
		cr_assert_eq(abd_gang_add(inner, innermost, true), 0);
		cr_assert_eq(abd_gang_add(outer, inner, true), 0);
	}

	size_t size = abd_get_size(outer);

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = (uint8_t)(i * 7);

		abd_copy_from_buf_off(outer, &byte, i, 1);
	}
	for (size_t i = 0; i < size; i++, expected = (uint8_t)(expected + 7))
		abd_test_check(abd_cmp_buf_off(outer, &expected, i, 1) == 0, "byte %zu", i);
	for (size_t i = 0; i < ABD_GANG(outer).abd_table->count; i++)
		cr_assert(!abd_is_gang(ABD_GANG(outer).abd_table->entries[i].child));
	abd_free(outer);
}

Regression(bug_08_openzfs_12295_structs_go_back_whole)
{
	static const char *const scripts[] = {"", "x", "xx", "x.x", "..x", "xxx", ".x.", "x.xx"};

	for (size_t i = 0; i < 8; i++) {
		abd_test_refuse_script(scripts[i]);

		abd_t *abd = abd_alloc(15 * 4096 - 100, false);
		struct abd_stats now = abd_test_stats();

		cr_assert_not_null(abd, "%s", scripts[i]);
		cr_assert_gt(now.struct_size, before.struct_size);
		abd_free(abd);
		now = abd_test_stats();
		cr_assert_eq(now.struct_size, before.struct_size, "script %s", scripts[i]);
	}
}

Regression(bug_09_openzfs_11683_a_view_is_made_in_the_struct_that_was_given)
{
	abd_t *parents[] = {abd_alloc(5 << 12, false), abd_alloc(4096, false), abd_alloc_gang()};
	abd_t own;

	cr_assert_eq(abd_gang_add(parents[2], abd_alloc_linear(4096, false), true), 0);

	for (size_t i = 0; i < 3; i++) {
		struct abd_stats now = abd_test_stats();

		memset(&own, 0xa5, sizeof(own)); /* the stack may hold anything */
		cr_assert_eq(abd_get_offset_struct(&own, parents[i], 1, 2), &own);
		cr_assert_eq(own.abd_flags & ABD_FLAG_ALLOCD, 0);
		cr_assert_eq(abd_test_stats().struct_size, now.struct_size);
		abd_free(&own);
		abd_free(parents[i]);
	}
}

Regression(bug_10_openzfs_10431_a_gangs_struct_is_no_larger_than_abd_t)
{
	struct {
		abd_t gang;
		unsigned char guard[64];
	} s;

	memset(&s, 0x55, sizeof(s));
	abd_alloc_gang_struct(&s.gang);
	for (size_t i = 0; i < 100; i++)
		cr_assert_eq(abd_gang_add(&s.gang, abd_alloc_linear(1, false), true), 0);
	abd_zero(&s.gang, 100);
	abd_free(&s.gang);
	for (size_t i = 0; i < sizeof(s.guard); i++)
		cr_assert_eq(s.guard[i], 0x55);
}

Regression(bug_11_openzfs_5438_sametype_tests_single_flags)
{
	for (unsigned meta = 0; meta < 2; meta++) {
		abd_t *linear = abd_alloc_linear(9000, meta != 0),
		      *scatter = abd_alloc(9000, meta != 0);
		abd_t *as_linear = abd_alloc_sametype(linear, 9000);
		abd_t *as_scatter = abd_alloc_sametype(scatter, 9000);

		cr_assert(abd_is_linear(as_linear) && !abd_is_linear_page(as_linear));
		cr_assert(!abd_is_linear(as_scatter));
		cr_assert_eq((as_linear->abd_flags & ABD_FLAG_META) != 0, meta);
		cr_assert_eq((as_scatter->abd_flags & ABD_FLAG_META) != 0, meta);
		abd_free(as_linear);
		abd_free(as_scatter);
		abd_free(linear);
		abd_free(scatter);
	}
}

Regression(bug_12_openzfs_12569_zeros_are_zero_at_every_byte)
{
	size_t size = (1 << 20) + 77;
	abd_t *zeros = abd_get_zeros(size);
	uint8_t *buf = malloc(size);

	memset(buf, 0xee, size);
	abd_copy_to_buf(buf, zeros, size);
	for (size_t i = 0; i < size; i++)
		abd_test_check(buf[i] == 0, "byte %zu is %d", i, buf[i]);
	cr_assert_eq(abd_cmp_zero(zeros, size), 0);
	free(buf);
	abd_free(zeros);
}

Regression(bug_13_openzfs_11536_every_child_is_counted_and_walked_once)
{
	abd_t *gang = abd_alloc_gang();
	struct iovec iov[16];
	size_t covered;

	abd_tuning_set("max_order", "0");
	cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(10, false), true), 0);
	cr_assert_eq(abd_gang_add(gang, abd_alloc(3 << 12, false), true), 0);
	cr_assert_eq(abd_gang_add(gang, abd_alloc(2 << 12, false), true), 0);
	cr_assert_eq(abd_to_iov(gang, 0, abd_get_size(gang), iov, 16, &covered), 6);
	cr_assert_eq(covered, abd_get_size(gang));
	abd_free(gang);
}

Regression(bug_14_openzfs_16076_the_start_offset_counts_for_alignment)
{
	abd_t *abd = abd_alloc_for_io(5 << 12, false), *view = abd_get_offset(abd, 512);
	struct iovec iov[8];
	size_t covered;

	cr_assert_gt(abd_to_iov(abd, 0, 5 << 12, iov, 8, &covered), 0);
	cr_assert_eq((uintptr_t)iov[0].iov_base % 4096, 0);
	cr_assert_gt(abd_to_iov(view, 1, 5000, iov, 8, &covered), 0);
	cr_assert_eq((uintptr_t)iov[0].iov_base % 4096, 513);
	abd_free(view);
	abd_free(abd);
}

static int one_piece(void *buf, size_t len, void *priv)
{
	cr_assert_eq(len, *(size_t *)priv);
	return 17;
}

Regression(bug_15_openzfs_16108_a_run_is_more_than_a_page)
{
	size_t first = 4 << 12;
	abd_t *abd = abd_alloc(5 << 12, false);

	cr_assert_eq(abd_iterate_func(abd, 0, 5 << 12, one_piece, &first), 17);
	first -= 5000;
	cr_assert_eq(abd_iterate_func(abd, 5000, 11384, one_piece, &first), 17);
	abd_free(abd);
}

static int never(void *buf, size_t len, void *priv)
{
	cr_assert_fail("called for nothing");
	return 1;
}

static int never2(void *bufa, void *bufb, size_t len, void *priv)
{
	return never(bufa, len, priv);
}

/*
 * At the end of whole runs, where there is none to look at. A walk over 0 bytes begins no cursor;
 * a span does.
 */
static void nothing_behind_runs(void)
{
	abd_span_t span;
	abd_t *abd;

	abd_tuning_set("max_order", "0");
	abd = abd_alloc(5 << 12, false);
	cr_assert_eq(abd_iterate_func(abd, 5 << 12, 0, never, NULL), 0);
	cr_assert_eq(abd_cmp_zero_off(abd, 5 << 12, 0), 0);
	abd_span_begin(&span, abd, 5 << 12, 0);
	cr_assert_eq(span.len, 0);
	abd_free(abd);
	abd_tuning_set("max_order", "10");
}

static void nothing_behind(struct abd_test_buffer *b)
{
	abd_span_const_t span;
	struct iovec iov;
	size_t covered = 1;

	cr_assert_eq(abd_iterate_func(b->abd, b->size, 0, never, NULL), 0);
	abd_span_begin_const(&span, b->abd, b->size, 0);
	cr_assert_eq(span.len, 0);
	cr_assert_eq(abd_iterate_func2(b->abd, b->abd, b->size, 0, 0, never2, NULL), 0);
	cr_assert_eq(abd_to_iov(b->abd, b->size, 0, &iov, 1, &covered), 0);
	cr_assert_eq(covered, 0);
	cr_assert_eq(abd_pwrite(-1, b->abd, b->size, 0, 0), 0);
}

Regression(bug_16_openzfs_15491_length_0_touches_nothing)
{
	nothing_behind_runs();
	abd_test_each_kind(nothing_behind);
}

Regression(bug_17_openzfs_18390_what_is_counted_in_is_counted_out)
{
	static const char *const tunables[] = {"linear_page", "max_order", "scatter_enabled"};
	size_t sizes[] = {100, 1536, 4096, 4097, 8192, 12000, 50000};
	abd_t *abds[7];

	for (size_t t = 0; t < 3; t++)
		for (unsigned way = 0; way < 2; way++) {
			abd_tuning_set(tunables[t], way == 0 ? "0" : "1");
			for (size_t i = 0; i < 7; i++)
				abds[i] = abd_alloc(sizes[i], i % 2 != 0);
			abd_tuning_set(tunables[t], way == 0 ? "1" : "0");
			if (t == 1)
				abd_tuning_set("chunk_provider", "malloc");
			for (size_t i = 0; i < 7; i++)
				abd_free(abds[i]);

			struct abd_stats now = abd_test_stats();

			cr_assert(abd_test_gauges_equal(&before, &now), "%s", tunables[t]);
			abd_tuning_set("chunk_provider", "test");
			abd_tuning_set(tunables[t], t == 1 ? "10" : "1");
		}
}

Regression(bug_18_openzfs_6259_there_is_no_size_past_the_limit)
{
	size_t limit = 16 << 20;

	for (size_t size = limit - 1; size <= limit + 1; size++) {
		abd_t *abd = abd_alloc(size, false), *zeros = abd_get_zeros(size);

		cr_assert(abd != NULL && zeros != NULL);
		abd_copy_from_buf_off(abd, "end", size - 3, 3);
		cr_assert_eq(abd_cmp_buf_off(abd, "end", size - 3, 3), 0);
		cr_assert_eq(abd_cmp_zero_off(zeros, size - 3, 3), 0);
		abd_free(abd);
		abd_free(zeros);
	}
}

struct comparing {
	abd_t *child, *same;
	atomic_bool is_done, may_leave;
	bool equal;
};

/*
 * Threads take turns without an order: relaxed. So a checker sees a race each time, however busy
 * the machine is.
 */
static void wait_for(const atomic_bool *it)
{
	while (!atomic_load_explicit(it, memory_order_relaxed))
		usleep(100);
}

static void *compare(void *arg)
{
	struct comparing *c = arg;

	c->equal = abd_equal(c->child, c->same) && abd_cmp_zero(c->child, 9000) == 0;
	atomic_store_explicit(&c->is_done, true, memory_order_relaxed);
	wait_for(&c->may_leave);
	return NULL;
}

Regression(bug_19_openzfs_18712_comparing_while_others_end_their_views)
{
	struct comparing c = {.child = abd_alloc(9000, false)};
	abd_t *view, *gang = abd_alloc_gang();
	pthread_t thread;

	c.same = abd_alloc_linear(9000, false);
	abd_zero(c.child, 9000);
	abd_zero(c.same, 9000);
	view = abd_get_offset(c.child, 100);
	cr_assert_eq(abd_gang_add(gang, c.child, false), 0);
	cr_assert_eq(pthread_create(&thread, NULL, compare, &c), 0);
	wait_for(&c.is_done);
	abd_free(gang);
	abd_free(view);
	atomic_store_explicit(&c.may_leave, true, memory_order_relaxed);
	pthread_join(thread, NULL);
	cr_assert(c.equal);
	abd_free(c.child);
	abd_free(c.same);
}

Regression(bug_20_openzfs_5936_each_offset_belongs_to_its_own_side)
{
	abd_t *a = abd_alloc_linear(10, false), *b = abd_alloc_linear(10, false);

	abd_copy_from_buf(a, "0123456789", 10);
	abd_copy_from_buf(b, "abcdefghij", 10);
	abd_copy_off(a, b, 7, 2, 3); /* destination first */
	cr_assert_eq(abd_cmp_buf(a, "0123456cde", 10), 0);
	/* the offset is the buffer's, not the memory's */
	cr_assert_eq(abd_cmp_buf_off(a, "6cde", 6, 4), 0);
	abd_copy_to_buf_off(flat, a, 7, 3);
	cr_assert_arr_eq(flat, "cde", 3);
	abd_copy_from_buf_off(a, "XYZ", 1, 2);
	cr_assert_eq(abd_cmp_buf(a, "0XY3456cde", 10), 0);
	cr_assert(abd_equal_off(a, b, 7, 2, 3));
	cr_assert_eq(abd_diff_off(a, b, 6, 2, 4), 0);
	cr_assert_eq(abd_diff_off(a, b, 7, 2, 3), 3);
	abd_free(a);
	abd_free(b);

	/* The same for more than a small piece, which takes another way. */
	static char large[9000];

	a = abd_alloc_linear(9000, false);
	b = abd_alloc(9000, false);
	abd_zero(a, 9000);
	for (size_t i = 0; i < 9000; i++)
		large[i] = (char)(i * 7 + i / 256);
	abd_copy_from_buf(b, large, 9000);
	abd_copy_off(a, b, 70, 2000, 5000);
	cr_assert_eq(abd_cmp_buf_off(a, large + 2000, 70, 5000), 0);
	cr_assert(abd_cmp_zero_off(a, 0, 70) == 0 && abd_cmp_zero_off(a, 5070, 3930) == 0);
	abd_free(a);
	abd_free(b);
}

/* An engine's pair that counts, in a process of its own. */
static size_t engine_out, engine_bytes;

static void *engine_alloc(size_t size, size_t alignment, bool is_metadata, void *arg)
{
	engine_out++;
	engine_bytes += size;
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void engine_free(void *buf, size_t size, bool is_metadata, void *arg)
{
	engine_out--;
	engine_bytes -= size;
	free(buf);
}

ABD_TEST_CHILD(bug_21)
{
	struct abd_allocator engine = {engine_alloc, engine_free, NULL};

	if (abd_allocator_set(&engine) != 0)
		return 1;
	abd_tuning_set("thread_cache_bytes", "0");
	for (size_t n = 0; n < 4; n++) {
		abd_test_fault_at(n);
		abd_free(abd_alloc_linear(777, false));

		abd_t *abd = abd_alloc(3 << 12, false);
		void *buf = abd != NULL ? abd_borrow_buf(abd, 3 << 12) : NULL;

		abd_test_fault_end();
		if (buf != NULL) {
			memset(buf, 0, 3 << 12);
			abd_return_buf_copy(abd, buf, 3 << 12);
		}
		abd_free(abd);
		if (engine_out != 0 || engine_bytes != 0)
			return 2;
	}
	return 0;
}

Test(abd_regressions, bug_21_openzfs_17079_an_error_path_frees_as_it_allocated)
{
	abd_test_child_passes("bug_21", NULL);
}

Regression(bug_22_openzfs_16598_a_borrowed_copy_is_apart_from_the_buffer)
{
	abd_t *abd = abd_alloc(5 << 12, false);
	char *buf;

	abd_zero(abd, 5 << 12);
	buf = abd_borrow_buf_copy(abd, 5 << 12);
	abd_copy_from_buf_off(abd, "changed", 4090, 7);
	cr_assert_eq(buf[4090], 0);
#if ABD_CHECKED
	broken(abd_return_buf(abd, buf, 5 << 12), "were changed");
	abd_buf_free(buf, 5 << 12);
#else
	buf[0] = 1;
	abd_return_buf(abd, buf, 5 << 12);
#endif
	cr_assert_eq(abd_cmp_zero_off(abd, 0, 4090), 0);
	cr_assert_eq(abd_cmp_buf_off(abd, "changed", 4090, 7), 0);
	abd_free(abd);
}

Regression(bug_23_openzfsonosx_597_copies_fit_both_sides)
{
	abd_t *large = abd_alloc(9000, false), *small = abd_alloc_linear(100, false);

	broken(abd_copy(small, large, 101), "past the end of a buffer of 100");
	broken(abd_copy(large, small, 101), "past the end of a buffer of 100");
	broken(abd_copy_off(large, small, 8999, 0, 2), "past the end of a buffer of 9000");
	broken(abd_copy_off(small, large, 0, 8999, 2), "past the end of a buffer of 9000");
	abd_free(large);
	abd_free(small);
}

/* Sums that wrap: a range, the pieces of an iovec, a gang that grows. */
static void wraps(struct abd_test_buffer *b)
{
	broken(abd_copy_to_buf_off(flat, b->abd, SIZE_MAX - 5, 10), "past the end");
	broken((void)abd_cmp_zero_off(b->abd, 10, SIZE_MAX - 5), "past the end");
	broken(abd_free(abd_get_offset_size(b->abd, 1, SIZE_MAX)), "past the end");
}

Regression(bug_26_folly_cve_2021_24036_sums_of_sizes_do_not_wrap)
{
	struct iovec pieces[] = {{flat, SIZE_MAX - 5}, {flat, 10}};
	abd_t *half = abd_get_zeros(SIZE_MAX / 2 + 1), *gang = abd_alloc_gang();

	abd_test_each_kind(wraps);
	errno = 0;
	cr_assert_null(abd_from_iov(pieces, 2));
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(abd_gang_add(gang, half, false), 0);
	broken((void)abd_gang_add(gang, half, false), "can't grow");
	cr_assert_eq(abd_get_size(gang), SIZE_MAX / 2 + 1);
	abd_free(gang);
	abd_free(half);
}

/*
 * A view, and a view of it, is bounded by what it is a view of, not by what lies behind in memory.
 */
static void ends(struct abd_test_buffer *b)
{
	abd_t *volatile view = abd_get_offset_size(b->abd, 4000, 200);
	abd_t own;

	broken(abd_free(abd_get_offset_size(b->abd, 1, b->size)), "past the end");
	broken(abd_free(abd_get_offset(b->abd, b->size + 1)), "past the end");
	broken(abd_free(abd_get_offset_size(view, 100, 101)), "past the end");
	broken(abd_get_offset_struct(&own, view, 0, 201), "past the end");
	cr_assert_eq(abd_get_size(abd_get_offset_struct(&own, view, 100, 100)), 100);
	cr_assert_eq(abd_cmp_buf_off(&own, b->model + 4199, 99, 1), 0);
	abd_free(&own);
	abd_free(view);
}

Regression(bug_27_folly_28437494b_a_view_ends_where_its_parent_does)
{
	abd_test_each_kind(ends);
}

Regression(bug_30_libevent_249_more_pieces_than_iov_max)
{
	size_t size = 3000 * 4096 - 1, done = 0, covered;
	struct iovec iov[IOV_MAX];
	int fd = memfd_create("abd", 0);
	abd_t *abd, *back;

	abd_tuning_set("max_order", "0");
	abd = abd_alloc(size, false);
	back = abd_alloc(size, false);
	abd_zero(abd, size);
	for (size_t i = 0; i < size; i += 1000)
		abd_copy_from_buf_off(abd, &i, i, abd_min(sizeof(i), size - i));
	for (; done < size; done += covered)
		cr_assert_leq(abd_to_iov(abd, done, size - done, iov, IOV_MAX, &covered), IOV_MAX);
	cr_assert_eq(done, size);
	cr_assert_eq(abd_to_iov(abd, 0, size, iov, 1, &covered), 1);
	cr_assert_eq(covered, 4096);
	cr_assert_eq(abd_to_iov(abd, 0, size, NULL, 0, &covered), 0);
	cr_assert_eq(covered, 0);
	cr_assert_eq(abd_pwrite(fd, abd, 0, size, 5), (ssize_t)size);
	cr_assert_eq(abd_pread(fd, back, 0, size, 5), (ssize_t)size);
	cr_assert(abd_equal(abd, back));
	close(fd);
	abd_free(abd);
	abd_free(back);
}

Regression(bug_31_arrow_37318_one_chunk_is_not_copied)
{
	abd_t *abd = abd_alloc(8192, false), *multi = abd_alloc(5 << 12, false);
	struct abd_stats now = abd_test_stats();
	void *buf = abd_borrow_buf_copy(abd, 8192);
	struct abd_lease lease;

	cr_assert(abd_is_linear(abd) && abd_is_linear_page(abd));
	cr_assert_eq(buf, abd_to_buf(abd));
	abd_return_buf_copy(abd, buf, 8192);
	cr_assert_eq(abd_borrow_buf(abd, 1), buf);
	abd_return_buf(abd, buf, 1);

	/* The last page of a buffer of two runs is one piece too. */
	cr_assert(abd_lease_read(&lease, multi, 4 << 12, 4096));
	cr_assert_eq(lease.buf, ABD_SCATTER(multi).abd_runs[1].iov_base);
	abd_lease_end(&lease);
	cr_assert_eq(abd_test_stats().borrow_cnt, now.borrow_cnt + 3);
	cr_assert_eq(abd_test_stats().borrow_copy_cnt, now.borrow_copy_cnt);
	cr_assert_eq(abd_test_stats().borrow_copy_bytes, now.borrow_copy_bytes);
	abd_free(abd);
	abd_free(multi);
}
