/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lib/arc uses of liburcu-bp, for builds whose checker can't see into liburcu: ThreadSanitizer
 * and MemorySanitizer. A section counts itself in one of two counters. To synchronize is to send
 * new sections to the other counter and wait until the one before is 0, twice: a section that chose
 * its counter before the first time may count itself only after it. So a reader waits for nobody,
 * and a writer for no section that began later, as with liburcu.
 * Invariant: what a section does is ordered before what follows a synchronize that waited for it.
 */
#ifndef URCU_BP_STANDIN_H
#define URCU_BP_STANDIN_H

#include <pthread.h>
#include <sched.h>

#define URCU_BP_STANDIN __attribute__((weak, visibility("hidden")))

/* One of each for all objects of a library or program. */
URCU_BP_STANDIN pthread_mutex_t urcu_bp_standin_lock = PTHREAD_MUTEX_INITIALIZER;
URCU_BP_STANDIN unsigned urcu_bp_standin_turn, urcu_bp_standin_count[2];
URCU_BP_STANDIN _Thread_local unsigned urcu_bp_standin_depth, urcu_bp_standin_in;

static inline void urcu_bp_register_thread(void)
{
}

static inline void urcu_bp_read_lock(void)
{
	if (urcu_bp_standin_depth++ > 0)
		return;
	urcu_bp_standin_in = __atomic_load_n(&urcu_bp_standin_turn, __ATOMIC_SEQ_CST) % 2;
	__atomic_fetch_add(&urcu_bp_standin_count[urcu_bp_standin_in], 1, __ATOMIC_SEQ_CST);
}

static inline void urcu_bp_read_unlock(void)
{
	if (--urcu_bp_standin_depth == 0)
		__atomic_fetch_sub(&urcu_bp_standin_count[urcu_bp_standin_in], 1, __ATOMIC_SEQ_CST);
}

static inline int urcu_bp_read_ongoing(void)
{
	return urcu_bp_standin_depth > 0;
}

static inline void urcu_bp_synchronize_rcu(void)
{
	pthread_mutex_lock(&urcu_bp_standin_lock);
	for (unsigned i = 0; i < 2; i++) {
		unsigned before = __atomic_fetch_add(&urcu_bp_standin_turn, 1, __ATOMIC_SEQ_CST);

		/* Not a load: a section that counts itself from now on is ordered behind this. */
		while (__atomic_fetch_add(&urcu_bp_standin_count[before % 2], 0, __ATOMIC_SEQ_CST) >
			0)
			sched_yield();
	}
	pthread_mutex_unlock(&urcu_bp_standin_lock);
}

static inline void urcu_bp_after_fork_child(void)
{
	pthread_mutex_init(&urcu_bp_standin_lock, NULL);
	urcu_bp_standin_count[0] = urcu_bp_standin_count[1] = 0;
	if (urcu_bp_standin_depth > 0)
		urcu_bp_standin_count[urcu_bp_standin_in] = 1;
}

#endif
