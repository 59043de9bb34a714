/* SPDX-License-Identifier: BSD-2-Clause */
#include "mini_arc.h"

static const unsigned long SAME_USE = 62; /* milliseconds from the noted use: no other use */

enum state state_after(struct use *use)
{
	bool first = use->state == MRU && (use->reading || use->was_prefetch);

	if (use->state == MRU && !first && use->now - use->noted <= SAME_USE)
		return MRU;
	use->noted = use->now;
	switch (use->state) {
	case ANON:
		return use->uncached ? UNCACHED : MRU;
	case MRU:
		return first ? MRU : MFU;
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
