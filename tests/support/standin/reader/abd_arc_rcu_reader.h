/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For builds with sanitizers: no thread has an entry of its own, and a section is a call of liburcu
 * or of what stands in for it.
 */
#ifndef ABD_ARC_RCU_READER_H
#define ABD_ARC_RCU_READER_H

#include "abd_base.h"

#include <pthread.h>
#include <urcu/urcu-bp.h>

struct urcu_bp_reader;

static inline struct urcu_bp_reader *abd_arc_rcu_register(void)
{
	return NULL;
}

static inline bool abd_arc_rcu_is_of(const struct urcu_bp_reader *reader, pthread_t self)
{
	(void)reader;
	(void)self;
	return false;
}

static inline void abd_arc_rcu_read_lock_as(struct urcu_bp_reader *reader)
{
	(void)reader;
	urcu_bp_read_lock();
}

static inline void abd_arc_rcu_read_unlock_as(struct urcu_bp_reader *reader)
{
	(void)reader;
	urcu_bp_read_unlock();
}

#endif
