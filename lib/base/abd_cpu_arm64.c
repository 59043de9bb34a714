/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU features on aarch64, where NEON is part of the base.
 */
#include "abd_cpu.h"

#include <sys/auxv.h>

/* The kernel lets programs read ID registers (HWCAP_CPUID of asm/hwcap.h). */
#define ABD_CPU_ID_READABLE (1ul << 11)

bool abd_cpu_has(enum abd_cpu_feature feature)
{
	return feature == ABD_CPU_NEON;
}

void abd_cpu_identify(struct abd_cpu_identity *cpu)
{
	uint64_t id = 0;

	if ((getauxval(AT_HWCAP) & ABD_CPU_ID_READABLE) != 0)
		__asm__("mrs %0, midr_el1" : "=r"(id));
	*cpu = (struct abd_cpu_identity){
		.vendor = "arm",
		.family = (unsigned)(id >> 24 & 0xFF),
		.model = (unsigned)(id >> 4 & 0xFFF),
	};
}
