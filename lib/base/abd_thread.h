/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library keeps per thread: counters and magazines of free memory.
 * Invariant: only its own thread writes to a block; others read its counters under the list's lock.
 * A thread gets its block at its first call and gives it up when it ends. Without memory for one
 * everything still works, through the slow paths.
 */
#ifndef ABD_THREAD_H
#define ABD_THREAD_H

#include "abd_base.h"

#include <abd/stats.h>

#include <stdatomic.h>

#define ABD_COUNTER_COUNT (sizeof(struct abd_stats) / sizeof(uint64_t))

#define ABD_MAGAZINE_COUNT 96

struct abd_magazine;

struct abd_thread {
	_Atomic uint64_t counter[ABD_COUNTER_COUNT];
	size_t room;         /* bytes that its magazines may still take */
	unsigned reap_epoch; /* the reap that it has followed */
	struct abd_magazine *magazine[ABD_MAGAZINE_COUNT];
	struct abd_thread *next, **link;
};

/*
 * initial-exec: one load instead of a call; 8 bytes, for which the loader has room when the library
 * is opened late.
 */
extern _Thread_local struct abd_thread *abd_thread_current
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/** This thread's block, or NULL when there is no memory for one. */
struct abd_thread *abd_thread_start(void);

static inline struct abd_thread *abd_thread_self(void)
{
	struct abd_thread *thread = abd_thread_current;

	return ABD_LIKELY(thread != NULL) ? thread : abd_thread_start();
}

#endif
