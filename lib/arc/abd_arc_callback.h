/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The eviction callback: abd_arc_callback.c.
 */
#ifndef ABD_ARC_CALLBACK_H
#define ABD_ARC_CALLBACK_H

#include "abd_arc_impl.h"

/**
 * Make entries pending, which nobody can find or hold any more: evicted_cb is called for those that
 * were evicted, before they are freed. Outside of locks; the caller then calls
 * abd_arc_callback_run().
 */
void abd_arc_pending_add(struct abd_arc *arc, struct abd_arc_link *freed);
void abd_arc_callback_run_slow(struct abd_arc *arc, size_t *left);
/** A call that frees only what others need runs so many callbacks, and leaves the rest to others.
 */
#define ABD_ARC_CALLBACKS 64
/** The last holds of these were released: call evicted_cb, and free them. Outside of locks. */
void abd_arc_callback_released(struct abd_arc *arc, struct abd_arc_link *freed);
/**
 * Call evicted_cb for what is pending, and free it; not for more than *left entries, which becomes
 * less by as many. Outside of sections and locks.
 */
static inline void abd_arc_callback_run(struct abd_arc *arc, size_t *left)
{
	if (ABD_UNLIKELY(arc->evicted_cb != NULL))
		abd_arc_callback_run_slow(arc, left);
}

bool abd_arc_in_callback_slow(const struct abd_arc *arc);
/** Whether this thread is in the callback of this cache: then it reclaims nothing here. */
static inline bool abd_arc_in_callback(const struct abd_arc *arc)
{
	return ABD_UNLIKELY(arc->evicted_cb != NULL) && abd_arc_in_callback_slow(arc);
}

static inline void abd_arc_require_no_callback(const char *call, const struct abd_arc *arc)
{
	ABD_REQUIRE_IN(call, !abd_arc_in_callback(arc), "called by the evicted_cb of this cache");
}

#endif
