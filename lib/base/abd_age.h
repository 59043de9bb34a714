/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time passes: whoever keeps memory in reserve hears of it, so that what is no longer used goes
 * back without a call made for it. No thread of ours does this. The calls that allocate and free
 * look at a coarse clock on their slow paths, and one of them, once a period, does what is due.
 *
 * Invariant: no lock of ours is held when age() functions run, and never do two threads run them at
 * once.
 */
#ifndef ABD_AGE_H
#define ABD_AGE_H

#include "abd_base.h"

#include <stdatomic.h>

/** Somebody who keeps memory. Lives for ever. */
struct abd_ager {
	void (*age)(void); /* one more period has passed: memory that was unused since the last one
			      moves on */
	atomic_flag added;
};

/** From now on ager->age() is called once a period. A second time changes nothing. Threads: any. */
void abd_age_add(struct abd_ager *ager);

/** Milliseconds of a clock that is cheap, and right to a few of them. */
uint64_t abd_age_now_ms(void);

/**
 * A sixth of the tunable reserve_ms. Free memory passes three stages (a thread's magazine, the
 * depot, its region), and stays in each for one period at least and two at most.
 */
uint64_t abd_age_period_ms(void);

/** If a period has passed, have everybody age. */
void abd_age_check(uint64_t now_ms);

int abd_age_ms_set(const char *value);
const char *abd_age_ms_get(char *text, size_t size);

#endif
