/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of flush kernels is complete, and the tunable "flush" sets all intents at once.
 */
#include "abd_flush_table.h"
#include "abd_test.h"

Test(abd_flush_table, kernels_around_the_cache_come_first_and_every_kernel_has_the_machines_fence)
{
	bool through = false;
	size_t i;

	for (i = 0; abd_flush_kernels[i] != NULL; i++) {
		const struct abd_flush_kernel *kernel = abd_flush_kernels[i];

		cr_assert((kernel->lines == NULL) == (kernel->flush != NULL), "%s", kernel->name);
		cr_assert(!through || kernel->lines == NULL, "%s", kernel->name);
		cr_assert(kernel->fence == abd_flush_fence, "%s", kernel->name);
		through |= kernel->lines == NULL;
	}
	cr_assert(i <= ABD_FLUSH_KERNELS_MAX);
	cr_assert_str_eq(abd_flush_kernels[i - 1]->name, "portable");
	cr_assert(abd_flush_kernels[i - 1]->supported());
}

/* Heads and tails of copies around the cache go by "flush_line", so it decides what they promise.
 */
Test(abd_flush_table, the_line_kernel_decides_what_copies_around_the_cache_promise)
{
	const struct abd_flush_kernel *first = abd_flush_kernels[0];

	cr_assert_not_null(abd_flush_line()->flush);
	cr_assert_eq(abd_tuning_set("flush_line", "portable"), 0);
	cr_assert_str_eq(abd_flush_line()->name, "portable");
	if (first->lines != NULL)
		cr_assert_eq(abd_flush_durability_of(first), ABD_FLUSH_DURABILITY_NONE);
	cr_assert_eq(abd_tuning_set("flush_line", "auto"), 0);
	if (first->lines != NULL) /* which copies lines, and writes none back */
		cr_assert_eq(abd_tuning_set("flush_line", first->name), -EINVAL);
}

Test(abd_flush_table, what_is_forced_for_all_gives_way_to_what_each_was_set_to)
{
	static const char *const names[] = {"flush_auto", "flush_shared", "flush_exclusive"};
	char was[3][ABD_PLAN_TEXT];

	cr_assert_eq(abd_tuning_set("flush", "auto"), 0); /* the environment may have forced one */
	for (size_t i = 0; i < 3; i++)
		snprintf(was[i], sizeof(was[i]), "%s", abd_test_tunable(names[i]));
	cr_assert_eq(abd_tuning_set("flush", "portable"), 0);
	cr_assert_str_eq(abd_test_tunable("flush"), "portable");
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_str_eq(abd_flush_choose("call", 100, i)->name, "portable");
		cr_assert_str_eq(abd_test_tunable(names[i]), was[i]);
	}
	cr_assert_eq(abd_tuning_set("flush_exclusive", "portable<=64,portable"), 0);
	cr_assert_eq(abd_tuning_set("flush", "auto"), 0);
	cr_assert_str_eq(abd_test_tunable("flush"), was[0]);
	cr_assert_str_eq(abd_test_tunable("flush_exclusive"), "portable");
	cr_assert_str_eq(abd_flush_choose("call", 100, ABD_FLUSH_EXCLUSIVE)->name, "portable");
	cr_assert_eq(abd_tuning_set("flush_exclusive", "auto"), 0);
}
