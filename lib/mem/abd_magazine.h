/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Magazines: per-thread stacks of free blocks of one size. Behind them is the depot, which all
 * threads share, and behind the depot a slower source. Taking a block from a magazine is a load and
 * a decrement.
 *
 * Invariant: the room of a thread's magazines (capacity * size of each) is at most its share: the
 * tunable thread_cache_bytes, and no more than what half of reserve_bytes gives each thread. If a
 * new magazine does not fit, others are emptied and freed; those of sizes in use are soon made
 * again.
 * Source: Bonwick and Adams, "Magazines and Vmem" (2001). OpenZFS has kmem caches for this.
 */
#ifndef ABD_MAGAZINE_H
#define ABD_MAGAZINE_H

#include "abd_quarantine.h"
#include "abd_source.h"
#include "abd_thread.h"
#include "abd_tunable.h"

#include <sys/uio.h>

/** thread_cache_bytes, reserve_bytes, reserve_ms. */
extern const struct abd_tunables abd_magazine_tunables;

/**
 * Give back to their sources the blocks of all magazines of all threads, of the depot, and of the
 * quarantine if there is one.
 */
void abd_magazine_reap(void);

/**
 * A source has refused: give back the free blocks of one group (tag >> 8) that are kept from it.
 * First those of this thread and of the depot; only if there are none, those of other threads.
 * Visits to other threads take at most a twentieth of the time, or a visit every 10 ms if one takes
 * longer than 0.5 ms. False: nothing was found.
 */
bool abd_magazine_relieve(const struct abd_source *source, unsigned group);

void *abd_magazine_get_slow(
	unsigned index, const struct abd_source *source, size_t size, unsigned tag);
void abd_magazine_put_slow(
	unsigned index, const struct abd_source *source, void *block, size_t size, unsigned tag);

/**
 * This thread's block, if its magazines are at hand. NULL: the slow way; in checked builds always,
 * which keep nothing in reserve but what is in quarantine. cppcheck knows NULL from here, and not
 * what __builtin_expect() says of it.
 */
static inline struct abd_thread *abd_magazine_thread(void)
{
	return ABD_CHECKED ? NULL : abd_thread_mine();
}

/** A block from magazine index of a thread, which is the calling one; NULL: it has none. */
static inline void *abd_magazine_get_own(struct abd_thread *thread, unsigned index)
{
	void *block = NULL;

	if (ABD_UNLIKELY(!abd_thread_enter(thread)))
		return NULL;

	/* cppcheck-suppress nullPointer */
	struct abd_magazine *magazine = thread->magazine[index];

	if (ABD_LIKELY(magazine->count > 0))
		block = magazine->slot[--magazine->count];
	abd_thread_leave(thread);
	return block;
}

/**
 * Give a block back to magazine index of the calling thread; false: it has no room. The caller
 * counts it in puts_left.
 */
static inline bool abd_magazine_put_own(struct abd_thread *thread, unsigned index, void *block)
{
	if (ABD_UNLIKELY(!abd_thread_enter(thread)))
		return false;

	struct abd_magazine *magazine = thread->magazine[index];
	bool room = magazine->count < magazine->capacity;

	if (ABD_LIKELY(room))
		magazine->slot[magazine->count++] = block;
	abd_thread_leave(thread);
	return room;
}

/** A block from magazine index of this thread, else from the depot or the source; NULL: none. */
static inline void *abd_magazine_get(
	unsigned index, const struct abd_source *source, size_t size, unsigned tag)
{
	struct abd_thread *thread = abd_magazine_thread();
	void *block = ABD_LIKELY(thread != NULL) ? abd_magazine_get_own(thread, index) : NULL;

	return ABD_LIKELY(block != NULL) ? block : abd_magazine_get_slow(index, source, size, tag);
}

