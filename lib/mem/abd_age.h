/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aging: memory that is kept in reserve and no longer used goes back after a while, without a call
 * for it and without a background thread. The calls that allocate and free look at a coarse clock
 * on their slow paths. Once a period, one of them ages all that is kept (abd_magazine.c).
 *
 * Invariant: that is done without any lock of the library, and by one thread at a time. A layer
 * above that allocates with a lock of its own defers it, and whatever else gives memory back: that
 * takes a millisecond, for which others would wait.
 */
#ifndef ABD_AGE_H
#define ABD_AGE_H

#include "abd_base.h"

#include <stdatomic.h>

/** Milliseconds of a clock that is cheap to read and a few milliseconds coarse. */
uint64_t abd_age_now_ms(void);

/**
 * A sixth of the tunable reserve_ms. Free memory passes three stages (a thread's magazine, the
 * depot, its region), and stays in each for one period at least and two at most.
 */
uint64_t abd_age_period_ms(void);

/** From now on this is called when a period has passed. */
void abd_age_start(void (*age)(void));

/** Whether this thread gives nothing back to the system now, because it has a lock. */
extern _Thread_local bool abd_age_deferred __attribute__((visibility("hidden")));

/** Set that, and return what it was. */
static inline bool abd_age_defer(bool deferred)
{
	bool was = abd_age_deferred;

	abd_age_deferred = deferred;
	return was;
}

/** If a period has passed, and it is not deferred, age what is kept. */
void abd_age_check(uint64_t now_ms);

/** In the child of a fork(): the thread that was at it is gone. */
void abd_age_fork_child(void);

/** The tunable reserve_ms, at least one for each stage; and what follows when it was set. */
#define ABD_AGE_STAGES 6
extern atomic_ullong abd_age_ms __attribute__((visibility("hidden")));
void abd_age_restart(void);

#endif
