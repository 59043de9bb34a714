/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters: one set per thread, summed on request, so that counting writes to no shared cache line.
 * Invariant: a counter's value is the sum over living threads and those that have ended
 * (abd_thread_counters_sum()). A gauge may be raised by one thread and lowered by another: only the
 * sum, modulo 2^64, means anything.
 */
#ifndef ABD_COUNTER_H
#define ABD_COUNTER_H

#include "abd_thread.h"

/* A counter's number is the place of its field in struct abd_stats. */
#define ABD_COUNTER(field) (offsetof(struct abd_stats, field) / sizeof(uint64_t))

/*
 * abd_counter_add() for a caller that has its own thread's block at hand. Only this thread writes;
 * other threads only read. So no locked instruction is needed.
 */
#if defined(__x86_64__) && defined(__LP64__)

/* One instruction, where compilers make three of an atomic load and store. */
static inline void abd_counter_add_to(struct abd_thread *thread, size_t counter, uint64_t delta)
{
	__asm__("addq %1, %0" : "+m"(thread->counter[counter]) : "er"(delta) : "cc");
}

#else

static inline void abd_counter_add_to(struct abd_thread *thread, size_t counter, uint64_t delta)
{
	uint64_t value = atomic_load_explicit(&thread->counter[counter], memory_order_relaxed);

	atomic_store_explicit(&thread->counter[counter], value + delta, memory_order_relaxed);
}

#endif

/**
 * Add delta to a counter; a gauge is lowered by adding -(uint64_t)amount. Threads: any. Never
 * fails.
 */
static inline void abd_counter_add(size_t counter, uint64_t delta)
{
	struct abd_thread *thread = abd_thread_mine();

	if (ABD_LIKELY(thread != NULL))
		abd_counter_add_to(thread, counter, delta);
	else
		abd_thread_counter_add(counter, delta);
}

#endif
