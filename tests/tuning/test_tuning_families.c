/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plans of all families of CPUs, on whatever CPU this is. That a kernel is right at every size
 * is for the tests of kernels.
 */
#include "abd_compare_kernel.h"
#include "abd_copy_span.h"
#include "abd_fletcher.h"
#include "abd_flush_table.h"
#include "abd_machine.h"
#include "abd_test.h"
#include "abd_zero_span.h"

/* A misspelt family would never be noticed: the plan would give way to the next. */
Test(abd_tuning_families, every_built_in_plan_grows_and_is_of_a_family_that_exists)
{
	static const struct abd_cpu_identity known[] = {
		{"AuthenticAMD", 25, 17}, {"AuthenticAMD", 26, 2}, {"GenuineIntel", 6, 207}};
	struct abd_choice *const choices[] = {&abd_compare_choice, &abd_copy_choice,
		&abd_zero_choice, &abd_flush_choices[ABD_FLUSH_AUTO],
		&abd_flush_choices[ABD_FLUSH_EXCLUSIVE], &abd_fletcher_choice};

	for (size_t c = 0; c < sizeof(choices) / sizeof(choices[0]); c++) {
		const struct abd_plan_built_in *plan = choices[c]->built_in;

		for (; plan->rows[0].kernel != NULL; plan++) {
			const struct abd_plan_row *row = plan->rows;
			size_t i = 0;

			while (plan->family != NULL && i < 3 &&
				strcmp(plan->family, abd_machine_family(&known[i])) != 0)
				i++;
			cr_assert_lt(i, 3, "%s: no family %s", choices[c]->name, plan->family);
			for (; row->last != SIZE_MAX; row++)
				cr_assert(row[1].kernel != NULL && row->last < row[1].last, "%s",
					choices[c]->name);
		}
	}
}
