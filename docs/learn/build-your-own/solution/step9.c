/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"

static const unsigned long SAME_USE = 62; /* milliseconds: two uses within them are one */

enum state state_after(const struct use *use)
{
	switch (use->state) {
	case ANON:
		return use->uncached ? UNCACHED : MRU;
	case MRU:
		if (use->reading || use->was_prefetch)
			return MRU;
		return use->now - use->last > SAME_USE ? MFU : MRU;
	case MRU_GHOST:
		return use->was_prefetch ? MRU : MFU;
	case L2C_ONLY:
		return MRU;
	case UNCACHED:
		return UNCACHED;
	default:
		return MFU;
	}
}
