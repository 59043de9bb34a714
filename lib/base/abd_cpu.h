/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The features that this CPU and its operating system let kernels use, and which CPU it is.
 * Invariant: constant for the life of the process. Only the supported() functions of kernels ask
 * for features, and only abd_machine.c asks which CPU it is.
 */
#ifndef ABD_CPU_H
#define ABD_CPU_H

#include "abd_base.h"

/* Sets of instructions: each is all that cmake/AbdLayer.cmake compiles files of its name for. */
enum abd_cpu_feature {
	ABD_CPU_SSE2,
	ABD_CPU_SSE42,
	ABD_CPU_PCLMULQDQ,  /* with SSE42 */
	ABD_CPU_AVX2,       /* with SSE42, BMI and BMI2 */
	ABD_CPU_AVX512BW,   /* with F, VL and AVX2 */
	ABD_CPU_VPCLMULQDQ, /* with AVX512BW and PCLMULQDQ */
	ABD_CPU_CLFLUSH,
	ABD_CPU_CLFLUSHOPT,
	ABD_CPU_CLWB,
	ABD_CPU_MOVDIR64B,
	ABD_CPU_NEON,
};

/** Whether kernels may use the feature. Threads: any. */
bool abd_cpu_has(enum abd_cpu_feature feature);

/* Which processor this is. On x86 as CPUID numbers them; on Arm the implementer and the part. */
struct abd_cpu_identity {
	char vendor[16]; /* "AuthenticAMD", "GenuineIntel", "arm"; "other" */
	unsigned family, model;
};

void abd_cpu_identify(struct abd_cpu_identity *cpu);

#endif
