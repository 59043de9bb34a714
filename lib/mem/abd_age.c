/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock, and whose turn it is.
 */
#include "abd_age.h"

#include <time.h>

/* The tunable reserve_ms. 12 s: 15 s after a burst all memory is back, however coarse the clock. */
atomic_ullong abd_age_ms = 12000;
static atomic_ullong abd_age_next_ms;
static void (*_Atomic abd_age_all)(void);
static atomic_flag abd_age_runs = ATOMIC_FLAG_INIT;
_Thread_local bool abd_age_deferred;

void abd_age_start(void (*age)(void))
{
	atomic_store(&abd_age_all, age);
}

void abd_age_fork_child(void)
{
	atomic_flag_clear(&abd_age_runs);
}

uint64_t abd_age_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t abd_age_period_ms(void)
{
	return atomic_load_explicit(&abd_age_ms, memory_order_relaxed) / ABD_AGE_STAGES;
}

void abd_age_check(uint64_t now_ms)
{
	void (*age)(void);

	if (ABD_LIKELY(now_ms < atomic_load_explicit(&abd_age_next_ms, memory_order_relaxed)) ||
		abd_age_deferred || atomic_flag_test_and_set(&abd_age_runs))
		return;
	age = atomic_load(&abd_age_all);
	if (age != NULL)
		age();
	atomic_store(&abd_age_next_ms, now_ms + abd_age_period_ms());
	atomic_flag_clear(&abd_age_runs);
}

void abd_age_restart(void)
{
	atomic_store(&abd_age_next_ms, 0);
}