/** Give a block back to magazine index of this thread, else to the depot or the source. */
static inline void abd_magazine_put(
	unsigned index, const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	struct abd_thread *thread = abd_magazine_thread();

	/* cppcheck-suppress nullPointer */
	if (ABD_UNLIKELY(thread == NULL) || ABD_UNLIKELY(--thread->puts_left == 0) ||
		ABD_UNLIKELY(!abd_magazine_put_own(thread, index, block)))
		abd_magazine_put_slow(index, source, block, size, tag);
}

/**
 * A block from each of two different magazines of this thread: what a buffer needs, for the price
 * of entering once. Returns this thread; NULL: they don't both have one, and nothing was taken.
 */
static inline struct abd_thread *abd_magazine_get_pair(
	unsigned first, unsigned second, void **first_block, void **second_block)
{
	struct abd_thread *thread = abd_magazine_thread();

	if (ABD_UNLIKELY(thread == NULL) || ABD_UNLIKELY(!abd_thread_enter(thread)))
		return NULL;

	struct abd_magazine *a = thread->magazine[first], *b = thread->magazine[second];
	bool both = a->count > 0 && b->count > 0;

	if (ABD_LIKELY(both)) {
		*first_block = a->slot[--a->count];
		*second_block = b->slot[--b->count];
	}
	abd_thread_leave(thread);
	return both ? thread : NULL;
}

/** The same for giving back. NULL: they don't both have room, and nothing was given. */
static inline struct abd_thread *abd_magazine_put_pair(
	unsigned first, unsigned second, void *first_block, void *second_block)
{
	struct abd_thread *thread = abd_magazine_thread();

	/* The last free before a look at the clock goes the slow way, where the count begins again.
	 */
	/* cppcheck-suppress nullPointer */
	if (ABD_UNLIKELY(thread == NULL) || ABD_UNLIKELY(thread->puts_left <= 1) ||
		ABD_UNLIKELY(!abd_thread_enter(thread)))
		return NULL;

	struct abd_magazine *a = thread->magazine[first], *b = thread->magazine[second];
	bool both = a->count < a->capacity && b->count < b->capacity;

	if (ABD_LIKELY(both)) {
		a->slot[a->count++] = first_block;
		b->slot[b->count++] = second_block;
		thread->puts_left--;
	}
	abd_thread_leave(thread);
	return both ? thread : NULL;
}

/** Fill blocks[0, count) as far as this thread's magazine has blocks. Returns how many. */
static inline size_t abd_magazine_get_many(
	unsigned index, struct iovec *blocks, size_t count, size_t size)
{
	struct abd_thread *thread = abd_magazine_thread();

	if (ABD_UNLIKELY(thread == NULL) || ABD_UNLIKELY(!abd_thread_enter(thread)))
		return 0;

	struct abd_magazine *magazine = thread->magazine[index];
	void **end = magazine->slot + magazine->count;

	count = abd_min(count, magazine->count);
	if (count > 0) /* all threads share the magazine without room, so never write to it */
		magazine->count -= (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		blocks[i] = (struct iovec){*--end, size};
	abd_thread_leave(thread);
	return count;
}

/**
 * Give back as many of blocks[0, count) as this thread's magazine has room for. Returns how many.
 */
static inline size_t abd_magazine_put_many(unsigned index, const struct iovec *blocks, size_t count)
{
	struct abd_thread *thread = abd_magazine_thread();

	if (ABD_UNLIKELY(thread == NULL) || ABD_UNLIKELY(!abd_thread_enter(thread)))
		return 0;

	struct abd_magazine *magazine = thread->magazine[index];
	void **end = magazine->slot + magazine->count;

	count = abd_min(count, magazine->capacity - magazine->count);
	for (size_t i = 0; i < count; i++)
		end[i] = blocks[i].iov_base;
	/* A child of fork() has what is counted: so count what is there. */
	atomic_signal_fence(memory_order_release);
	if (count > 0)
		magazine->count += (uint32_t)count;
	abd_thread_leave(thread);
	return count;
}

#endif
