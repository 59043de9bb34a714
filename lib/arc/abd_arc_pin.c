/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is held stays. Of the entries that no section can see any more, those that somebody holds
 * are pinned: all slots that hold them are counted, and the last of their releases frees them.
 *
 * Whoever finds that a grace period has passed looks at all slots that are not settled:
 *
 *   free --hold--> held --the same in two looks, or evicted--> counted --the next look--> settled
 *    ^  ^           |                                           |                           |
 *    |  +--release--+                                           +--release: clear, and wake--+
 *    +------------------------the next look: uncount--------------------------------------+
 *
 * Invariants: an entry's abd_holds is the number of slots whose counted it is, and it is not freed
 * before that is 0. A block that is not in unsettled is not its thread's cursor, and each of its
 * slots holds what counts it, or neither, unless it was woken or is just about to be.
 */
#include "abd_arc_impl.h"

/* So many blocks are counted at a look, at most: their entries are rarely in the CPU's cache. */
#define ABD_ARC_COUNT_BLOCKS 64
/* And so many of which only a release has to be noted: they may wait for the next look. */
#define ABD_ARC_RELEASED_BLOCKS 256
/* Releases of what was evicted give memory back to the system when they have freed so much. */
#define ABD_ARC_LOOSE ((size_t)1 << 20)

static uint32_t *abd_arc_holds(struct abd_arc_entry *entry)
{
	return &entry->own.abd_u.abd_linear.abd_holds;
}

static void abd_arc_pinned_count(struct abd_arc *arc, const struct abd_arc_entry *entry, bool more)
{
	size_t bytes = abd_arc_entry_bytes(arc, entry);

	arc->pinned_bytes = more ? arc->pinned_bytes + bytes : arc->pinned_bytes - bytes;
	arc->pinned_count = more ? arc->pinned_count + 1 : arc->pinned_count - 1;
}

static void abd_arc_pin_entry(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	atomic_store_explicit(&entry->item.stamp, ABD_ARC_STAMP_OWNER, memory_order_relaxed);
	arc->counted -= *abd_arc_holds(entry);
	abd_arc_link_pull(&entry->item.link);
	abd_arc_link_push(&arc->pinned, &entry->item.link);
	abd_arc_pinned_count(arc, entry, true);
	abd_arc_store_keep(&arc->store, entry);
}

static void abd_arc_slot_count(
	struct abd_arc *arc, struct abd_arc_hold_slot *slot, struct abd_arc_entry *entry)
{
	atomic_store_explicit(&slot->counted, entry, memory_order_relaxed);
	(*abd_arc_holds(entry))++;
	arc->counted += !abd_arc_entry_is_pinned(entry);
}

static void abd_arc_unsettle(struct abd_arc *arc, struct abd_arc_hold_block *block)
{
	if (block->link.next == NULL)
		abd_arc_link_push(&arc->unsettled, &block->link);
}

/*
 * A slot no longer holds the entry that counts it. If that is pinned, and this was its last hold:
 * into freed. It has no list then: abd_arc_store_live() must not find it.
 */
static void abd_arc_slot_forget(
	struct abd_arc *arc, struct abd_arc_hold_slot *slot, struct abd_arc_link *freed)
{
	struct abd_arc_entry *entry = atomic_load_explicit(&slot->counted, memory_order_relaxed);
	struct abd_arc_hold_block *block = slot->block;

	abd_arc_unsettle(arc, block);
	atomic_store_explicit(&slot->counted, NULL, memory_order_relaxed);
	(*abd_arc_holds(entry))--;
	if (!abd_arc_entry_is_pinned(entry)) {
		arc->counted--;
	} else if (*abd_arc_holds(entry) == 0) {
		abd_arc_pinned_count(arc, entry, false);
		abd_arc_link_pull(&entry->item.link);
		atomic_store_explicit(&entry->item.stamp, 0, memory_order_relaxed);
		abd_arc_link_push(freed, &entry->item.link);
	}
}

/* Whether all slots were looked at since the grace period that this retired entry waited for. */
static bool abd_arc_is_looked_at(const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	uint64_t stamp = atomic_load_explicit(&entry->item.stamp, memory_order_relaxed);

	return (stamp - ABD_ARC_STAMP_RETIRED) / 2 < arc->looked;
}

