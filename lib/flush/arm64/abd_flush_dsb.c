/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dsb sy: cache maintenance done before it is complete after it, for the whole system; a dmb would
 * only order it.
 */
#include "abd_flush_arm64.h"

static void dsb_fence(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}

const struct abd_flush_fence abd_flush_dsb = {
	.name = "dsb",
	.fence = dsb_fence,
};
