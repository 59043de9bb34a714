/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU features on aarch64, where NEON is part of the base.
 */
#include "abd_cpu.h"

#include <asm/hwcap.h>
#include <sys/auxv.h>

bool abd_cpu_has(enum abd_cpu_feature feature)
{
	return feature == ABD_CPU_NEON ||
	       (feature == ABD_CPU_DCPOP && (getauxval(AT_HWCAP) & HWCAP_DCPOP) != 0);
}

void abd_cpu_identify(struct abd_cpu_identity *cpu)
{
	uint64_t id = 0;

	if ((getauxval(AT_HWCAP) & HWCAP_CPUID) != 0) /* programs may read ID registers */
		__asm__("mrs %0, midr_el1" : "=r"(id));
	*cpu = (struct abd_cpu_identity){
		.vendor = "arm",
		.family = (unsigned)(id >> 24 & 0xFF),
		.model = (unsigned)(id >> 4 & 0xFFF),
	};
}