/* Whether an entry that is held has waited for this look. The bits save fetching most of them. */
static bool abd_arc_has_waited(const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	size_t bit = abd_arc_bit(entry);

	return (arc->waiting_bits[bit / 64] >> bit % 64 & 1) != 0 &&
	       abd_arc_entry_is_retired(entry);
}

/* Count what a block holds, which has not changed for a while. */
static void abd_arc_block_count(struct abd_arc *arc, struct abd_arc_hold_block *block)
{
	struct abd_arc_entry *entry[ABD_ARC_HOLDS];

	for (unsigned i = 0; i < ABD_ARC_HOLDS; i++) {
		entry[i] = atomic_load_explicit(&block->slot[i].entry, memory_order_acquire);
		if (entry[i] != NULL)
			__builtin_prefetch(abd_arc_holds(entry[i]), 1);
	}
	for (unsigned i = 0; i < ABD_ARC_HOLDS; i++) {
		struct abd_arc_hold_slot *slot = &block->slot[i];

		if (entry[i] != NULL &&
			atomic_load_explicit(&slot->counted, memory_order_relaxed) == NULL)
			abd_arc_slot_count(arc, slot, entry[i]);
	}
}

struct abd_arc_look {
	struct abd_arc_link *freed;
	bool waited;     /* a grace period has passed since the last look */
	unsigned counts; /* so many more blocks may be counted */
};

static void abd_arc_look_at(
	struct abd_arc *arc, struct abd_arc_hold_block *block, struct abd_arc_look *look)
{
	const struct abd_arc_hold_block *cursor =
		atomic_load_explicit(&block->reader->cursor, memory_order_acquire);
	bool is_counted = true;
	uintptr_t held = 0;

	for (unsigned i = 0; i < ABD_ARC_HOLDS; i++) {
		struct abd_arc_hold_slot *slot = &block->slot[i];
		struct abd_arc_entry *entry =
			atomic_load_explicit(&slot->entry, memory_order_acquire);
		struct abd_arc_entry *counted =
			atomic_load_explicit(&slot->counted, memory_order_relaxed);

		held += (uintptr_t)entry;
		if (entry == counted)
			continue;
		is_counted = false;
		/* Its release did not see that it was counted. */
		if (counted != NULL)
			abd_arc_slot_forget(arc, slot, look->freed);
		if (entry != NULL && abd_arc_has_waited(arc, entry))
			abd_arc_slot_count(arc, slot, entry);
	}
	if (block == cursor)
		return;
	if (is_counted && look->waited) {
		abd_arc_link_pull(&block->link);
		block->link.next = NULL;
	} else if (!is_counted && held == block->held && look->counts > 0) {
		abd_arc_block_count(arc, block);
		look->counts--;
	}
	block->held = held;
}

/* Unsettle blocks that were woken, so many at most. The others are asleep no more, but wait. */
static void abd_arc_unsettle_woken(struct abd_arc *arc, enum abd_arc_waker waker, size_t most)
{
	struct abd_arc_hold_block *block = arc->awake[waker];

	if (block == NULL)
		block = atomic_exchange(&arc->woken[waker], NULL);
	for (; block != NULL && most > 0; most--) {
		struct abd_arc_hold_block *next = block->wake[waker].next;

		/* Whoever wakes it once more, and was too early to do so, is seen by this look. */
		(void)atomic_exchange(&block->wake[waker].is_woken, false);
		abd_arc_unsettle(arc, block);
		block = next;
	}
	arc->awake[waker] = block;
}

void abd_arc_pin(struct abd_arc *arc, uint64_t end, bool waited, struct abd_arc_link *freed)
{
	struct abd_arc_look look = {freed, waited && abd_rcu_has_barrier(), ABD_ARC_COUNT_BLOCKS};
	struct abd_arc_link *link, *next;
	size_t slots = 0;

	abd_arc_unsettle_woken(arc, ABD_ARC_WAKER_FILLS, SIZE_MAX);
	abd_arc_unsettle_woken(arc, ABD_ARC_WAKER_RELEASES, ABD_ARC_RELEASED_BLOCKS);
	for (link = arc->unsettled.next; link != &arc->unsettled; link = next) {
		next = link->next;
		abd_arc_look_at(arc, abd_arc_hold_block_of(link), &look);
		slots += ABD_ARC_HOLDS;
	}
	arc->slots_looked = slots;
	arc->looked = end;
	if (arc->counted == 0)
		return;
	for (link = arc->waiting.next; link != &arc->waiting; link = next) {
		struct abd_arc_entry *entry = abd_arc_entry_of((struct abd_arc_item *)(void *)link);

		next = link->next;
		if (*abd_arc_holds(entry) > 0)
			abd_arc_pin_entry(arc, entry);
	}
}

