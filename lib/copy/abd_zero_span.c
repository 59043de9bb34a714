/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The zeroing kernels of this build, and the plans that are built in.
 */
#include "abd_zero_span.h"

const struct abd_zero_kernel *const abd_zero_kernels[] = {
	&abd_zero_libc,
#if ABD_ON_X86
	&abd_zero_avx512,
	&abd_zero_avx512_four,
	&abd_zero_nt_pair_avx512,
#endif
	NULL,
};

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
 * Fallback, not measured: streaming from where the range is half of the last cache, as copies do.
 */
static const struct abd_plan_built_in abd_zero_built_in[] = {
#if ABD_ON_X86
	{"zen4", {{2048, &abd_zero_libc.kernel}, {12288, &abd_zero_avx512.kernel},
			 {6291456, &abd_zero_avx512_four.kernel}, {8388608, &abd_zero_libc.kernel},
			 {SIZE_MAX, &abd_zero_nt_pair_avx512.kernel}}},
	{"zen5", {{49152, &abd_zero_avx512.kernel}, {10485760, &abd_zero_avx512_four.kernel},
			 {SIZE_MAX, &abd_zero_nt_pair_avx512.kernel}}},
	{"emeraldrapids", {{2048, &abd_zero_libc.kernel}, {24576, &abd_zero_avx512.kernel},
				  {33554431, &abd_zero_libc.kernel},
				  {SIZE_MAX, &abd_zero_nt_pair_avx512.kernel}}},
	{NULL, {{ABD_L3_PART(2), &abd_zero_libc.kernel},
		       {SIZE_MAX, &abd_zero_nt_pair_avx512.kernel}}},
#endif
	{NULL, {{0, NULL}}},
};

struct abd_choice abd_zero_choice =
	ABD_CHOICE("zero", abd_zero_kernels, .built_in = abd_zero_built_in);
