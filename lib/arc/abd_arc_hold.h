/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds: what keeps a record's memory while somebody reads it. A read is a hold that ends with the
 * call.
 *
 * A hold is one of two kinds. Most are a slot of the thread's own block (abd_arc_thread.h): noted
 * inside the section that found the entry in the index, and ended by clearing the slot. Neither
 * needs a locked instruction. When the slots near the last free one are taken, a hold is counted in
 * the entry. So are holds of what is held already (abd_arc_hold_dup()), and of what is found under
 * the lock although it was evicted.
 *
 *   retired --grace period, look--> in a slot: kept; who clears the slot looks again
 *                                   counted:   pinned; the last of those holds frees it
 *                                   neither:   freed
 *
 * A look (abd_arc_reclaim.c) marks the entries of one shard that wait for it and that some slot
 * holds. That takes the time of all threads' slots, whatever is held beyond them. Then, under the
 * lock, those that are not marked are freed, or pinned if they are counted.
 *
 * Why that is right: after the grace period no section can see the entry. So no slot will hold it
 * that does not hold it now, and every hold in a slot that was noted before is seen. A hold may
 * move from a slot to the count: it is counted before the slot is cleared, so who sees the slot
 * clear sees the count. Under the lock an entry is found only until that decision.
 *
 * The count: bit 0 says that the entry is pinned, bit 1 that it was kept; holds count in fours. Who
 * brings the holds of a pinned entry down to none frees it; nobody finds it any more. Who releases
 * a slot and does not see yet that the entry is kept leaves it to the next look.
 *
 * While a thread has the registry's lock, it may look into what a slot holds: that is not freed
 * before a look has found the slot clear, and a look takes that lock.
 */
#ifndef ABD_ARC_HOLD_H
#define ABD_ARC_HOLD_H

#include "abd_arc_reclaim.h"
#include "abd_arc_thread.h"

/** What abd_arc_hold_t.entry is: a slot; or an entry that counts the hold, and then bit 0 is set.
 */
#define ABD_ARC_HOLD_COUNTED ((uintptr_t)1)

static inline bool abd_arc_handle_is_counted(const void *handle)
{
	return ((uintptr_t)handle & ABD_ARC_HOLD_COUNTED) != 0;
}

/** The entry that is held. */
static inline struct abd_arc_entry *abd_arc_handle_entry(const void *handle)
{
	const struct abd_arc_hold_slot *slot = handle;

	if (ABD_UNLIKELY(abd_arc_handle_is_counted(handle)))
		return (struct abd_arc_entry *)((uintptr_t)handle - ABD_ARC_HOLD_COUNTED);
	return atomic_load_explicit(&slot->entry, memory_order_relaxed);
}

/** The entry of a hold that is not empty. */
static inline struct abd_arc_entry *abd_arc_held_entry(const abd_arc_hold_t *hold)
{
	return abd_arc_handle_entry(hold->entry);
}

/** The shard of the entry that is held. */
static inline struct abd_arc *abd_arc_handle_arc(const void *handle)
{
	const struct abd_arc_hold_slot *slot = handle;

	if (ABD_UNLIKELY(abd_arc_handle_is_counted(handle)))
		return abd_arc_of_entry(abd_arc_handle_entry(handle));
	return slot->arc;
}

/**
 * Count a hold: inside the section that found the entry, under the lock, or of an entry that is
 * held.
 */
void *abd_arc_hold_count(
	struct abd_arc *arc, struct abd_arc_thread *thread, struct abd_arc_entry *entry);
/** The same, but look for a slot first. */
void *abd_arc_hold_take_slow(
	struct abd_arc *arc, struct abd_arc_thread *thread, struct abd_arc_entry *entry);
/** End a counted hold. Outside of sections and locks. */
void abd_arc_hold_uncount(struct abd_arc_entry *entry);

/** Note an entry in a free slot of this thread. */
static inline void *abd_arc_slot_fill(
	struct abd_arc_hold_slot *slot, struct abd_arc *arc, struct abd_arc_entry *entry)
{
	__atomic_store_n(&slot->arc, arc, __ATOMIC_RELAXED);
	atomic_store_explicit(&slot->entry, entry, memory_order_release);
	return slot;
}

static inline bool abd_arc_slot_is_free(struct abd_arc_hold_slot *slot)
{
	return atomic_load_explicit(&slot->entry, memory_order_acquire) == NULL;
}

/**
 * Hold an entry, inside the section that found it, or under the lock while it is in a list of the
 * policy. Allocates nothing, and takes no lock. Returns the handle. thread may be NULL.
 */
static inline void *abd_arc_hold_take(
	struct abd_arc *arc, struct abd_arc_thread *thread, struct abd_arc_entry *entry)
{
	if (ABD_LIKELY(thread != NULL && abd_arc_slot_is_free(thread->next_slot)))
		return abd_arc_slot_fill(thread->next_slot, arc, entry);
	return abd_arc_hold_take_slow(arc, thread, entry);
}

/** End a hold. Outside of sections and locks. */
static inline void abd_arc_hold_end(void *handle, struct abd_arc_entry *entry)
{
	struct abd_arc_hold_slot *slot = handle;

	if (ABD_UNLIKELY(abd_arc_handle_is_counted(handle))) {
		abd_arc_hold_uncount(entry);
	} else if (ABD_UNLIKELY((abd_arc_entry_count(entry) & ABD_ARC_COUNT_KEPT) != 0)) {
		struct abd_arc *arc = slot->arc;

		atomic_store_explicit(&slot->entry, NULL, memory_order_release);
		abd_arc_reclaim_kept(arc);
	} else {
		atomic_store_explicit(&slot->entry, NULL, memory_order_release);
	}
}

/**
 * Find the entry of key, leaving or not, and hold it. NULL: there is none. Outside of sections and
 * locks. The second for a read, which abd_arc_hold_end_read() ends; thread may be NULL.
 */
struct abd_arc_entry *abd_arc_hold_any(struct abd_arc *arc, struct abd_arc_thread *thread,
	uint64_t hash, const abd_arc_key_t *key, void **handle);
struct abd_arc_entry *abd_arc_hold_any_read(struct abd_arc *arc, struct abd_arc_thread *thread,
	uint64_t hash, const abd_arc_key_t *key, void **handle);
void abd_arc_hold_uncount_read(struct abd_arc_thread *thread, struct abd_arc_entry *entry);
static inline void abd_arc_hold_end_read(
	struct abd_arc_thread *thread, void *handle, struct abd_arc_entry *entry)
{
	if (ABD_UNLIKELY(abd_arc_handle_is_counted(handle)))
		abd_arc_hold_uncount_read(thread, entry);
	else
		abd_arc_hold_end(handle, entry);
}

/**
 * Whether an entry of the index, leaving or not, is found by its key. If not, its buffer may have
 * been freed already. Under lock.
 */
bool abd_arc_is_found(struct abd_arc_entry *entry);
/** The entry that is found by this key, or NULL. Under lock. */
struct abd_arc_entry *abd_arc_find(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key);

/** What held entries cost, in bytes. Outside of locks. */
size_t abd_arc_held_bytes(struct abd_arc *arc);

#endif
