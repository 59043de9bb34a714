/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the kernels in use, in one line, for the gate that runs the tests at each level of CPU: a
 * level that silently changed nothing would test nothing. Then the CPU features that the library
 * sees, one a line: "has AVX2" or "lacks MOVDIR64B", with the names of enum abd_cpu_feature: so
 * gates find the kernels that can't run here. ABD_TEST_CPU and emulators change the answers.
 */
#include "abd_cpu.h"

#include <abd/abd.h>

#include <stdio.h>
#include <string.h>

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

	static const char *const names[] = {"compare", "lz4", "flush", "flush_auto", "flush_line",
		"copy", "fletcher", "crc32c", "xxh3"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *plan = abd_tuning_get(names[i]);

		/* without the origin in brackets */
		printf("%s%s %.*s", i > 0 ? "; " : "", names[i], (int)strcspn(plan, " "), plan);
	}
	printf("\n");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		printf("%s %s\n", abd_cpu_has(features[i].feature) ? "has" : "lacks",
			features[i].name);
	return 0;
}
