/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copying and zeroing over every kind, every pair of kinds, at every boundary, against
 * flat bytes.
 */
#include "abd_copy_span.h"
#include "abd_test_fixture.h"
#include "abd_walk.h"

static void check_memory(const struct abd_test_buffer *b, const char *what, size_t off, size_t size)
{
	size_t at = abd_test_differs(b);

	abd_test_check(at == b->size, "%s [%zu, +%zu) of %s: byte %zu is wrong", what, off, size,
		b->kind, at);
}

/* One buffer, one range: all that moves bytes between it and flat memory. */
static void flat_range(struct abd_test_buffer *b, size_t off, size_t size)
{
	static uint8_t flat[ABD_TEST_KIND_SIZE + 2];
	uint64_t seed = off * 31 + size;

	memset(flat, 0x5a, b->size + 2);
	abd_copy_to_buf_off(flat + 1, b->abd, off, size);
	abd_test_check(memcmp(flat + 1, b->model + off, size) == 0,
		"copy_to_buf_off [%zu, +%zu) of %s", off, size, b->kind);
	abd_test_check(flat[0] == 0x5a && flat[size + 1] == 0x5a,
		"copy_to_buf_off wrote outside: %s", b->kind);
	if (!b->writes)
		return;
	abd_test_random_fill(&seed, flat, size);
	abd_copy_from_buf_off(b->abd, flat, off, size);
	memcpy(b->model + off, flat, size);
	check_memory(b, "copy_from_buf_off", off, size);
	abd_zero_off(b->abd, off, size);
	memset(b->model + off, 0, size);
	check_memory(b, "zero_off", off, size);
	abd_test_check(size == 0 || abd_cmp_zero_off(b->abd, off, size) == 0, "cmp_zero_off");
}

TestSuite(abd_operate, .init = begin, .fini = end);

Test(abd_operate, every_kind_and_range_holds_what_flat_bytes_hold)
{
	abd_test_each_range(flat_range);
}

/* Copy at every pair of offsets: one byte, to the nearer end, and to just before it. */
static void copy_pair(struct abd_test_buffer *d, struct abd_test_buffer *s)
{
	size_t d_off[ABD_TEST_OFFSETS], s_off[ABD_TEST_OFFSETS];
	size_t d_count = abd_test_offsets(d, d_off), s_count = abd_test_offsets(s, s_off);

	if (!d->writes)
		return;
	for (size_t i = 0; i < d_count * s_count; i++) {
		size_t to = d_off[i / s_count], from = s_off[i % s_count];
		size_t room = d->size - (to > from ? to : from);
		size_t sizes[] = {room < 1 ? room : 1, room / 2, room};

		for (size_t k = 0; k < 3; k++) {
			if ((i + k) % 2 == 0)
				abd_copy_off(d->abd, s->abd, to, from, sizes[k]);
			else
				abd_copy_stream_off(d->abd, s->abd, to, from, sizes[k]);
			memcpy(d->model + to, s->model + from, sizes[k]);
			check_memory(d, s->kind, to, sizes[k]);
		}
		if (i % 16 == 0)
			abd_test_fill(s, i);
	}
	check_memory(s, "as a source", 0, 0);
}

Test(abd_operate, every_pair_of_kinds_copies_at_every_boundary)
{
	abd_test_each_pair(copy_pair);
}

static size_t streamed;

static void stream_span(
	void *dst, const void *src, size_t size, void *next_dst, const void *next_src)
{
	memcpy(dst, src, size);
	streamed += size;
}

static bool always(void)
{
	return true;
}

Test(abd_operate, a_streamed_copy_takes_the_kernel_of_the_largest_sizes)
{
	static const struct abd_copy_kernel stream = {
		.name = "stream", .supported = always, .span = stream_span};
	const struct abd_plan plan = {
		"test", 2, {{(size_t)1 << 30, &abd_copy_libc.kernel}, {SIZE_MAX, &stream.kernel}}};
	abd_t *from = abd_alloc(100000, false), *to = abd_alloc_linear(100000, false);
	struct abd_plan own;

	abd_choice_plan_get(&abd_copy_choice, false, &own);
	abd_choice_plan_set(&abd_copy_choice, &plan, false);
	abd_zero(from, 100000);
	abd_copy(to, from, 100000);
	cr_assert_eq(streamed, 0);
	abd_copy_stream_off(to, from, 1, 2, 99000);
	cr_assert_eq(streamed, 99000);
	abd_copy_stream_off(to, to, 1000, 2, ABD_SMALL);
	if (!ABD_CHECKED)
		cr_assert_eq(streamed, 99000, "what is small does not come to the walk");
	abd_choice_plan_set(&abd_copy_choice, &own, false);
	abd_free(to);
	abd_free(from);
}

Test(abd_operate, calls_without_an_offset_start_at_zero)
{
	struct abd_test_buffer d, s;
	uint8_t flat[100];

	abd_test_build(&d, 5, 1);
	abd_test_build(&s, 7, 2);
	abd_copy(d.abd, s.abd, 5000);
	memcpy(d.model, s.model, 5000);
	check_memory(&d, "copy", 0, 5000);
	abd_copy_to_buf(flat, d.abd, sizeof(flat));
	cr_assert_arr_eq(flat, d.model, sizeof(flat));
	memset(flat, 7, sizeof(flat));
	abd_copy_from_buf(d.abd, flat, sizeof(flat));
	cr_assert_eq(abd_cmp_buf(d.abd, flat, sizeof(flat)), 0);
	abd_zero(d.abd, 4097);
	cr_assert_eq(abd_cmp_zero(d.abd, 4097), 0);
	abd_test_drop(&s);
	abd_test_drop(&d);
}

static void copy_onto_itself(struct abd_test_buffer *b)
{
	if (b->writes)
		abd_copy_off(b->abd, b->abd, 1, 1, b->size - 2);
	check_memory(b, "copy onto itself", 1, b->size - 2);
}

Test(abd_operate, a_buffer_is_copied_onto_itself_unchanged)
{
	abd_test_each_kind(copy_onto_itself);
}

/* ---- iterating ---- */

static int never(void *buf, size_t len, void *priv)
{
	cr_assert(false, "called for nothing");
	return 1;
}

static int never2(void *bufa, void *bufb, size_t len, void *priv)
{
	return never(bufb, len, priv);
}

/* OpenZFS's engines pass a raidz column that has neither bytes nor a buffer. */
Test(abd_operate, nothing_of_no_buffer_is_nothing)
{
	abd_t *volatile none = NULL;
	abd_t *abd = abd_alloc(100, false);

	cr_assert_eq(abd_iterate_func(none, 0, 0, never, NULL), 0);
	cr_assert_eq(abd_iterate_func2(none, abd, 0, 0, 0, never2, NULL), 0);
	cr_assert_eq(abd_iterate_func2(abd, none, 0, 0, 0, never2, NULL), 0);
	abd_copy_off(none, none, 0, 0, 0);
	abd_copy_off(none, abd, 0, 0, 0);
	abd_copy(abd, none, 0);
	abd_copy_from_buf(none, NULL, 0);
	abd_copy_to_buf(NULL, none, 0);
	abd_zero(none, 0);
	cr_assert_eq(abd_cmp_buf(none, NULL, 0), 0);
	cr_assert_eq(abd_cmp_zero(none, 0), 0);
	abd_test_expect_contract(abd_iterate_func(none, 0, 1, never, NULL), "is NULL");
	abd_test_expect_contract(abd_zero(none, 1), "is NULL");
	abd_test_expect_contract(abd_zero_off(abd, 101, 0), "reaches past");
	abd_free(abd);
}
