/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Magazines: per-thread stacks of free blocks of one size, in front of a source that is slower.
 * The source may be a lock and a search; taking from a magazine is a load and a decrement.
 *
 * Invariant: thread->room plus the sum over its magazines of count * size is thread_cache_bytes, as
 * it was at the last reap that the thread has followed; changing the tunable is a reap.
 * Bonwick and Adams, "Magazines and Vmem" (2001); in OpenZFS kmem caches play this part.
 */
#ifndef ABD_MAGAZINE_H
#define ABD_MAGAZINE_H

#include "abd_thread.h"

/**
 * Where blocks come from when a magazine is empty, and go when it is full. tag is the source's own
 * number.
 */
struct abd_source {
	void *(*alloc)(size_t size, unsigned tag); /* NULL: none */
	void (*free)(void *block, size_t size, unsigned tag);
};

#define ABD_MAGAZINE_SLOTS 512

struct abd_magazine {
	const struct abd_source *source;
	size_t size;
	unsigned tag;
	unsigned count;
	void *slot[ABD_MAGAZINE_SLOTS];
};

/** Rises at each reap; a thread that sees it has risen empties its magazines when it next frees. */
extern atomic_uint abd_magazine_epoch __attribute__((visibility("hidden")));

/** Begin with no magazines and all the room there is. */
void abd_magazine_start(struct abd_thread *thread);

/**
 * Empty this thread's magazines now (and the quarantine, where there is one), and every other's
 * when it frees next.
 */
void abd_magazine_reap(void);

/**
 * For when memory has run out: empty this thread's magazines, and others' when they free next.
 * False: this one's were empty.
 */
bool abd_magazine_relieve(void);

/** Give back to their sources all blocks in quarantine; nothing to do but in checked builds. */
void abd_quarantine_empty(void);

/** Empty all magazines of a thread that is the caller. */
void abd_magazine_flush_all(struct abd_thread *thread);

bool abd_magazine_put_slow(
	unsigned index, const struct abd_source *source, void *block, size_t size, unsigned tag);

#if ABD_CHECKED

/*
 * Checked builds: no block is used again soon. It is poisoned and waits in quarantine; see
 * abd_quarantine.c.
 */
void abd_quarantine_put(const struct abd_source *source, void *block, size_t size, unsigned tag);

/*
 * What lies behind the bytes asked for is poison while the block is used, and looked at when it is
 * freed.
 */
void abd_quarantine_guard(void *block, size_t used, size_t size);
void abd_quarantine_unguard(void *block, size_t used, size_t size);

static inline void *abd_magazine_get(
	unsigned index, const struct abd_source *source, size_t size, unsigned tag)
{
	(void)index;
	return source->alloc(size, tag);
}

static inline void abd_magazine_put(
	unsigned index, const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	(void)index;
	abd_quarantine_put(source, block, size, tag);
}

#else

static inline void abd_quarantine_guard(void *block, size_t used, size_t size)
{
	(void)block, (void)used, (void)size;
}

static inline void abd_quarantine_unguard(void *block, size_t used, size_t size)
{
	(void)block, (void)used, (void)size;
}

/** A block from magazine index of this thread, else from the source; NULL: none. */
static inline void *abd_magazine_get(
	unsigned index, const struct abd_source *source, size_t size, unsigned tag)
{
	struct abd_thread *thread = abd_thread_self();

	if (ABD_LIKELY(thread != NULL)) {
		struct abd_magazine *magazine = thread->magazine[index];

		if (ABD_LIKELY(magazine != NULL && magazine->count > 0)) {
			thread->room += size;
			return magazine->slot[--magazine->count];
		}
	}
	return source->alloc(size, tag);
}

/** Give a block back to magazine index of this thread, else to the source. */
static inline void abd_magazine_put(
	unsigned index, const struct abd_source *source, void *block, size_t size, unsigned tag)
{
	struct abd_thread *thread = abd_thread_current;

	if (ABD_LIKELY(thread != NULL)) {
		struct abd_magazine *magazine = thread->magazine[index];
		unsigned epoch = atomic_load_explicit(&abd_magazine_epoch, memory_order_relaxed);

		if (ABD_LIKELY(magazine != NULL && magazine->count < ABD_MAGAZINE_SLOTS &&
			       size <= thread->room && epoch == thread->reap_epoch)) {
			thread->room -= size;
			magazine->slot[magazine->count++] = block;
			return;
		}
	}
	if (!abd_magazine_put_slow(index, source, block, size, tag))
		source->free(block, size, tag);
}

#endif

#endif
