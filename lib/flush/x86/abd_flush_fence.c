/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fence of x86-64, sfence: everything that was stored or written back before it is globally
 * visible, and so in the platform's power-fail domain, before any later store. Stores around the
 * cache, clwb and clflushopt need it, since plain stores may pass them.
 */
#include "abd_flush_kernel.h"

#include <xmmintrin.h>

void abd_flush_fence(void)
{
	_mm_sfence();
}
