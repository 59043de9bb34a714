/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lib/arc uses of liburcu-bp, for builds whose checker can't see into liburcu: ThreadSanitizer
 * and MemorySanitizer. A section is a lock that many may have, and to synchronize is to have it
 * alone once: the same promise, by means that the checker knows.
 * Invariant: what a section does is ordered before what follows a synchronize that waited for it,
 * and nothing else is ordered.
 */
#ifndef URCU_BP_STANDIN_H
#define URCU_BP_STANDIN_H

#include <pthread.h>

/* One for all objects of a library or program. A writer comes first: else it might wait for ever.
 */
__attribute__((weak, visibility("hidden"))) pthread_rwlock_t urcu_bp_standin_lock =
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
__attribute__((weak, visibility("hidden"))) _Thread_local int urcu_bp_standin_depth;

static inline void urcu_bp_register_thread(void)
{
}

static inline void urcu_bp_read_lock(void)
{
	if (urcu_bp_standin_depth++ == 0)
		pthread_rwlock_rdlock(&urcu_bp_standin_lock);
}

static inline void urcu_bp_read_unlock(void)
{
	if (--urcu_bp_standin_depth == 0)
		pthread_rwlock_unlock(&urcu_bp_standin_lock);
}

static inline int urcu_bp_read_ongoing(void)
{
	return urcu_bp_standin_depth > 0;
}

static inline void urcu_bp_synchronize_rcu(void)
{
	pthread_rwlock_wrlock(&urcu_bp_standin_lock);
	pthread_rwlock_unlock(&urcu_bp_standin_lock);
}

static inline void urcu_bp_after_fork_child(void)
{
	pthread_rwlock_init(&urcu_bp_standin_lock, NULL);
}

#endif
