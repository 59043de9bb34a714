/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparing two or four runs of each side together, with the vectors of abd_compare_avx2.h. */
#include "abd_compare_avx2.h"

#define VEC_ALONE 1
#include "abd_compare_vector.h"

#include "abd_compare_lanes.h"

const struct abd_compare_kernel abd_compare_avx2_pair = {
	.name = "avx2-pair",
	.supported = avx2_supported,
	.order = vector_order,
	.equal = vector_equal,
	.diff = vector_diff,
	.zero = vector_zero,
	.key_equal = vector_key_equal,
	.lane_count = 2,
	.lanes = lanes_pair,
	.zero_lanes = lanes_zero_pair,
};

const struct abd_compare_kernel abd_compare_avx2_four = {
	.name = "avx2-four",
	.supported = avx2_supported,
	.order = vector_order,
	.equal = vector_equal,
	.diff = vector_diff,
	.zero = vector_zero,
	.key_equal = vector_key_equal,
	.lane_count = 4,
	.lanes = lanes_four,
	.zero_lanes = lanes_zero_four,
};
