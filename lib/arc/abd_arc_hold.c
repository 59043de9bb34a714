/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds that a slot does not have, finding what is leaving, and how much is held: abd_arc_hold.h.
 * OpenZFS: the reference count of struct arc_buf_hdr, which each hit changes.
 */
#include "abd_arc_hold.h"

/* How many slots a hold looks at before it is counted. */
#define ABD_ARC_SLOTS_LOOKED 4

void *abd_arc_hold_count(
	struct abd_arc *arc, struct abd_arc_thread *thread, struct abd_arc_entry *entry)
{
	uint32_t before = __atomic_fetch_add(
		abd_arc_entry_holds(entry), ABD_ARC_COUNT_HOLD, __ATOMIC_RELAXED);

	if (before < ABD_ARC_COUNT_HOLD)
		abd_arc_count_add(arc, thread, ABD_ARC_COUNT_COUNTED_BYTES, entry->item.cost);
	return (char *)entry + ABD_ARC_HOLD_COUNTED;
}

ABD_COLD void *abd_arc_hold_take_slow(
	struct abd_arc *arc, struct abd_arc_thread *thread, struct abd_arc_entry *entry)
{
	if (thread == NULL)
		return abd_arc_hold_count(arc, thread, entry);

	struct abd_arc_hold_slot *slot = thread->next_slot;

	for (unsigned i = 0; i < ABD_ARC_SLOTS_LOOKED; i++) {
		if (++slot == &thread->slot[ABD_ARC_SLOTS])
			slot = &thread->slot[ABD_ARC_SLOTS_READ];
		if (abd_arc_slot_is_free(slot)) {
			thread->next_slot = slot;
			return abd_arc_slot_fill(slot, arc, entry);
		}
	}
	thread->next_slot = slot;
	return abd_arc_hold_count(arc, thread, entry);
}

/* Count a hold less. Whether it was the last one, and the entry is pinned. */
static bool abd_arc_hold_was_last(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	int64_t cost = entry->item.cost;
	uint32_t before = __atomic_fetch_sub(
		abd_arc_entry_holds(entry), ABD_ARC_COUNT_HOLD, __ATOMIC_ACQ_REL);

	assert(before >= ABD_ARC_COUNT_HOLD);
	if (before < 2 * ABD_ARC_COUNT_HOLD)
		abd_arc_count_add(arc, abd_arc_thread_self, ABD_ARC_COUNT_COUNTED_BYTES, -cost);
	return (before & ~ABD_ARC_COUNT_KEPT) == (ABD_ARC_COUNT_HOLD | ABD_ARC_COUNT_PINNED);
}

void abd_arc_hold_uncount(struct abd_arc_entry *entry)
{
	struct abd_arc *arc = abd_arc_of_entry(entry);

	if (abd_arc_hold_was_last(arc, entry))
		abd_arc_reclaim_pinned(arc, entry);
}

/* End the count of a read that was left. Under the registry's lock. */
static void abd_arc_hold_forsake(struct abd_arc_entry *entry)
{
	struct abd_arc *arc = abd_arc_of_entry(entry);

	if (abd_arc_hold_was_last(arc, entry))
		abd_arc_reclaim_pinned_later(arc, entry);
}

/* ---- finding what is leaving ----------------------------------------------------------------- */

bool abd_arc_is_found(struct abd_arc_entry *entry)
{
	if (abd_arc_entry_is_pinned(entry))
		return abd_arc_entry_count(entry) >= ABD_ARC_COUNT_HOLD;
	return abd_arc_item_list(&entry->item) != ABD_ARC_NONE || abd_arc_entry_is_retired(entry);
}

struct abd_arc_entry *abd_arc_find(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_entry *entry = abd_arc_index_find_any(arc->index, hash, key);

	return entry != NULL && abd_arc_is_found(entry) ? entry : NULL;
}

