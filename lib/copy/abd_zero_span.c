/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The zeroing kernels of this build, and the plans that are built in.
 */
#include "abd_zero_span.h"

#define ABD_ZERO_KERNELS(K) K(libc) ABD_ON_X86(K(avx512) K(avx512_four) K(nt_pair_avx512))

#define ABD_ZERO_DECLARE(name) extern const struct abd_zero_kernel abd_zero_##name;
#define ABD_ZERO_ENTRY(name) &abd_zero_##name,

ABD_ZERO_KERNELS(ABD_ZERO_DECLARE)

const struct abd_zero_kernel *const abd_zero_kernels[] = {ABD_ZERO_KERNELS(ABD_ZERO_ENTRY) NULL};

/*
 * zen5: 2 cores of a virtual machine, 48 KiB of L1, 1 MiB of L2, 32 MiB of L3; 4 KiB runs at random
 * addresses. The C library's memset(), run by run, has 0.57 of the best loop's speed in L1, 0.8 to
 * 0.95 to 8 MiB, 0.6 at 16 MiB and 0.27 at 64 MiB: it sees only one run, and never streams. (Over
 * hot and cold memory alike memset() is 1.06 to 1.09 times as fast up to 64 KiB: it does not read
 * what it overwrites.)
 * emeraldrapids: 2 cores of a virtual machine, 48 KiB of L1, 2 MiB of L2, 300 MiB of L3. In four
 * tunes vectors were 1.17 to 1.20 times as fast as memset() at 4 KiB, 1.08 to 1.09 times at 8 KiB,
 * level at 16, and 0.91 to 0.95 from 64 KiB to 4 MiB. In a fifth, on a quiet machine, they were
 * 1.05 to 1.08 times as fast at 16 KiB too; hot, they have 0.90 of the best loop there, memset()
 * 0.73.
 * Elsewhere zeroing was not measured. Where copies stream from some size on, zeroing does too.
 */
#define ABD_ZERO_PLAN_INTEL "libc<=33554431,nt-pair-avx512"
#define ABD_ZERO_PLAN_EMERALD "libc<=2048,avx512<=24576,libc<=33554431,nt-pair-avx512"

static const struct abd_plan_built_in abd_zero_families[] = {
	ABD_PLAN_DERIVED("zen3", "libc"),
	ABD_PLAN_MEASURED("zen4",
		"libc<=2048,avx512<=12288,avx512-four<=6291456,libc<=8388608,nt-pair-avx512"),
	ABD_PLAN_MEASURED("zen5", "avx512<=49152,avx512-four<=10485760,nt-pair-avx512"),
	ABD_PLAN_DERIVED("icelake", ABD_ZERO_PLAN_INTEL),
	ABD_PLAN_DERIVED("sapphirerapids", ABD_ZERO_PLAN_EMERALD),
	ABD_PLAN_MEASURED("emeraldrapids", ABD_ZERO_PLAN_EMERALD),
	ABD_PLAN_DERIVED("graniterapids", ABD_ZERO_PLAN_INTEL),
	ABD_PLAN_DERIVED("skylake", "libc"),
	ABD_PLAN_DERIVED("neoverse-n1", "libc"),
	ABD_PLAN_DERIVED("neoverse-v1", "libc"),
	ABD_PLAN_DERIVED("neoverse-v2", "libc"),
	{NULL, NULL, NULL},
};

/* From where the range is half of the last cache. */
static const char *const abd_zero_plans[] = {"libc<=l3/2,nt-pair-avx512", NULL};

struct abd_choice abd_zero_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "zero",
	.kernels = abd_zero_kernels,
	.families = abd_zero_families,
	.plans = abd_zero_plans,
};