bool abd_arc_is_found(struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	if (abd_arc_item_list(&entry->item) != ABD_ARC_NONE || abd_arc_entry_is_pinned(entry))
		return true;
	if (!abd_arc_entry_is_retired(entry) || abd_arc_is_looked_at(arc, entry))
		return false;
	return arc->hit_batch > 1 || abd_arc_reader_is_held(arc, entry);
}

struct abd_arc_entry *abd_arc_find(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_entry *entry = abd_arc_index_find_any(arc->index, hash, key);

	return entry != NULL && abd_arc_is_found(arc, entry) ? entry : NULL;
}

/* The last holds of these were released: free them, but first tell of them. */
static void abd_arc_free_released(struct abd_arc *arc, struct abd_arc_link *freed)
{
	if (freed->next == freed)
		return;
	if (ABD_LIKELY(arc->evicted_cb == NULL)) {
		abd_arc_free_list(arc, freed);
		abd_arc_free_end(arc, ABD_ARC_LOOSE);
		return;
	}
	abd_arc_untold_add(arc, freed);
	abd_arc_tell(arc);
}

/* Note a hold in a slot. What was the last of the slot's holds before: into freed. Under lock. */
static void abd_arc_slot_hold(struct abd_arc *arc, struct abd_arc_hold_slot *slot,
	struct abd_arc_entry *entry, struct abd_arc_link *freed)
{
	const struct abd_arc_entry *counted =
		atomic_load_explicit(&slot->counted, memory_order_relaxed);

	atomic_store_explicit(&slot->entry, entry, memory_order_release);
	/* The slot's last release may not have seen that it was counted. */
	if (counted != NULL && counted != entry)
		abd_arc_slot_forget(arc, slot, freed);
	/* What is not pinned yet is left to the next look, and its release needs no lock. */
	if (counted != entry && abd_arc_entry_is_pinned(entry))
		abd_arc_slot_count(arc, slot, entry);
}

/* Under lock, because a look might see this slot before, and the other one after its release. */
void abd_arc_hold_again(
	struct abd_arc *arc, struct abd_arc_hold_slot *slot, struct abd_arc_entry *entry)
{
	struct abd_arc_link freed = {&freed, &freed};

	pthread_mutex_lock(&arc->lock);
	abd_arc_slot_hold(arc, slot, entry, &freed);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_free_released(arc, &freed);
}

struct abd_arc_entry *abd_arc_hold_any(struct abd_arc *arc, struct abd_arc_hold_slot *slot,
	uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_link freed = {&freed, &freed};

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_find(arc, hash, key);
	if (entry != NULL)
		abd_arc_slot_hold(arc, slot, entry, &freed);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_free_released(arc, &freed);
	return entry;
}

void abd_arc_slot_uncount(struct abd_arc_hold_slot *slot)
{
	struct abd_arc_link freed = {&freed, &freed};
	struct abd_arc *arc = slot->block->reader->arc;

	pthread_mutex_lock(&arc->lock);
	const struct abd_arc_entry *counted =
		atomic_load_explicit(&slot->counted, memory_order_relaxed);

	/* Unless a look was first. The slot may have been filled again since then. */
	if (counted != NULL && counted != atomic_load_explicit(&slot->entry, memory_order_relaxed))
		abd_arc_slot_forget(arc, slot, &freed);
	pthread_mutex_unlock(&arc->lock);
	abd_arc_free_released(arc, &freed);
}

void abd_arc_slot_release_counted(struct abd_arc_hold_slot *slot)
{
	const struct abd_arc_entry *entry =
		atomic_load_explicit(&slot->entry, memory_order_relaxed);
	/* Looked at while it is held: afterwards another thread may free it. */
	bool is_pinned = abd_arc_entry_is_pinned(entry);

	atomic_store_explicit(&slot->entry, NULL, memory_order_release);
	if (is_pinned)
		abd_arc_slot_uncount(slot);
	else
		abd_arc_hold_block_wake(slot->block, ABD_ARC_WAKER_RELEASES);
}
