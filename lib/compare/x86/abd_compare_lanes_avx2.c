/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparing two or four runs of each side together, with the vectors of an instruction set. */
#ifdef ABD_FOR_AVX512
#include "abd_compare_avx512.h"
#define SUPPORTED abd_cpu_runs_avx512
#define NAME "avx512"
#else
#include "abd_compare_avx2.h"
#define SUPPORTED abd_cpu_runs_avx2
#define NAME "avx2"
#endif

#define VEC_ALONE 1
#include "abd_compare_vector.h"

#include "abd_compare_lanes.h"

#define LANES_KERNEL(variable, count, number)        \
	const struct abd_compare_kernel variable = { \
		.name = NAME "-" #number,            \
		.supported = SUPPORTED,              \
		.order = vector_order,               \
		.equal = vector_equal,               \
		.diff = vector_diff,                 \
		.zero = vector_zero,                 \
		.key_equal = vector_key_equal,       \
		.lane_count = (count),               \
		.lanes = lanes_##number,             \
		.zero_lanes = lanes_zero_##number,   \
	}

#ifdef ABD_FOR_AVX512
LANES_KERNEL(abd_compare_avx512_pair, 2, pair);
LANES_KERNEL(abd_compare_avx512_four, 4, four);
#else
LANES_KERNEL(abd_compare_avx2_pair, 2, pair);
LANES_KERNEL(abd_compare_avx2_four, 4, four);
#endif
