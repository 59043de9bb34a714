/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Iterating over every kind, every pair of kinds, at every boundary, against flat bytes.
 */
#include "abd_test_fixture.h"

struct walk {
	const uint8_t *model, *model2;
	size_t at, at2, calls, stop_after;
	int answer;
	bool wrong;
};

static int walk_one(void *buf, size_t len, void *priv)
{
	struct walk *w = priv;

	w->wrong |= len == 0 || memcmp(buf, w->model + w->at, len) != 0;
	w->at += len;
	return ++w->calls == w->stop_after ? w->answer : 0;
}

static int walk_two(void *bufa, void *bufb, size_t len, void *priv)
{
	struct walk *w = priv;

	w->wrong |= len == 0 || memcmp(bufa, w->model + w->at, len) != 0 ||
		    memcmp(bufb, w->model2 + w->at2, len) != 0;
	w->at += len;
	w->at2 += len;
	return ++w->calls == w->stop_after ? w->answer : 0;
}

static void check_range(struct abd_test_buffer *b, size_t off, size_t size)
{
	struct walk w = {.model = b->model, .at = off};

	abd_test_check(abd_iterate_func(b->abd, off, size, walk_one, &w) == 0, "%s", b->kind);
	abd_test_check(!w.wrong && w.at == off + size, "%s: [%zu, +%zu) ended at %zu", b->kind, off,
		size, w.at);
	abd_test_check((w.calls == 0) == (size == 0), "calls for nothing");
}

TestSuite(abd_iter, .init = begin, .fini = end);

Test(abd_iter, iterating_meets_every_byte_once_in_order)
{
	abd_test_each_range(check_range);
}

static void check_pair(struct abd_test_buffer *a, struct abd_test_buffer *b)
{
	size_t a_off[ABD_TEST_OFFSETS], b_off[ABD_TEST_OFFSETS];
	size_t a_count = abd_test_offsets(a, a_off), b_count = abd_test_offsets(b, b_off);

	for (size_t i = 0; i < a_count * b_count; i++) {
		size_t at = a_off[i / b_count], at2 = b_off[i % b_count];
		size_t size = a->size - (at > at2 ? at : at2);
		struct walk w = {.model = a->model, .at = at, .model2 = b->model, .at2 = at2};
		int r = abd_iterate_func2(a->abd, b->abd, at, at2, size, walk_two, &w);

		abd_test_check(r == 0 && !w.wrong && w.at == at + size, "%s at %zu, %s at %zu",
			a->kind, at, b->kind, at2);
	}
}

Test(abd_iter, every_pair_of_kinds_iterates_side_by_side)
{
	abd_test_each_pair(check_pair);
}

Test(abd_iter, iterating_ends_at_the_first_answer_that_is_not_zero)
{
	struct abd_test_buffer a, b;

	abd_test_build(&a, 5, 1);
	abd_test_build(&b, 12, 2);
	for (size_t stop = 1; stop <= 4; stop++) {
		struct walk w = {.model = a.model, .stop_after = stop, .answer = -7};

		cr_assert_eq(abd_iterate_func(a.abd, 0, a.size, walk_one, &w), -7);
		cr_assert_eq(w.calls, stop);
	}
	for (size_t stop = 1; stop <= 7; stop++) {
		struct walk w = {
			.model = a.model, .model2 = b.model, .stop_after = stop, .answer = 3};

		cr_assert_eq(abd_iterate_func2(a.abd, b.abd, 0, 0, a.size, walk_two, &w), 3);
		cr_assert_eq(w.calls, stop);
	}
	abd_test_drop(&b);
	abd_test_drop(&a);
}

static int count_calls(void *buf, size_t len, void *priv)
{
	++*(size_t *)priv;
	return 0;
}

Test(abd_iter, neighbouring_runs_are_handed_out_as_one_piece)
{
	size_t calls = 0;

	abd_test_runs_adjacent(true);
	abd_tuning_set("max_order", "1");

	abd_t *abd = abd_alloc(9 * 4096 - 5, false);

	cr_assert_not_null(abd);
	cr_assert_eq(abd_iterate_func(abd, 0, abd_get_size(abd), count_calls, &calls), 0);
	cr_assert_eq(calls, 1);
	cr_assert_eq(abd_iterate_func(abd, 4095, 4098, count_calls, &calls), 0);
	cr_assert_eq(calls, 2);
	abd_free(abd);
}
