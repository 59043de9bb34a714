/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Says which kernels are in use, in one line, for the gate that runs the tests under each level of
 * CPU: a level that silently changed nothing would test nothing. Those without a tunable are told
 * by their tables.
 */
#include "abd_compare.h"
#include "abd_copy_span.h"
#include "abd_crc32c.h"
#include "abd_fletcher.h"

#include <abd/abd.h>

#include <stdio.h>

int main(void)
{
	const struct abd_compare_kernel *const *compare = abd_compare_kernels;
	const struct abd_copy_kernel *const *copy = abd_copy_kernels;

	while (!(*compare)->supported())
		compare++;
	while (!(*copy)->supported())
		copy++;
	printf("compare %s (%s), ", (*compare)->name, abd_tuning_get("compare"));
	printf("lz4 %s, ", abd_tuning_get("lz4"));
	printf("flush %s, flush_auto %s, ", abd_tuning_get("flush"), abd_tuning_get("flush_auto"));
	printf("copy %s, fletcher %s, crc32c %s\n", (*copy)->name, abd_fletcher_get(NULL)->name,
		abd_crc32c_best()->name);
	return 0;
}
