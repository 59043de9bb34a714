/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CPU without any of the instruction sets: only kernels that every machine can run are left.
 */
#include "abd_compare_kernel.h"
#include "abd_test.h"

Test(abd_compare_names, a_cpu_without_vectors_is_offered_none)
{
	abd_test_cpu_hide(~0u);
	for (size_t i = 0; abd_compare_kernels[i] != NULL; i++) {
		const char *name = abd_compare_kernels[i]->name;
		bool everywhere = strcmp(name, "libc") == 0 || strcmp(name, "word") == 0 ||
				  strcmp(name, "scalar") == 0;

		cr_assert_eq(
			abd_choice_find(&abd_compare_choice, name) != NULL, everywhere, "%s", name);
	}
	abd_test_cpu_hide(0);
}
