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
	K(scalar)                                            \
	ABD_ON_X86(K(avx512_near) K(avx512_pair) K(avx512_four) K(avx2_pair) K(avx2_four))

#define ABD_COMPARE_DECLARE(name) extern const struct abd_compare_kernel abd_compare_##name;
#define ABD_COMPARE_ENTRY(name) &abd_compare_##name,

ABD_COMPARE_KERNELS(ABD_COMPARE_DECLARE)

const struct abd_compare_kernel *const abd_compare_kernels[] = {
	ABD_COMPARE_KERNELS(ABD_COMPARE_ENTRY) NULL};

/*
 * From which size on several runs are walked together.
 *
 * zen4: 2 cores of a virtual machine, 1 MiB of L2, 32 MiB of L3; 4 KiB runs at random addresses. Up
 * to 4 MiB one run at a time is fastest, at 8 MiB all are level, from 16 MiB four are 1.5 times as
 * fast as one, and two 1.35 times.
 * zen5: 2 cores of a virtual machine, 48 KiB of L1, 1 MiB of L2, 32 MiB of L3. Four are 1.4 times
 * as fast as one from where both sides outgrow L1 to where they outgrow L2; above, one with the
 * heads of the next is fastest.
 * emeraldrapids: 2 cores of a virtual machine, 48 KiB of L1, 2 MiB of L2, 300 MiB of L3. Without
 * hints a run in L2 takes 0.95 of the time, as L1 serves two loads a cycle and each hint is one;
 * over hot and cold memory that is 1 to 2 % to 64 KiB, level to 512 KiB. At 1 MiB, where both sides
 * together fill L2, four at once take 0.95 to 0.97 of the time. Pairs are level with one run at a
 * time from 16 MiB up.
 * AVX2 was measured on Zen 4 only, where two are faster than four.
 */
#define ABD_COMPARE_PLAN_INTEL "avx512<=16777215,avx512-pair"
#define ABD_COMPARE_PLAN_EMERALD \
	"avx512-near<=262144,avx512<=786432,avx512-four<=1572864,avx512<=16777215,avx512-pair"

static const struct abd_plan_built_in abd_compare_families[] = {
	ABD_PLAN_DERIVED("zen3", "avx2<=8388608,avx2-pair"),
	ABD_PLAN_MEASURED("zen4", "avx512<=8388608,avx512-four"),
	ABD_PLAN_MEASURED("zen5", "avx512-near<=24576,avx512-four<=196608,avx512"),
	ABD_PLAN_DERIVED("icelake", ABD_COMPARE_PLAN_INTEL),
	ABD_PLAN_DERIVED("sapphirerapids", ABD_COMPARE_PLAN_EMERALD),
	ABD_PLAN_MEASURED("emeraldrapids", ABD_COMPARE_PLAN_EMERALD),
	ABD_PLAN_DERIVED("graniterapids", ABD_COMPARE_PLAN_INTEL),
	ABD_PLAN_DERIVED("skylake", "avx2<=l3/4,avx2-pair"),
	ABD_PLAN_DERIVED("neoverse-n1", "neon"),
	ABD_PLAN_DERIVED("neoverse-v1", "neon"),
	ABD_PLAN_DERIVED("neoverse-v2", "neon"),
	{NULL, NULL, NULL},
};

/* From where both sides together are half of the last cache, as on Zen 4. */
static const char *const abd_compare_plans[] = {
	"avx512<=l3/4,avx512-pair",
	"avx2<=l3/4,avx2-pair",
	NULL,
};

struct abd_choice abd_compare_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "compare",
	.kernels = abd_compare_kernels,
	.families = abd_compare_families,
	.plans = abd_compare_plans,
};

bool abd_key_equal_long(const void *a, const void *b, size_t size)
{
	return abd_compare_for(size)->key_equal(a, b, size);
}

#if defined(__x86_64__) && !defined(__ILP32__)
/* It is asked for once: a key takes 2 ns, and to look at the rows of a plan takes as long. */
static bool abd_key_equal_first(const void *a, const void *b, size_t size)
{
	abd_key_equal_fn *kernel = abd_compare_for(ABD_KEY_INLINE_SIZE)->key_equal;

	__atomic_store_n(&abd_key_equal_any, kernel, __ATOMIC_RELAXED);
	return kernel(a, b, size);
}

abd_key_equal_fn *abd_key_equal_any = abd_key_equal_first;
#endif
