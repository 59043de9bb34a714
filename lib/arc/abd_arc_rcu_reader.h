/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liburcu-bp's read side for a thread that knows its own entry in liburcu's registry. In a shared
 * library liburcu's inline functions find that entry by a call of the loader, three times in a
 * look-up: of 22 ns for a hold and its release that was 6 (an Intel server part, family 6 model
 * 167). An entry stays where it is, and is its thread's until liburcu takes it back at the thread's
 * end, which may come before our last look-up.
 * Builds with sanitizers have another file of this name: tests/support/standin.
 */
#ifndef ABD_ARC_RCU_READER_H
#define ABD_ARC_RCU_READER_H

#include "abd_base.h"

#include <pthread.h>

#define _LGPL_SOURCE /* liburcu's read side inlined, and its struct */
#include <urcu/urcu-bp.h>

/** This thread's entry. liburcu ends the process if it has no memory for one. */
static inline struct urcu_bp_reader *abd_arc_rcu_register(void)
{
	urcu_bp_register_thread();
	return URCU_TLS(urcu_bp_reader);
}

/** Whether an entry that was this thread's still is. */
static inline bool abd_arc_rcu_is_of(const struct urcu_bp_reader *reader, pthread_t self)
{
	return CMM_LOAD_SHARED(reader->tid) == self;
}

/** urcu_bp_read_lock(). */
static inline void abd_arc_rcu_read_lock_as(struct urcu_bp_reader *reader)
{
	unsigned long sections = CMM_LOAD_SHARED(reader->ctr);

	if (ABD_UNLIKELY((sections & URCU_BP_GP_CTR_NEST_MASK) != 0)) {
		CMM_STORE_SHARED(reader->ctr, sections + URCU_BP_GP_COUNT);
		return;
	}
	CMM_STORE_SHARED(reader->ctr, CMM_LOAD_SHARED(urcu_bp_gp.ctr));
	urcu_bp_smp_mb_slave();
}

/** urcu_bp_read_unlock(). */
static inline void abd_arc_rcu_read_unlock_as(struct urcu_bp_reader *reader)
{
	urcu_bp_smp_mb_slave();
	CMM_STORE_SHARED(reader->ctr, CMM_LOAD_SHARED(reader->ctr) - URCU_BP_GP_COUNT);
	cmm_barrier();
}

#endif
