/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the library keeps per thread: counters, and magazines of free memory.
 *
 * A thread gets its block at its first call and frees it when it ends: by the library's only key,
 * in the library's only list, with its only fork handler. What a thread uses in its last
 * destructors, when its key is no longer looked at, stays in the list; the next thread with its
 * identity takes it over. If there is no memory for a block, everything still works, through the
 * slow paths.
 *
 * Normally only its own thread writes to a block, and needs no locked instruction for that. But
 * another thread may visit the block, to take the magazines of a thread that sleeps:
 *
 *   owner                               visitor
 *   busy = 1                            barred = 1
 *   barred? busy = 0, wait              a barrier in every thread: membarrier(2)
 *   ... a few instructions ...          wait until busy == 0
 *   busy = 0                            ... visit ...
 *                                       barred = 0
 *
 * Invariant: a busy owner and a visitor never use a block at the same time. The side that sets its
 * flag later sees the other side's flag, because the system call orders the owner's store and load
 * too. A busy owner takes no lock and calls nothing, so visitors wait only briefly. Other threads
 * may read counters at any time, under the list's lock.
 * Source: Dekker's algorithm with an asymmetric barrier: Dice, Huang, Yang, "Asymmetric Dekker
 * Synchronization" (2001); liburcu uses membarrier(2) in the same way.
 */
#ifndef ABD_THREAD_H
#define ABD_THREAD_H

#include "abd_base.h"

#include <abd/stats.h>

#include <stdatomic.h>

/* The counters are the first fields of struct abd_stats. */
#define ABD_COUNTER_COUNT (offsetof(struct abd_stats, borrow_copy_bytes) / sizeof(uint64_t) + 1)

#define ABD_MAGAZINE_COUNT 104

/*
 * A thread looks at the clock once in so many frees: more rarely if it frees often, because reading
 * the clock would slow it down.
 */
#define ABD_THREAD_PUTS_MIN 8
#define ABD_THREAD_PUTS_MAX 256

/* Free blocks of one size: see abd_magazine.h. */
struct abd_magazine {
	uint32_t count;
	uint32_t capacity; /* of slot */
	/* count when the thread last looked for magazines that it does not use */
	uint32_t last_count;
	unsigned index; /* its place in the thread's magazine[] */
	const struct abd_source *source;
	size_t size;
	unsigned tag;
	struct abd_magazine *next; /* in a list of magazines taken out */
	void *slot[];
};

struct abd_thread {
	_Atomic uint64_t counter[ABD_COUNTER_COUNT];
	atomic_uint busy;
	atomic_uint barred;    /* ABD_THREAD_FREE and so on */
	uint32_t puts_left;    /* until the clock is looked at */
	uint32_t puts;         /* how many there are between two looks */
	uint64_t looked_ms;    /* when it was last looked at */
	atomic_ullong aged_ms; /* when this thread last looked for magazines that it does not use */
	atomic_size_t reserved; /* bytes that the magazines of this thread may hold together */
	unsigned evict_next;    /* the magazine that makes room next */
	struct abd_magazine *magazine[ABD_MAGAZINE_COUNT]; /* never NULL: &abd_thread_no_magazine */
	void *room; /* what lib/arc keeps for this thread; its ending() gives it back */
	pthread_t owner;
	struct abd_thread *next, **link;
};

enum {
	ABD_THREAD_FREE,
	ABD_THREAD_VISITED,
	/* without membarrier(2): the owner does the visitor's work itself */
	ABD_THREAD_ASKED,
};

/** A magazine without room. */
extern struct abd_magazine abd_thread_no_magazine __attribute__((visibility("hidden")));

/*
 * Not of model initial-exec, nor is anything in the library: that takes static TLS of the host,
 * which may have none left when dlopen() loads us. So in a shared library it is found by a call of
 * the loader; hence abd_thread_mine().
 */
extern _Thread_local struct abd_thread *abd_thread_current __attribute__((visibility("hidden")));

/* Layers above that keep something in the block, or locks that fork() must wait for. */
enum { ABD_THREAD_MEM, ABD_THREAD_ARC, ABD_THREAD_LAYERS };

/** A layer's calls. The higher layer is called first; after a fork() the lower one is. */
struct abd_thread_layer {
	void (*ending)(struct abd_thread *thread); /* before the thread's block is gone */
	void (*fork_begin)(void);                  /* take locks */
	void (*fork_end)(void);                    /* release them, in the parent */
	void (*fork_child)(void);                  /* in the child, which has no other thread */
};

