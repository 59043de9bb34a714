/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copy kernels of this build, and the plans that are built in.
 */
#include "abd_copy_span.h"

#define ABD_COPY_KERNELS(K)   \
	ABD_ON_X86(K(avx512)) \
	K(libc)               \
	ABD_ON_X86(K(avx512_four) K(string) K(nt_avx512) K(nt_pair_avx512) K(nt_four_avx512))

#define ABD_COPY_DECLARE(name) extern const struct abd_copy_kernel abd_copy_##name;
#define ABD_COPY_ENTRY(name) &abd_copy_##name,

ABD_COPY_KERNELS(ABD_COPY_DECLARE)

const struct abd_copy_kernel *const abd_copy_kernels[] = {ABD_COPY_KERNELS(ABD_COPY_ENTRY) NULL};

/*
 * From which size on stores go around the caches.
 *
 * zen4: 2 cores of a virtual machine, 1 MiB of L2, 32 MiB of L3; 4 KiB runs at random addresses. At
 * 8 MiB streaming is level with the vectors or slower; at 16 MiB and at 64 MiB two runs streamed
 * together are twice as fast, one 1.7 times.
 * zen5: 2 cores of a virtual machine, 48 KiB of L1, 1 MiB of L2, 32 MiB of L3. Where both sides
 * outgrow L1 the string instruction is twice as fast as vectors, from 64 KiB four runs together are
 * 1.4 times as fast, and still ahead at 8 MiB. At 16 MiB streaming with all of the next source
 * fetched is twice as fast as storing, and 1.3 times as fast as with its heads.
 * emeraldrapids: 2 cores of a virtual machine, 48 KiB of L1, 2 MiB of L2, 300 MiB of L3. In four
 * tunes the string instruction was 1.02 to 1.05 times as fast as vectors from 1 to 4 MiB, 1.06 to
 * 1.09 times at 8 and 16 MiB; streaming is 1.6 times as fast at 32 and 64 MiB.
 * The other Intel servers' plan was measured on one of them with AVX-512, 48 KiB of L1, 2 MiB of L2
 * and 480 MiB of L3: streaming is level at 16 MiB, 1.1 times as fast at 32 MiB, 1.5 times at 64.
 */
#define ABD_COPY_PLAN_INTEL "avx512<=33554431,nt-avx512"
#define ABD_COPY_PLAN_EMERALD "avx512<=786432,string<=33554431,nt-avx512"

static const struct abd_plan_built_in abd_copy_families[] = {
	ABD_PLAN_DERIVED("zen3", "libc"),
	ABD_PLAN_MEASURED("zen4", "avx512<=8388608,nt-pair-avx512"),
	ABD_PLAN_MEASURED(
		"zen5", "avx512<=24576,string<=2097152,avx512-four<=10485760,nt-four-avx512"),
	ABD_PLAN_DERIVED("icelake", ABD_COPY_PLAN_INTEL),
	ABD_PLAN_DERIVED("sapphirerapids", ABD_COPY_PLAN_EMERALD),
	ABD_PLAN_MEASURED("emeraldrapids", ABD_COPY_PLAN_EMERALD),
	ABD_PLAN_DERIVED("graniterapids", ABD_COPY_PLAN_INTEL),
	ABD_PLAN_DERIVED("skylake", "libc"),
	ABD_PLAN_DERIVED("neoverse-n1", "libc"),
	ABD_PLAN_DERIVED("neoverse-v1", "libc"),
	ABD_PLAN_DERIVED("neoverse-v2", "libc"),
	{NULL, NULL, NULL},
};

/* From where both sides together are half of the last cache, as on Zen 4. */
static const char *const abd_copy_plans[] = {
	"avx512<=l3/4,nt-pair-avx512",
	NULL,
};

struct abd_choice abd_copy_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "copy",
	.kernels = abd_copy_kernels,
	.families = abd_copy_families,
	.plans = abd_copy_plans,
};
