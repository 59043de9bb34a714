/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Features as functions, for the records of kernels.
 */
#include "abd_cpu.h"

bool abd_cpu_runs_any(void)
{
	return true;
}

#define ABD_CPU_RUNS(name, feature)          \
	bool abd_cpu_runs_##name(void)       \
	{                                    \
		return abd_cpu_has(feature); \
	}

ABD_CPU_RUNS(sse2, ABD_CPU_SSE2)
ABD_CPU_RUNS(pclmul, ABD_CPU_PCLMUL)
ABD_CPU_RUNS(avx2, ABD_CPU_AVX2)
ABD_CPU_RUNS(avx512, ABD_CPU_AVX512)
ABD_CPU_RUNS(vpclmul, ABD_CPU_VPCLMUL)
ABD_CPU_RUNS(clflush, ABD_CPU_CLFLUSH)
ABD_CPU_RUNS(clflushopt, ABD_CPU_CLFLUSHOPT)
ABD_CPU_RUNS(clwb, ABD_CPU_CLWB)
ABD_CPU_RUNS(movdir64b, ABD_CPU_MOVDIR64B)
ABD_CPU_RUNS(neon, ABD_CPU_NEON)
ABD_CPU_RUNS(dcpop, ABD_CPU_DCPOP)
