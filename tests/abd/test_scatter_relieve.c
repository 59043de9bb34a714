/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When the provider has no page left, the library gives back what this thread keeps in reserve, and
 * asks for the page again.
 */
#include "abd_base.h"
#include "abd_test_fixture.h"

Test(abd_relieve, a_page_is_refused_only_when_the_thread_keeps_none_back, .init = begin,
	.fini = end)
{
	abd_t *abd;

	if (ABD_CHECKED) /* nothing is kept but what was freed last, in quarantine */
		return;
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	abd_free(abd_alloc(8 << 12, false));

	abd_test_refuse_script("x");
	abd = abd_alloc(4096, false);
	cr_assert_not_null(abd, "a page, once the run had gone back");
	cr_assert_eq(abd_test_runs_out(3), 0);
	abd_free(abd);

	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "0"), 0);
	abd_test_refuse_script("x");
	cr_assert_null(abd_alloc(4096, false), "there was nothing to give back");
	abd_test_refuse_nothing();
}

Test(abd_relieve, so_is_the_last_page_of_several, .init = begin, .fini = end)
{
	abd_t *abd;

	if (ABD_CHECKED)
		return;
	cr_assert_eq(abd_tuning_set("thread_cache_bytes", "8388608"), 0);
	abd_tuning_set("max_order", "1");
	abd_free(abd_alloc(2 << 12, false));
	abd_tuning_set("max_order", "0");
	abd_test_refuse_script(".x");
	abd = abd_alloc(3 << 12, false);
	cr_assert_not_null(abd);
	cr_assert_eq(abd_test_runs_out(1), 0);
	abd_free(abd);
	abd_test_refuse_nothing();
	abd_cache_reap_now();
}
