/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of every kind and range, against flat bytes and against what abd_iterate_func() hands out.
 */
#include "abd_test_fixture.h"

struct called {
	struct iovec piece[64];
	size_t count;
};

static int note(void *buf, size_t len, void *priv)
{
	struct called *called = priv;

	called->piece[called->count++ % 64] = (struct iovec){buf, len};
	return 0;
}

static void check_range(struct abd_test_buffer *b, size_t off, size_t size)
{
	struct called called = {.count = 0};
	abd_span_const_t only_read;
	size_t at = off, n = 0;
	abd_span_t span;

	abd_iterate_func(b->abd, off, size, note, &called);
	abd_test_check(called.count <= 64, "%s: %zu pieces", b->kind, called.count);
	abd_span_begin_const(&only_read, b->abd, off, size);
	for (abd_span_begin(&span, b->abd, off, size); span.len > 0; abd_span_next(&span)) {
		abd_test_check(span.off == at && span.buf == called.piece[n].iov_base &&
				       span.len == called.piece[n].iov_len &&
				       memcmp(span.buf, b->model + at, span.len) == 0,
			"%s: [%zu, +%zu): span %zu, %zu bytes at %zu", b->kind, off, size, n,
			span.len, span.off);
		abd_test_check(only_read.buf == span.buf && only_read.len == span.len &&
				       only_read.off == span.off,
			"%s: [%zu, +%zu): only to read", b->kind, off, size);
		at += span.len;
		n++;
		abd_span_next_const(&only_read);
	}
	abd_test_check(at == off + size && n == called.count && only_read.len == 0,
		"%s: [%zu, +%zu) ended at %zu", b->kind, off, size, at);
}

TestSuite(abd_span, .init = begin, .fini = end);

Test(abd_span, spans_are_the_range_in_order)
{
	abd_test_each_range(check_range);
}

Test(abd_span, a_span_is_a_value_and_may_begin_anywhere)
{
	abd_tuning_set("max_order", "0");

	abd_t *abd = abd_alloc_gang();
	abd_span_t span, copy;

	cr_assert_eq(abd_gang_add(abd, abd_alloc_linear(1000, false), true), 0);
	cr_assert_eq(abd_gang_add(abd, abd_alloc_linear(2000, false), true), 0);
	abd_span_begin(&span, abd, 500, 1500);
	copy = span;
	abd_span_next(&span);
	cr_assert(span.off == 1000 && span.len == 1000);
	cr_assert(copy.off == 500 && copy.len == 500);
	abd_span_next(&copy);
	cr_assert(copy.off == span.off && copy.len == span.len && copy.buf == span.buf);
	/* Again from the middle of a span, and a longer range. */
	abd_span_begin(&copy, abd, span.off + 100, 1900);
	cr_assert(copy.buf == (char *)span.buf + 100 && copy.len == 1900);
	abd_span_next(&copy);
	cr_assert(copy.len == 0 && copy.buf == NULL && copy.off == 3000);
	abd_span_next(&copy);
	cr_assert(copy.len == 0 && copy.buf == NULL && copy.off == 3000);
	abd_free(abd);
}

Test(abd_span, zeros_are_spans_to_read)
{
	abd_t *zeros = abd_get_zeros(1 << 20);
	abd_span_const_t span;
	size_t size = 0;

	for (abd_span_begin_const(&span, zeros, 5, (1 << 20) - 5); span.len > 0;
		abd_span_next_const(&span))
		size += span.len;
	cr_assert_eq(size, (1 << 20) - 5);
	abd_free(zeros);
}

Test(abd_span, spans_outside_of_the_buffer_break_the_contract)
{
	abd_t *abd = abd_alloc(9000, false);
	abd_span_const_t only_read;
	abd_span_t span;

	abd_span_begin(&span, NULL, 0, 0);
	cr_assert_eq(span.len, 0);
	abd_test_expect_contract(abd_span_begin(&span, abd, 1, 9000), "reaches past");
	abd_test_expect_contract(abd_span_begin_const(&only_read, abd, 9001, 0), "reaches past");
	abd_free(abd);
}
