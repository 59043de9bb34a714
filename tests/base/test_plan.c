/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans without a choice: rows, and the form of texts. test_kernel.c has texts with real kernels.
 */
#include "abd_plan.h"

#include "abd_test.h"

static const struct abd_kernel one = {.name = "one"}, two = {.name = "two"};

static const struct abd_kernel *named(const void *arg, const char *name, size_t length)
{
	return length == 3 && memcmp(name, "one", 3) == 0   ? &one
	       : length == 3 && memcmp(name, "two", 3) == 0 ? &two
							    : NULL;
}

Test(abd_plan, a_text_has_the_form_of_a_plan_or_not)
{
	cr_assert(abd_plan_is_text("none-such<=64,fast-2"));
	cr_assert(!abd_plan_is_text("None<=64,fast") && !abd_plan_is_text("<=64,fast"));
	cr_assert(!abd_plan_is_text("fast<=64,plain<=64,fast") && !abd_plan_is_text(""));
}

Test(abd_plan, rows_serve_up_to_their_last_size_and_print_as_they_are_read)
{
	struct abd_plan plan = {.count = 0};
	char text[ABD_PLAN_SHOWN], little[8];

	cr_assert_eq(abd_plan_read("one<=64,two<=4096,one (x)", named, NULL, &plan), 0);
	cr_assert_eq(abd_plan_at(&plan, 64), &one);
	cr_assert_eq(abd_plan_at(&plan, 65), &two);
	cr_assert_eq(abd_plan_at(&plan, 4096), &two);
	cr_assert_eq(abd_plan_at(&plan, SIZE_MAX), &one);
	plan.origin = "read";
	abd_plan_print(&plan, text, sizeof(text));
	cr_assert_str_eq(text, "one<=64,two<=4096,one (read)");
	abd_plan_print(&plan, little, sizeof(little));
	cr_assert_str_eq(little, "one<=64");
}

Test(abd_plan, a_plan_with_an_unknown_kernel_leaves_what_was_there)
{
	struct abd_plan plan = {.count = 0};

	abd_plan_add(&plan, 10, &one);
	abd_plan_add(&plan, SIZE_MAX, &one); /* the same kernel: the row grows */
	cr_assert_eq(plan.count, 1);
	cr_assert_lt(abd_plan_read("one<=64,three", named, NULL, &plan), 0);
	cr_assert_eq(plan.count, 1);
	cr_assert_eq(abd_plan_at(&plan, 100), &one);
}