/*
 * Count a hold of an entry that was found. The last release of a pinned entry decides to free it
 * before it takes the lock. So this hold may only be counted while another hold is counted.
 */
static void *abd_arc_hold_count_found(
	struct abd_arc *arc, struct abd_arc_thread *thread, struct abd_arc_entry *entry)
{
	uint32_t count = abd_arc_entry_count(entry);

	if (!abd_arc_entry_is_pinned(entry))
		return abd_arc_hold_count(arc, thread, entry);
	do {
		if (count < ABD_ARC_COUNT_HOLD)
			return NULL;
	} while (!__atomic_compare_exchange_n(abd_arc_entry_holds(entry), &count,
		count + ABD_ARC_COUNT_HOLD, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return (char *)entry + ABD_ARC_HOLD_COUNTED;
}

struct abd_arc_entry *abd_arc_hold_any(struct abd_arc *arc, struct abd_arc_thread *thread,
	uint64_t hash, const abd_arc_key_t *key, void **handle)
{
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_find(arc, hash, key);

	*handle = entry != NULL ? abd_arc_hold_count_found(arc, thread, entry) : NULL;
	pthread_mutex_unlock(&arc->lock);
	return *handle != NULL ? entry : NULL;
}

struct abd_arc_entry *abd_arc_hold_any_read(struct abd_arc *arc, struct abd_arc_thread *thread,
	uint64_t hash, const abd_arc_key_t *key, void **handle)
{
	struct abd_arc_entry *entry = abd_arc_hold_any(arc, thread, hash, key, handle);

	if (entry != NULL && thread != NULL && !abd_arc_thread_is_nested(thread)) {
		thread->forsake = abd_arc_hold_forsake;
		(void)abd_arc_slot_fill(&thread->counted, arc, entry);
		thread->reading |= ABD_ARC_READING_COUNTED;
	}
	return entry;
}

ABD_COLD void abd_arc_hold_uncount_read(struct abd_arc_thread *thread, struct abd_arc_entry *entry)
{
	if (thread != NULL && !abd_arc_thread_is_nested(thread)) {
		thread->counted.entry = NULL;
		thread->reading &= ~(unsigned)ABD_ARC_READING_COUNTED;
	}
	abd_arc_hold_uncount(entry);
}

/* ---- how much is held ------------------------------------------------------------------------ */

struct abd_arc_held_sum {
	const struct abd_arc *arc;
	size_t bytes;
};

static bool abd_arc_held_is_here(struct abd_arc_entry *entry, const struct abd_arc_held_sum *held)
{
	return abd_arc_of_entry(entry) == held->arc;
}

static void abd_arc_held_unmark(struct abd_arc_entry *entry, void *held)
{
	if (abd_arc_held_is_here(entry, held))
		abd_arc_item_mark(&entry->item, false);
}

/* What is counted is in a count of its own. */
static void abd_arc_held_add(struct abd_arc_entry *entry, void *arg)
{
	struct abd_arc_held_sum *held = arg;

	if (abd_arc_held_is_here(entry, held) && !abd_arc_item_mark(&entry->item, true) &&
		abd_arc_entry_count(entry) < ABD_ARC_COUNT_HOLD)
		held->bytes += entry->item.cost;
}

size_t abd_arc_held_bytes(struct abd_arc *arc)
{
	struct abd_arc_held_sum held = {arc, 0};
	int64_t count[ABD_ARC_COUNTS];

	abd_arc_thread_lock();
	pthread_mutex_lock(&arc->lock);
	abd_arc_thread_visit(abd_arc_held_unmark, &held);
	abd_arc_thread_visit(abd_arc_held_add, &held);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_thread_unlock();
	abd_arc_thread_counts(arc, count);
	/* The count may be below 0: other holds may have ended between a hold and its counting. */
	if (count[ABD_ARC_COUNT_COUNTED_BYTES] > 0)
		held.bytes += (size_t)count[ABD_ARC_COUNT_COUNTED_BYTES];
	return held.bytes;
}
