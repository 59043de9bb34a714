/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd_verify() finds each field that does not fit the others: each in turn is damaged, reported,
 * and repaired.
 */
#include "abd_gang.h"
#include "abd_test.h"

static void begin(void)
{
	abd_test_provider_begin();
}

static void end(void)
{
	cr_assert_eq(abd_test_runs_out_all(), 0);
	abd_test_provider_end();
}

/* With field set to value the buffer does not verify. */
#define damaged(abd, field, value, text)                         \
	do {                                                     \
		__typeof__(field) was_ = field;                  \
		field = value;                                   \
		abd_test_expect_contract(abd_verify(abd), text); \
		field = was_;                                    \
		abd_verify(abd);                                 \
	} while (0)

static void verify(struct abd_test_buffer *b)
{
	abd_verify(b->abd);
}

TestSuite(abd_verify, .init = begin, .fini = end);

Test(abd_verify, sound_buffers_of_every_kind_pass)
{
	abd_test_each_kind(verify);
}

Test(abd_verify, damaged_flags_are_found)
{
	abd_t *linear = abd_alloc_linear(100, false), *single = abd_alloc(4096, false);
	abd_t *multi = abd_alloc(5 << 12, false), *gang = abd_alloc_gang(),
	      *zeros = abd_get_zeros(9);

	damaged(linear, linear->abd_flags, (abd_flags_t)0xdbdbdbdb, "used after it was freed");
	damaged(linear, linear->abd_flags, linear->abd_flags | ABD_FLAG_FROM_PAGES, "flags");
	damaged(linear, linear->abd_flags, linear->abd_flags | (ABD_FLAG_FROM_PAGES << 1), "flags");
	damaged(linear, linear->abd_size, 0, "size 0");
	damaged(multi, multi->abd_size, 0, "size 0");
	damaged(gang, gang->abd_flags, gang->abd_flags | ABD_FLAG_LINEAR,
		"neither linear nor zeros");
	damaged(gang, gang->abd_zeros, 1, "neither linear nor zeros");
	damaged(single, single->abd_flags, single->abd_flags & ~(unsigned)ABD_FLAG_LINEAR,
		"single run is linear");
	damaged(single, single->abd_flags, single->abd_flags & ~(unsigned)ABD_FLAG_OWNER,
		"single run is linear and owned");
	damaged(zeros, zeros->abd_flags, zeros->abd_flags | ABD_FLAG_LINEAR, "zeros");
	damaged(zeros, zeros->abd_flags, zeros->abd_flags | ABD_FLAG_OWNER, "zeros");
	damaged(multi, multi->abd_flags, multi->abd_flags & ~(unsigned)ABD_FLAG_MULTI_CHUNK,
		"runs");
	damaged(single, single->abd_flags, single->abd_flags | ABD_FLAG_MULTI_CHUNK, "runs");
	abd_free(zeros);
	abd_free(gang);
	abd_free(multi);
	abd_free(single);
	abd_free(linear);
}

Test(abd_verify, damaged_run_tables_are_found)
{
	abd_t *linear = abd_alloc_linear(100, false), *multi = abd_alloc((7 << 12) - 5, false);
	abd_t *view;
	struct iovec *runs = ABD_SCATTER(multi).abd_runs;

	damaged(linear, ABD_BUF(linear), NULL, "without memory");
	damaged(multi, ABD_SCATTER(multi).abd_runs, NULL, "without runs");
	damaged(multi, ABD_SCATTER(multi).abd_run_count, 0, "without runs");
	damaged(multi, ABD_SCATTER(multi).abd_run_count, 2, "runs hold");
	damaged(multi, runs[1].iov_base, NULL, "run 1 is empty");
	damaged(multi, runs[2].iov_len, 0, "run 2 is empty");
	damaged(multi, runs[0].iov_len, 12288, "which is not 4 KiB << n");
	damaged(multi, runs[1].iov_len, 32768, "a higher one than the run before it");
	damaged(multi, runs[2].iov_len, 1, "runs hold");
	damaged(multi, multi->abd_order, 1, "order");
	damaged(multi, multi->abd_order, 3, "order");
	damaged(multi, multi->abd_class_count, 2, "classes");
	damaged(multi, multi->abd_class_count, 1, "classes");
	damaged(multi, multi->abd_size, (7 << 12) + 1, "runs hold");
	damaged(multi, multi->abd_provider, 200, "provider");
	view = abd_get_offset_size(multi, (4 << 12) - 50, 100); /* in two runs */
	damaged(view, ABD_SCATTER(view).abd_offset, 7 << 12, "runs hold");
	damaged(view, ABD_SCATTER(view).abd_offset, SIZE_MAX, "runs hold");
	damaged(view, view->abd_size, 7 << 12, "runs hold");
	damaged(view, view->abd_flags, view->abd_flags | ABD_FLAG_OWNER, "a view owns nothing");
	abd_free(view);
	abd_free(multi);
	abd_free(linear);
}

/* Behind the run table of a buffer whose runs have several orders. */
struct run_class {
	size_t start;
	uint32_t first_run, order;
};

Test(abd_verify, damaged_classes_are_found)
{
	abd_t *multi = abd_alloc(7 << 12, false);
	struct run_class *class = (struct run_class *)(void *)&ABD_SCATTER(multi).abd_runs[3];

	for (size_t i = 0; i < 3; i++) {
		damaged(multi, class[i].start, class[i].start + 1, "class");
		damaged(multi, class[i].start, class[i].start - 1, "class");
		damaged(multi, class[i].first_run, class[i].first_run + 1, "class");
		damaged(multi, class[i].order, class[i].order + 1, "class");
	}
	abd_free(multi);
}

Test(abd_verify, damaged_gangs_are_found)
{
	abd_t *gang = abd_alloc_gang(), *child = abd_alloc_linear(100, false), *view;
	struct abd_gang_entry *entries;

	cr_assert_eq(abd_gang_add(gang, abd_alloc_linear(50, false), true), 0);
	cr_assert_eq(abd_gang_add(gang, child, false), 0);
	view = abd_get_offset_size(gang, 10, 100);
	entries = ABD_GANG(gang).abd_table->entries;
	damaged(gang, gang->abd_size, 151, "children hold");
	damaged(gang, ABD_GANG(gang).abd_table, NULL, "children hold");
	damaged(gang, ABD_GANG(gang).abd_table->count, 1, "children hold");
	damaged(gang, entries[1].start, 51, "child 1 starts at 51, not at 50");
	damaged(gang, entries[0].size, 0, "child 0");
	damaged(gang, entries[0].size, 49, "child 1 starts at 50, not at 49");
	damaged(gang, entries[1].child_off, 1, "reaches past the end");
	damaged(gang, entries[1].child_off, SIZE_MAX, "reaches past the end");
	damaged(gang, entries[1].child, gang, "child 1 is a gang");
	damaged(gang, child->abd_gang_refs, 0, "does not know of its gang");
	damaged(gang, ABD_BUF(child), NULL, "without memory");
	damaged(view, ABD_GANG(view).abd_offset, 51, "children hold");
	damaged(view, ABD_GANG(view).abd_offset, 151, "children hold");
	damaged(view, view->abd_size, 141, "children hold");
	abd_free(view);
	abd_free(gang);
	abd_free(child);
}
