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

const struct abd_compare_kernel *const abd_compare_kernels[] = {
#if ABD_ON_X86
	&abd_compare_avx512,
	&abd_compare_avx2,
	&abd_compare_sse2,
#endif
#if ABD_ON_ARM64
	&abd_compare_neon,
#endif
	&abd_compare_libc,
	&abd_compare_word,
	&abd_compare_scalar,
#if ABD_ON_X86
	&abd_compare_avx512_near,
	&abd_compare_avx512_pair,
	&abd_compare_avx512_four,
	&abd_compare_avx2_pair,
	&abd_compare_avx2_four,
#endif
	NULL,
};

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
 * Fallback: several runs together from where both sides together are half of the last cache, as on
 * Zen 4. AVX2 was measured on Zen 4 only, where two are faster than four.
 */
static const struct abd_plan_built_in abd_compare_built_in[] = {
#if ABD_ON_X86
	{"zen4", {{8388608, &abd_compare_avx512.kernel},
			 {SIZE_MAX, &abd_compare_avx512_four.kernel}}},
	{"zen5", {{24576, &abd_compare_avx512_near.kernel},
			 {196608, &abd_compare_avx512_four.kernel},
			 {SIZE_MAX, &abd_compare_avx512.kernel}}},
	{"emeraldrapids",
		{{262144, &abd_compare_avx512_near.kernel}, {786432, &abd_compare_avx512.kernel},
			{1572864, &abd_compare_avx512_four.kernel},
			{16777215, &abd_compare_avx512.kernel},
			{SIZE_MAX, &abd_compare_avx512_pair.kernel}}},
	{NULL, {{ABD_L3_PART(4), &abd_compare_avx512.kernel},
		       {SIZE_MAX, &abd_compare_avx512_pair.kernel}}},
	{NULL, {{ABD_L3_PART(4), &abd_compare_avx2.kernel},
		       {SIZE_MAX, &abd_compare_avx2_pair.kernel}}},
#endif
	{NULL, {{0, NULL}}},
};

struct abd_choice abd_compare_choice =
	ABD_CHOICE("compare", abd_compare_kernels, .built_in = abd_compare_built_in);

bool abd_key_equal_long(const void *a, const void *b, size_t size)
{
	return abd_compare_for(size)->key_equal(a, b, size);
}

#if defined(__x86_64__) && !defined(__ILP32__)
/* Keys look at the plan only once, because that takes 2 ns, as long as comparing a key. */
static bool abd_key_equal_first(const void *a, const void *b, size_t size)
{
	abd_key_equal_fn *kernel = abd_compare_for(ABD_KEY_INLINE_SIZE)->key_equal;

	__atomic_store_n(&abd_key_equal_any, kernel, __ATOMIC_RELAXED);
	return kernel(a, b, size);
}

abd_key_equal_fn *abd_key_equal_any = abd_key_equal_first;
#endif
