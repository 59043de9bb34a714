/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copy kernels of this build, and the plans that are built in.
 */
#include "abd_copy_span.h"

#define ABD_COPY_KERNELS(K)   \
	ABD_ON_X86(K(avx512)) \
	K(libc)               \
	ABD_ON_X86(K(nt_avx512))

#define ABD_COPY_DECLARE(name) extern const struct abd_copy_kernel abd_copy_##name;
#define ABD_COPY_ENTRY(name) &abd_copy_##name,

ABD_COPY_KERNELS(ABD_COPY_DECLARE)

const struct abd_copy_kernel *const abd_copy_kernels[] = {ABD_COPY_KERNELS(ABD_COPY_ENTRY) NULL};

/*
 * From which size on stores go around the caches.
 *
 * zen4: 2 cores of a virtual machine, 1 MiB of L2, 32 MiB of L3; 4 KiB runs at random addresses. At
 * 8 MiB streaming is level with the vectors, at 16 MiB 1.6 times as fast.
 * zen5: at 4 MiB it is slower (0.94 to 0.99), at 16 MiB 1.4 times as fast.
 * The Intel servers' plan was measured on one of them with AVX-512, 48 KiB of L1 and 2 MiB of L2:
 * level at 16 MiB, 1.1 times as fast at 32 MiB, 1.5 times at 64 MiB.
 */
#define ABD_COPY_PLAN_INTEL "avx512<=33554431,nt-avx512"

static const struct abd_plan_built_in abd_copy_families[] = {
	ABD_PLAN_DERIVED("zen3", "libc"),
	ABD_PLAN_MEASURED("zen4", "avx512<=8388608,nt-avx512"),
	ABD_PLAN_MEASURED("zen5", "avx512<=8388608,nt-avx512"),
	ABD_PLAN_DERIVED("icelake", ABD_COPY_PLAN_INTEL),
	ABD_PLAN_DERIVED("sapphirerapids", ABD_COPY_PLAN_INTEL),
	ABD_PLAN_DERIVED("emeraldrapids", ABD_COPY_PLAN_INTEL),
	ABD_PLAN_DERIVED("graniterapids", ABD_COPY_PLAN_INTEL),
	ABD_PLAN_DERIVED("skylake", "libc"),
	ABD_PLAN_DERIVED("neoverse-n1", "libc"),
	ABD_PLAN_DERIVED("neoverse-v1", "libc"),
	ABD_PLAN_DERIVED("neoverse-v2", "libc"),
	{NULL, NULL, NULL},
};

/* From where source and destination together outgrow the last cache. */
static const char *const abd_copy_plans[] = {
	"avx512<=l3/2,nt-avx512",
	NULL,
};

struct abd_choice abd_copy_choice = {
	.rows[0].last = SIZE_MAX,
	.name = "copy",
	.kernels = abd_copy_kernels,
	.families = abd_copy_families,
	.plans = abd_copy_plans,
};
