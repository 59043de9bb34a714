/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a view is made of, and what it costs.
 */
#include "abd_impl.h"
#include "abd_test.h"

#include <criterion/criterion.h>

#include "abd_test_fixture.h"

Test(abd_view, views_carry_no_mark_of_ownership, .init = begin, .fini = end)
{
	abd_t *abd = abd_alloc(5 << 12, true), *view = abd_get_offset(abd, 1);

	cr_assert_eq(view->abd_flags & (ABD_FLAG_OWNER | ABD_FLAG_META | ABD_FLAG_MULTI_CHUNK), 0);
	cr_assert_eq(view->abd_parent, abd);
	abd_free(view);
	abd_free(abd);
}

Test(abd_view, views_cost_the_same_for_two_chunks_and_for_many, .init = begin, .fini = end)
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
