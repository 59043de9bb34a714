/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RCU as this layer uses it: read-side sections, and a wait until every section that had begun has
 * ended.
 *
 * The flavour is liburcu-bp: it registers a thread at its first section, and unregisters it when it
 * ends. Other flavours such as memb want every thread to call rcu_register_thread(). If our first
 * call did that, a host that uses the same flavour would register its thread twice, or unregister
 * it while we still need it. docs/arc.md has the figures of what bp costs.
 *
 * Invariant: nobody waits for a grace period inside a section, takes a lock there, or allocates.
 *
 * ThreadSanitizer can't see into liburcu 0.13.2 and reports false races; MemorySanitizer reports
 * false uninitialised reads. Builds for them (ABD_ARC_SHIM) use the shim instead, a read-write
 * lock.
 */
#ifndef ABD_RCU_H
#define ABD_RCU_H

#if ABD_ARC_SHIM

#include <pthread.h>
#include <stdbool.h>

extern pthread_rwlock_t abd_rcu_shim;

static inline void abd_rcu_read_lock(void)
{
	pthread_rwlock_rdlock(&abd_rcu_shim);
}

static inline void abd_rcu_read_unlock(void)
{
	pthread_rwlock_unlock(&abd_rcu_shim);
}

/** For tests: whether a section is open. Here: in any thread. */
static inline bool abd_rcu_read_ongoing(void)
{
	if (pthread_rwlock_trywrlock(&abd_rcu_shim) != 0)
		return true;
	pthread_rwlock_unlock(&abd_rcu_shim);
	return false;
}

static inline void abd_rcu_synchronize(void)
{
	pthread_rwlock_wrlock(&abd_rcu_shim);
	pthread_rwlock_unlock(&abd_rcu_shim);
}

#else

/*
 * The build defines _LGPL_SOURCE, which makes the read side inline; liburcu allows that to
 * sources under a licence like ours. Sanitizer builds don't define it: liburcu 0.13.2 aligns its
 * readers' records less than it declares, which UBSan reports in inlined code.
 */
#include <stdbool.h>
#include <urcu/urcu-bp.h>

static inline void abd_rcu_read_lock(void)
{
	urcu_bp_read_lock();
}

static inline void abd_rcu_read_unlock(void)
{
	urcu_bp_read_unlock();
}

/** For tests: whether this thread is inside a section. */
static inline bool abd_rcu_read_ongoing(void)
{
	return urcu_bp_read_ongoing() != 0;
}

static inline void abd_rcu_synchronize(void)
{
	urcu_bp_synchronize_rcu();
}

#endif

#endif
