/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The features that this CPU and its operating system let kernels use.
 * Invariant: constant for the life of the process. Only the supported() functions of kernels ask.
 */
#ifndef ABD_CPU_H
#define ABD_CPU_H

#include "abd_base.h"

enum abd_cpu_feature {
	ABD_CPU_SSE2,
	ABD_CPU_SSE42,
	ABD_CPU_AVX2, /* with BMI and BMI2: files for AVX2 are compiled with them */
	ABD_CPU_BMI2,
	ABD_CPU_AVX512BW, /* with F and VL */
	ABD_CPU_CLFLUSH,
	ABD_CPU_CLFLUSHOPT,
	ABD_CPU_CLWB,
	ABD_CPU_MOVDIR64B,
	ABD_CPU_NEON,
};

/** Whether kernels may use the feature. Threads: any. */
bool abd_cpu_has(enum abd_cpu_feature feature);

#endif
