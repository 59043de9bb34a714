/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RCU as this layer uses it: a read-side section, and waiting until every section that had begun
 * has ended.
 *
 * The flavour is liburcu-bp: threads register themselves at their first section, and leave when
 * they end. memb and the others want rcu_register_thread() from every thread; were that hidden in
 * our first call, a host that uses the same flavour itself would register its thread twice, or
 * unregister it under our feet. What bp costs: docs/arc.md has the figures.
 *
 * Invariant: nobody waits for a grace period inside a section.
 *
 * ThreadSanitizer reports false races inside liburcu 0.13.2, which it can't see into, and
 * MemorySanitizer false uninitialised reads. Builds for them (ABD_ARC_SHIM) take the shim, a lock
 * that many may hold, instead.
 */
#ifndef ABD_RCU_H
#define ABD_RCU_H

#if ABD_ARC_SHIM

#include <pthread.h>

extern pthread_rwlock_t abd_rcu_shim;

static inline void abd_rcu_read_lock(void)
{
	pthread_rwlock_rdlock(&abd_rcu_shim);
}

static inline void abd_rcu_read_unlock(void)
{
	pthread_rwlock_unlock(&abd_rcu_shim);
}

static inline void abd_rcu_synchronize(void)
{
	pthread_rwlock_wrlock(&abd_rcu_shim);
	pthread_rwlock_unlock(&abd_rcu_shim);
}

#else

/*
 * The build defines _LGPL_SOURCE, which makes the read side inline (allowed to sources under a
 * licence like ours), except for sanitizers: 0.13.2 keeps its readers' records less aligned than it
 * declares them, which UBSan reports in inlined code.
 */
#include <urcu/urcu-bp.h>

static inline void abd_rcu_read_lock(void)
{
	urcu_bp_read_lock();
}

static inline void abd_rcu_read_unlock(void)
{
	urcu_bp_read_unlock();
}

static inline void abd_rcu_synchronize(void)
{
	urcu_bp_synchronize_rcu();
}

#endif

#endif
