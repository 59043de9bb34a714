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

/** A module that keeps memory in reserve. The struct is never freed. */
struct abd_ager {
	/* a period has passed: move on memory that was not used during it */
	void (*age)(void);
	atomic_flag added;
};

/**
 * Have ager->age() called once a period from now on. A second call changes nothing. Threads: any.
 */
void abd_age_add(struct abd_ager *ager);

/** Milliseconds of a clock that is cheap to read and a few milliseconds coarse. */
uint64_t abd_age_now_ms(void);

/**
 * A sixth of the tunable reserve_ms. Free memory passes three stages (a thread's magazine, the
 * depot, its region), and stays in each for one period at least and two at most.
 */
uint64_t abd_age_period_ms(void);

/** If a period has passed, call all age() functions. */
void abd_age_check(uint64_t now_ms);

int abd_age_ms_set(const char *value);
const char *abd_age_ms_get(char *text, size_t size);

#endif
