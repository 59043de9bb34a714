/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fence of machines that have no flush kernel of their own: it orders, which is all that the
 * portable kernel promises.
 */
#include "abd_flush_kernel.h"

void abd_flush_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}
