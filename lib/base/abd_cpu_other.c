/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU features on other machines: none, so only portable kernels are used.
 */
#include "abd_cpu.h"

bool abd_cpu_has(enum abd_cpu_feature feature)
{
	(void)feature;
	return false;
}

void abd_cpu_identify(struct abd_cpu_identity *cpu)
{
	*cpu = (struct abd_cpu_identity){.vendor = "other"};
}