/** Have these calls made for a layer, which must not have any yet. The struct is never freed. */
void abd_thread_layer_add(unsigned number, const struct abd_thread_layer *layer);

/** Make this thread's block; NULL: no memory. */
struct abd_thread *abd_thread_start(void);

/* Elsewhere the call is cheap (AArch64), or was not measured. */
#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 11)
#define ABD_THREAD_POINTER ((uintptr_t)__builtin_thread_pointer())

/*
 * Where a thread finds its block without that call: in the slot that its thread pointer selects, if
 * it was the first to come there. Stacks of 8 MiB and a guard page select slots in turn.
 * Invariant: owner is that of a living thread, which alone reads thread; or of one that left its
 * block behind; or 0.
 */
#define ABD_THREAD_SLOTS 256

struct abd_thread_slot {
	atomic_uintptr_t owner;
	_Atomic(struct abd_thread *) thread;
};

extern struct abd_thread_slot abd_thread_slots[ABD_THREAD_SLOTS]
	__attribute__((visibility("hidden")));

static inline struct abd_thread_slot *abd_thread_slot(uintptr_t pointer)
{
	return &abd_thread_slots[(pointer >> 12) % ABD_THREAD_SLOTS];
}

/**
 * This thread's block; NULL: it has none yet, or another thread has its slot. No call in any case:
 * a function that may call has to save registers first, which costs as much as the call.
 */
static inline struct abd_thread *abd_thread_mine(void)
{
	const struct abd_thread_slot *slot = abd_thread_slot(ABD_THREAD_POINTER);

	if (ABD_UNLIKELY(
		    atomic_load_explicit(&slot->owner, memory_order_relaxed) != ABD_THREAD_POINTER))
		return NULL;

	struct abd_thread *thread = atomic_load_explicit(&slot->thread, memory_order_relaxed);

	if (thread == NULL)
		__builtin_unreachable(); /* it was stored before the owner */
	return thread;
}

#else

static inline struct abd_thread *abd_thread_mine(void)
{
	return abd_thread_current;
}

#endif

/** This thread's block, found by the call and made if need be; NULL: no memory. */
static inline struct abd_thread *abd_thread_self(void)
{
	struct abd_thread *thread = abd_thread_current;

	return ABD_LIKELY(thread != NULL) ? thread : abd_thread_start();
}

static inline void abd_thread_leave(struct abd_thread *thread)
{
	atomic_store_explicit(&thread->busy, 0, memory_order_release);
}

/**
 * Begin to use this thread's magazines. False: another thread visits; abd_thread_enter_slow()
 * waits.
 */
static inline bool abd_thread_enter(struct abd_thread *thread)
{
	atomic_store_explicit(&thread->busy, 1, memory_order_relaxed);
	/* the visitor's membarrier(2) is the other half */
	atomic_signal_fence(memory_order_seq_cst);
	if (ABD_LIKELY(
		    atomic_load_explicit(&thread->barred, memory_order_acquire) == ABD_THREAD_FREE))
		return true;
	abd_thread_leave(thread);
	return false;
}

/**
 * The same, but wait for visitors. False: another thread asked this one to do a visitor's work. The
 * thread has entered all the same, and the request is cleared.
 */
bool abd_thread_enter_slow(struct abd_thread *thread);

/** Add delta to a counter of a thread that may have no block yet, or no slot. */
void abd_thread_counter_add(size_t counter, uint64_t delta);
/** Sum all threads, ended ones included, into sum[0, ABD_COUNTER_COUNT). Threads: any. */
void abd_thread_counters_sum(uint64_t *sum);

/** How many threads have a block. */
unsigned abd_thread_count(void);

/**
 * Visit every other thread for which wanted() returns true. If the system has no membarrier(2), ask
 * those threads to do the work themselves. visit() must not call the library. Threads: any; one
 * visit at a time.
 */
void abd_thread_visit(bool (*wanted)(const struct abd_thread *thread, void *arg),
	void (*visit)(struct abd_thread *thread, void *arg), void *arg);

/** Whether this system lets threads visit each other. Tests set it, to do without visits. */
extern atomic_int abd_thread_visits __attribute__((visibility("hidden")));
enum { ABD_THREAD_VISITS_UNKNOWN, ABD_THREAD_VISITS_WORK, ABD_THREAD_VISITS_FAIL };

#endif
