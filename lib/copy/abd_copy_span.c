/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The copy kernels of this build, and the plans that are built in.
 */
#include "abd_copy_span.h"

const struct abd_copy_kernel *const abd_copy_kernels[] = {
#if ABD_ON_X86
	&abd_copy_avx512,
#endif
	&abd_copy_libc,
#if ABD_ON_X86
	&abd_copy_avx512_four,
	&abd_copy_string,
	&abd_copy_nt_avx512,
	&abd_copy_nt_pair_avx512,
	&abd_copy_nt_four_avx512,
#endif
	NULL,
};

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
 * Fallback: from where both sides together are half of the last cache, as on Zen 4.
 */
static const struct abd_plan_built_in abd_copy_built_in[] = {
#if ABD_ON_X86
	{"zen4", {{8388608, &abd_copy_avx512.kernel}, {SIZE_MAX, &abd_copy_nt_pair_avx512.kernel}}},
	{"zen5", {{24576, &abd_copy_avx512.kernel}, {2097152, &abd_copy_string.kernel},
			 {10485760, &abd_copy_avx512_four.kernel},
			 {SIZE_MAX, &abd_copy_nt_four_avx512.kernel}}},
	{"emeraldrapids", {{786432, &abd_copy_avx512.kernel}, {33554431, &abd_copy_string.kernel},
				  {SIZE_MAX, &abd_copy_nt_avx512.kernel}}},
	{NULL, {{ABD_L3_PART(4), &abd_copy_avx512.kernel},
		       {SIZE_MAX, &abd_copy_nt_pair_avx512.kernel}}},
#endif
	{NULL, {{0, NULL}}},
};

struct abd_choice abd_copy_choice =
	ABD_CHOICE("copy", abd_copy_kernels, .built_in = abd_copy_built_in);
