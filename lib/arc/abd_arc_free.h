/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Freeing what left the cache: abd_arc_free.c.
 */
#ifndef ABD_ARC_FREE_H
#define ABD_ARC_FREE_H

#include "abd_arc_impl.h"

/** Free entries that nobody can find or hold, each with its slot. Outside of locks. */
void abd_arc_free_list(struct abd_arc *arc, struct abd_arc_link *freed);
/** The same for those whose records lie in slots, unless evicted_cb is to be called. Under lock. */
void abd_arc_free_slots(struct abd_arc *arc, struct abd_arc_link *freed);

/** What was freed and not given back to the system yet. */
struct abd_arc_loose {
	size_t reserve; /* so much may stay */
	bool has_runs;
};

/** Take all that there is of that; under lock. Give some of it back; outside of locks. */
struct abd_arc_loose abd_arc_loose_take(struct abd_arc *arc);
void abd_arc_loose_trim(struct abd_arc *arc, struct abd_arc_loose loose);

#endif
