/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes this CPU look like a lesser one, for tests. ABD_TEST_CPU is none, sse2, haswell (AVX2, but
 * neither clwb nor clflushopt) or avx2. All features beyond that level are denied to all kernels,
 * including those without a tunable (copy, fletcher_4, crc32c). The linker sends the library's
 * abd_cpu_has() here (--wrap).
 * Invariant: features are only denied; a feature that this machine lacks is missing at every level.
 */
#include "abd_cpu.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t hidden;

void abd_test_cpu_hide(uint32_t features);
bool __real_abd_cpu_has(enum abd_cpu_feature feature);
bool __wrap_abd_cpu_has(enum abd_cpu_feature feature);

static unsigned level_of(enum abd_cpu_feature feature)
{
	switch (feature) {
	case ABD_CPU_SSE2:
	case ABD_CPU_CLFLUSH:
		return 1;
	case ABD_CPU_AVX2:
	case ABD_CPU_PCLMUL:
		return 2;
	case ABD_CPU_CLFLUSHOPT:
	case ABD_CPU_CLWB:
		return 3;
	case ABD_CPU_AVX512:
	case ABD_CPU_VPCLMUL:
	case ABD_CPU_MOVDIR64B:
	case ABD_CPU_NEON:
	case ABD_CPU_DCPOP:
		break;
	}
	return 4;
}

/*
 * Reads the environment each time and stores nothing: several threads may choose kernels at once.
 */
static unsigned level_wanted(void)
{
	static const char *const names[] = {"none", "sse2", "haswell", "avx2"};
	const char *wanted = getenv("ABD_TEST_CPU");

	if (wanted == NULL)
		return 4;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(wanted, names[i]) == 0)
			return i;
	fprintf(stderr, "ABD_TEST_CPU=%s: none, sse2, haswell or avx2\n", wanted);
	abort();
}

/* Declared for tests in abd_test_wrap.h. */
void abd_test_cpu_hide(uint32_t features)
{
	hidden = features;
}

bool __wrap_abd_cpu_has(enum abd_cpu_feature feature)
{
	bool has = __real_abd_cpu_has(feature); /* asked even if it is then denied: coverage counts
						 */

	return has && (hidden & 1u << feature) == 0 && level_of(feature) <= level_wanted();
}
