/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RCU as this layer uses it: read-side sections, and grace periods. A grace period has passed when
 * every section that had begun when it began has ended. Whoever unlinked a record begins one, goes
 * on with other work, and later asks whether it has passed; or waits.
 *
 * A thread counts its sections: the count is odd inside one. It enrols at its first section, and
 * leaves when it ends, by itself.
 *
 *   reader                              writer
 *   section++ (odd)                     unlink a record
 *   ... look up, read ...               begin: a barrier in every thread, by membarrier(2);
 *   section++ (even)                           note each thread whose section is odd
 *                                       passed: all of those sections have changed
 *                                       free the record
 *
 * A reader's count reaches memory before the barrier, and then the writer waits; or the reader
 * looks up after the barrier, and then it can't find the record. So a section costs two plain
 * stores. A new section changes the count, so no stream of sections can make a writer wait longer.
 *
 * Sections of a thread that can't enrol (no membarrier(2), no key left, or its last destructors
 * run) are counted under a lock instead, in one of two counters: a grace period waits for one of
 * them, while new sections count in the other.
 *
 * It is our own because liburcu's flavours don't fit a library that is opened late. All inlined
 * read sides take static TLS from the host, which may have none left. memb also wants each thread
 * registered by hand, and would clash with a host that does so; bp polls every 10 ms.
 * docs/notes/arc.md has the figures.
 *
 * Invariant: nobody waits for a grace period inside a section, takes a lock there, or allocates;
 * sections don't nest.
 * Source: the asymmetric barrier of abd_thread.h; McKenney, "Is Parallel Programming Hard", 9.5.
 */
#ifndef ABD_RCU_H
#define ABD_RCU_H

#include "abd_base.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct abd_rcu_thread {
	/* Written by the thread alone. */
	_Alignas(64) atomic_ulong section;
	bool enrolled;
	bool ended; /* its key's destructor has run: it can't enrol again */
	/* Under the lock. */
	bool is_guest;  /* inside a section that is counted with those of other threads */
	unsigned phase; /* in which counter */
	struct abd_rcu_thread **link, *next;
	unsigned long awaited; /* the section that a grace period waits for; 0: none */
};

extern _Thread_local struct abd_rcu_thread abd_rcu_self __attribute__((visibility("hidden")));

/** Prepare, which takes the system milliseconds once the process has threads. Any number of times.
 */
void abd_rcu_start(void);

/** Begin a section of a thread that is not enrolled: enrol, or count it under the lock. */
void abd_rcu_read_lock_slow(void);
void abd_rcu_read_unlock_slow(void);

/**
 * Begin a grace period for what is unlinked by now. Returns its number. It may begin only when the
 * one under way has passed, and somebody asks. Outside of sections. Threads: any.
 */
uint64_t abd_rcu_period_begin(void);
/** Whether it has passed. Never waits for readers. Outside of sections. Threads: any. */
bool abd_rcu_period_has_passed(uint64_t period);
/** Wait until it has passed. Outside of sections. Threads: any. */
void abd_rcu_period_wait(uint64_t period);
/** Wait until every section that had begun has ended. Outside of sections. Threads: any. */
void abd_rcu_synchronize(void);

/** Whether every grace period has a barrier in every thread, inside a section or not. */
bool abd_rcu_has_barrier(void);

/** membarrier(2). Tests put their own here; the first section of the process decides. */
extern int (*abd_rcu_membarrier)(int command) __attribute__((visibility("hidden")));

static inline void abd_rcu_step(struct abd_rcu_thread *self, memory_order order)
{
	unsigned long section = atomic_load_explicit(&self->section, memory_order_relaxed);

	atomic_store_explicit(&self->section, section + 1, order);
}

/**
 * The same for a caller who knows its own thread's: in a shared library, finding &abd_rcu_self is a
 * call.
 */
static inline void abd_rcu_read_lock_as(struct abd_rcu_thread *self)
{
	if (ABD_UNLIKELY(!self->enrolled)) {
		abd_rcu_read_lock_slow();
		return;
	}
	abd_rcu_step(self, memory_order_relaxed);
	/* the writer's membarrier(2) is the other half */
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void abd_rcu_read_unlock_as(struct abd_rcu_thread *self)
{
	if (ABD_UNLIKELY(!self->enrolled)) {
		abd_rcu_read_unlock_slow();
		return;
	}
	abd_rcu_step(self, memory_order_release);
}

static inline void abd_rcu_read_lock(void)
{
	abd_rcu_read_lock_as(&abd_rcu_self);
}

static inline void abd_rcu_read_unlock(void)
{
	abd_rcu_read_unlock_as(&abd_rcu_self);
}

/** For tests: whether this thread is inside a section. */
static inline bool abd_rcu_read_ongoing(void)
{
	const struct abd_rcu_thread *self = &abd_rcu_self;

	return self->is_guest ||
	       atomic_load_explicit(&self->section, memory_order_relaxed) % 2 != 0;
}

#endif
