/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fence of aarch64, dsb sy: once it has run, all cache maintenance before it is complete for
 * the whole system. A dmb would only order it.
 */
#include "abd_flush_kernel.h"

void abd_flush_fence(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}
