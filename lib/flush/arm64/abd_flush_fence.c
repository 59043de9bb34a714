/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fence of aarch64, dsb sy: cache maintenance done before it is complete after it, for the
 * whole system; a dmb would only order it.
 */
#include "abd_flush_kernel.h"

void abd_flush_fence(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}
