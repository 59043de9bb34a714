/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock, and the list of modules that age.
 */
#include "abd_age.h"

#include <assert.h>
#include <time.h>

#define ABD_AGERS 8

/* The tunable reserve_ms. 12 s: 15 s after a burst all memory is back, however coarse the clock. */
atomic_ullong abd_age_ms = 12000;
static atomic_ullong abd_age_next_ms;
static struct abd_ager *_Atomic abd_agers[ABD_AGERS];
static const struct abd_ager *abd_age_forked[ABD_AGERS]; /* abd_thread.c lets one fork() in at a
							    time */
static atomic_flag abd_age_runs = ATOMIC_FLAG_INIT;

void abd_age_add_slow(struct abd_ager *ager)
{
	if (atomic_exchange(&ager->added, true))
		return;

	struct abd_ager *other = NULL;

	for (size_t i = 0; !atomic_compare_exchange_strong(&abd_agers[i], &other, ager); i++) {
		assert(i + 1 < ABD_AGERS);
		other = NULL;
	}
}

void abd_age_fork_begin(void)
{
	for (size_t i = 0; i < ABD_AGERS; i++) {
		struct abd_ager *ager = atomic_load(&abd_agers[i]);

		abd_age_forked[i] = ager;
		if (ager != NULL && ager->fork_begin != NULL)
			ager->fork_begin();
	}
}

/* Those that have begun, though others may have come since. */
void abd_age_fork_end(void)
{
	for (size_t i = 0; i < ABD_AGERS; i++)
		if (abd_age_forked[i] != NULL && abd_age_forked[i]->fork_end != NULL)
			abd_age_forked[i]->fork_end();
}

/* The thread that was at it is gone. */
void abd_age_fork_child(void)
{
	abd_age_fork_end();
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
	if (ABD_LIKELY(now_ms < atomic_load_explicit(&abd_age_next_ms, memory_order_relaxed)) ||
		atomic_flag_test_and_set(&abd_age_runs))
		return;
	for (size_t i = 0; i < ABD_AGERS; i++) {
		struct abd_ager *ager = atomic_load(&abd_agers[i]);

		if (ager != NULL && ager->age != NULL)
			ager->age();
	}
	atomic_store(&abd_age_next_ms, now_ms + abd_age_period_ms());
	atomic_flag_clear(&abd_age_runs);
}

void abd_age_restart(void)
{
	atomic_store(&abd_age_next_ms, 0);
}
