/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparing span by span with the vectors of abd_compare_avx2.h. */
#include "abd_compare_avx2.h"
#include "abd_compare_vector.h"

const struct abd_compare_kernel abd_compare_avx2 = {
	.name = "avx2",
	.supported = abd_cpu_runs_avx2,
	.order = vector_order,
	.equal = vector_equal,
	.diff = vector_diff,
	.zero = vector_zero,
	.key_equal = vector_key_equal,
};
