/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Aging: memory that is kept in reserve and no longer used goes back after a while, without a call
 * for it and without a background thread. The calls that allocate and free look at a coarse clock
 * on their slow paths. Once a period, one of them calls the age() functions of all modules that
 * keep memory.
 *
 * Invariant: age() functions are called without any lock of the library, and by one thread at a
 * time.
 */
#ifndef ABD_AGE_H
#define ABD_AGE_H

#include "abd_base.h"

#include <stdatomic.h>

/** A module that keeps memory in reserve. The struct is never freed; NULL: nothing to do. */
struct abd_ager {
	/* a period has passed: move on memory that was not used during it */
	void (*age)(void);
	/* round a fork(), so that the child finds the memory in order: take locks, release them */
	void (*fork_begin)(void);
	void (*fork_end)(void);
	atomic_bool added;
};

/** Have these called from now on. A second call changes nothing, and is cheap. Threads: any. */
void abd_age_add_slow(struct abd_ager *ager);

static inline void abd_age_add(struct abd_ager *ager)
{
	if (ABD_UNLIKELY(!atomic_load_explicit(&ager->added, memory_order_acquire)))
		abd_age_add_slow(ager);
}

/** Around a fork(). */
void abd_age_fork_begin(void);
void abd_age_fork_end(void);
void abd_age_fork_child(void);

/** Milliseconds of a clock that is cheap to read and a few milliseconds coarse. */
uint64_t abd_age_now_ms(void);

/**
 * A sixth of the tunable reserve_ms. Free memory passes three stages (a thread's magazine, the
 * depot, its region), and stays in each for one period at least and two at most.
 */
uint64_t abd_age_period_ms(void);

/** If a period has passed, call all age() functions. */
void abd_age_check(uint64_t now_ms);

/** The tunable reserve_ms, at least one for each stage; and what follows when it was set. */
#define ABD_AGE_STAGES 6
extern atomic_ullong abd_age_ms __attribute__((visibility("hidden")));
void abd_age_restart(void);

#endif
