/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the CPU features that the library sees, one a line: "has AVX2" or "lacks MOVDIR64B", with
 * the names of enum abd_cpu_feature. Gates use it to find the kernels that can't run here.
 * ABD_TEST_CPU and emulators change the answer.
 */
#include "abd_cpu.h"

#include <stdio.h>

int main(void)
{
#define FEATURE(name)                 \
	{                             \
		ABD_CPU_##name, #name \
	}
	static const struct {
		enum abd_cpu_feature feature;
		const char *name;
	} features[] = {FEATURE(SSE2), FEATURE(PCLMUL), FEATURE(AVX2), FEATURE(AVX512),
		FEATURE(VPCLMUL), FEATURE(CLFLUSH), FEATURE(CLFLUSHOPT), FEATURE(CLWB),
		FEATURE(MOVDIR64B), FEATURE(NEON), FEATURE(DCPOP)};

	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		printf("%s %s\n", abd_cpu_has(features[i].feature) ? "has" : "lacks",
			features[i].name);
	return 0;
}
