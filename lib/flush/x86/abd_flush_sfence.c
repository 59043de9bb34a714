/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sfence: everything that was stored or written back before it is globally visible, and so in the
 * platform's power-fail domain, before any later store. Needed after clwb and clflushopt too, which
 * plain stores may pass.
 */
#include "abd_flush_x86.h"

#include <xmmintrin.h>

static void sfence_fence(void)
{
	_mm_sfence();
}

const struct abd_flush_fence abd_flush_sfence = {
	.name = "sfence",
	.fence = sfence_fence,
};
