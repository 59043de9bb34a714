/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters: one set per thread, summed when asked for, so that counting touches no shared cache
 * line.
 * Invariant: a counter's value is the sum over living threads plus abd_counter_ended (threads that
 * ended). A gauge may be raised by one thread and lowered by another: only the sum, modulo 2^64,
 * means anything.
 */
#ifndef ABD_COUNTER_H
#define ABD_COUNTER_H

#include "abd_thread.h"

/* A counter's number is the place of its field in struct abd_stats. */
#define ABD_COUNTER(field) (offsetof(struct abd_stats, field) / sizeof(uint64_t))

/** Sum all threads into sum[0, ABD_COUNTER_COUNT). Threads: any. */
void abd_counter_sum(uint64_t *sum);

void abd_counter_add_slow(size_t counter, uint64_t delta);

/**
 * Add delta to a counter; a gauge is lowered by adding -(uint64_t)amount. Threads: any. Never
 * fails.
 */
static inline void abd_counter_add(size_t counter, uint64_t delta)
{
	struct abd_thread *thread = abd_thread_current;

	if (ABD_UNLIKELY(thread == NULL)) {
		abd_counter_add_slow(counter, delta);
		return;
	}

	/* Only this thread writes; others only sum. So no locked instruction is needed. */
	uint64_t value = atomic_load_explicit(&thread->counter[counter], memory_order_relaxed);

	atomic_store_explicit(&thread->counter[counter], value + delta, memory_order_relaxed);
}

#endif
