/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The comparison kernels of this build.
 *
 * The best comes first. The figures are the speed of equal() on equal data, relative to the C
 * library's memcmp for the same instruction set: 4 KiB in L1, then 128 KiB of scattered 4 KiB
 * pages. avx512 1.5 and 1.06, avx2 1.0 and 0.85, sse2 0.87 and 0.96; libc 0.93 and 0.95 (it pays
 * for a call per page and for the hints), word 0.24 and 0.28, scalar 0.03 and 0.05.
 */
#include "abd_compare_kernel.h"

#include <abd/key.h>

#define ABD_COMPARE_KERNELS(K)                               \
	ABD_ON_X86(K(avx512) K(avx2) K(sse2_memcmp) K(sse2)) \
	ABD_ON_ARM64(K(neon))                                \
	K(libc)                                              \
	K(word)                                              \
	K(scalar)

#define ABD_COMPARE_DECLARE(name) extern const struct abd_compare_kernel abd_compare_##name;
#define ABD_COMPARE_ENTRY(name) &abd_compare_##name,

ABD_COMPARE_KERNELS(ABD_COMPARE_DECLARE)

const struct abd_compare_kernel *const abd_compare_kernels[] = {
	ABD_COMPARE_KERNELS(ABD_COMPARE_ENTRY) NULL};

static const struct abd_plan_built_in abd_compare_families[] = {
	ABD_PLAN_DERIVED("zen3", "avx2"),
	ABD_PLAN_MEASURED("zen4", "avx512"),
	ABD_PLAN_MEASURED("zen5", "avx512"),
	ABD_PLAN_DERIVED("icelake", "avx512"),
	ABD_PLAN_DERIVED("sapphirerapids", "avx512"),
	ABD_PLAN_DERIVED("emeraldrapids", "avx512"),
	ABD_PLAN_DERIVED("graniterapids", "avx512"),
	ABD_PLAN_DERIVED("skylake", "avx2"),
	ABD_PLAN_DERIVED("neoverse-n1", "neon"),
	ABD_PLAN_DERIVED("neoverse-v1", "neon"),
	ABD_PLAN_DERIVED("neoverse-v2", "neon"),
	{NULL, NULL, NULL},
};

struct abd_choice abd_compare_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "compare",
	.kernels = abd_compare_kernels,
	.families = abd_compare_families,
};

bool abd_key_equal_long(const void *a, const void *b, size_t size)
{
	return abd_compare_for(size)->key_equal(a, b, size);
}
