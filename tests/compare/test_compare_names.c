/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels by name on a CPU without any of the instruction sets: only kernels that every machine
 * can run are left.
 */
#include "abd_compare_kernel.h"
#include "abd_test.h"

Test(abd_compare_names, a_cpu_without_vectors_is_offered_none)
{
	char names[256];

	abd_test_cpu_hide(~0u);
	abd_choice_names(&abd_compare_choice, names, sizeof(names));
	abd_test_cpu_hide(0);
	cr_assert_str_eq(names, "auto libc word scalar");
}
