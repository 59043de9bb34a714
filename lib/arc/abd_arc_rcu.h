/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RCU as this layer uses it: liburcu's flavour bp, whose threads need not register and which a host
 * may use too. Its read side is inlined: a few loads and stores, without a locked instruction where
 * the system has membarrier(2), as liburcu finds out when it is loaded.
 *
 *   reader                              writer
 *   section begins                      take a record out of the index
 *   look up, note the record in a slot  abd_arc_rcu_synchronize(): every section that had begun
 *   section ends                                                   has ended
 *   decode, copy                        look at the slots: what none holds is freed
 *
 * Invariant: a section covers a look-up and what notes its result, and nothing else. Nothing is
 * allocated, locked, called back or waited for in one, and the caller's memory is not touched. So
 * sections last some 50 ns, and waiting for them microseconds.
 * Builds for ThreadSanitizer and MemorySanitizer, which can't see into liburcu, have a stand-in for
 * it: tests/support/standin.
 * Source: Desnoyers, McKenney, Stern, Dagenais, Walpole, "User-Level Implementations of
 * Read-Copy Update" (IEEE TPDS 2012).
 */
#ifndef ABD_ARC_RCU_H
#define ABD_ARC_RCU_H

#include "abd_contract.h"

#include <abd_arc_rcu_reader.h>

static inline void abd_arc_rcu_read_lock(void)
{
	urcu_bp_read_lock();
}

static inline void abd_arc_rcu_read_unlock(void)
{
	urcu_bp_read_unlock();
}

/**
 * Begin a section of a thread whose entry this was, or NULL. Returns what ends it: the entry, or
 * NULL if liburcu has to look for the thread's.
 */
static inline struct urcu_bp_reader *abd_arc_rcu_begin(
	struct urcu_bp_reader *reader, pthread_t self)
{
	if (ABD_UNLIKELY(reader == NULL || !abd_arc_rcu_is_of(reader, self))) {
		urcu_bp_read_lock();
		return NULL;
	}
	abd_arc_rcu_read_lock_as(reader);
	return reader;
}

static inline void abd_arc_rcu_end(struct urcu_bp_reader *reader)
{
	if (ABD_UNLIKELY(reader == NULL))
		urcu_bp_read_unlock();
	else
		abd_arc_rcu_read_unlock_as(reader);
}

/** Whether this thread is in a section, the library's or the host's. */
static inline bool abd_arc_rcu_is_reading(void)
{
	return urcu_bp_read_ongoing() != 0;
}

/** The contract of a call that may wait: in a section of its own thread it would wait for ever. */
static inline void abd_arc_rcu_require_outside(const char *call)
{
	ABD_REQUIRE_IN(call, !abd_arc_rcu_is_reading(),
		"called inside a read-side section of liburcu-bp: this call may wait for its end");
}

/**
 * Wait until every section that had begun has ended. Outside of sections and locks, except those
 * that only waiting threads take.
 */
static inline void abd_arc_rcu_synchronize(void)
{
	ABD_KEEP_ERRNO;
	ABD_NO_CANCEL; /* liburcu sleeps with its locks taken */

	urcu_bp_synchronize_rcu();
}

#endif
