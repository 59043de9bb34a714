/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * NEON: 16 bytes a vector, on every aarch64 there is. Not measured: tests check its results under
 * an emulator; its speed is not known.
 */
#include "abd_compare_kernel.h"
#include "abd_compare_part.h"

#include <arm_neon.h>

typedef uint8x16_t vec;
#define VEC_SIZE 16
#define BLOCK_VECTORS 4

static inline vec vec_load(const uint8_t *p)
{
	return vld1q_u8(p);
}

static inline vec vec_or(vec x, vec y)
{
	return vorrq_u8(x, y);
}

static inline vec vec_differ(const uint8_t *a, const uint8_t *b)
{
	return veorq_u8(vec_load(a), vec_load(b));
}

static inline vec vec_join(vec seen, const uint8_t *a, const uint8_t *b)
{
	return vorrq_u8(seen, vec_differ(a, b));
}

static inline bool vec_is_zero(vec x)
{
	return vmaxvq_u32(vreinterpretq_u32_u8(x)) == 0;
}

/*
 * Narrowing by four bits leaves one nibble per byte: NEON's nearest substitute for x86's movemask.
 * Lane 0 is the lowest in memory in either byte order.
 */
static inline size_t vec_first(const uint8_t *a, const uint8_t *b)
{
	uint8x16_t same = vceqq_u8(vec_load(a), vec_load(b));
	uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(same), 4);
	uint64_t unequal = ~vget_lane_u64(vreinterpret_u64_u8(nibbles), 0);

	return unequal != 0 ? (size_t)__builtin_ctzll(unequal) / 4 : VEC_SIZE;
}

#include "abd_compare_vector.h"

const struct abd_compare_kernel abd_compare_neon = {
	.name = "neon",
	.supported = abd_cpu_runs_neon,
	.order = vector_order,
	.equal = vector_equal,
	.diff = vector_diff,
	.zero = vector_zero,
	.key_equal = vector_key_equal,
};
