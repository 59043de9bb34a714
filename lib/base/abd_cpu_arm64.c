/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU features on aarch64, where NEON is part of the base.
 */
#include "abd_cpu.h"

bool abd_cpu_has(enum abd_cpu_feature feature)
{
	return feature == ABD_CPU_NEON;
}
