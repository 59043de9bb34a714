/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The features that this CPU and its operating system let kernels use, and which CPU it is.
 * Invariant: constant for the life of the process. Only the choice of a kernel asks for features,
 * by its supported(), and only abd_machine.c asks which CPU it is.
 */
#ifndef ABD_CPU_H
#define ABD_CPU_H

#include "abd_base.h"

/* Sets of instructions: each is all that cmake/AbdLayer.cmake compiles files of its name for. */
enum abd_cpu_feature {
	ABD_CPU_SSE2,
	ABD_CPU_PCLMUL,  /* with SSE4.2 */
	ABD_CPU_AVX2,    /* with SSE4.2, BMI and BMI2 */
	ABD_CPU_AVX512,  /* F, BW and VL, with AVX2 */
	ABD_CPU_VPCLMUL, /* with AVX512 and PCLMUL */
	ABD_CPU_CLFLUSH,
	ABD_CPU_CLFLUSHOPT,
	ABD_CPU_CLWB,
	ABD_CPU_MOVDIR64B,
	ABD_CPU_NEON,
	ABD_CPU_DCPOP, /* dc cvap */
};

/** Whether kernels may use the feature. Threads: any. */
bool abd_cpu_has(enum abd_cpu_feature feature);

/* What kernels have as supported(): whether this CPU has the feature that they need, if any. */
static inline bool abd_cpu_runs_any(void)
{
	return true;
}

#define ABD_CPU_RUNS(name, feature)                  \
	static inline bool abd_cpu_runs_##name(void) \
	{                                            \
		return abd_cpu_has(feature);         \
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

/* Which processor this is. On x86 as CPUID numbers them; on Arm the implementer and the part. */
struct abd_cpu_identity {
	char vendor[16]; /* "AuthenticAMD", "GenuineIntel", "arm"; "other" */
	unsigned family, model;
};

void abd_cpu_identify(struct abd_cpu_identity *cpu);

#endif
