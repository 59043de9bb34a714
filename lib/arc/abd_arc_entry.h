/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An entry: a record in the cache, with its key and its place in the policy. The index points to
 * it. The stored record lies behind it, in the same slot of the store, unless it is too large.
 * abd_arc_impl.h describes its life.
 */
#ifndef ABD_ARC_ENTRY_H
#define ABD_ARC_ENTRY_H

#include "abd_arc_hash.h"
#include "abd_arc_policy.h"

#include <abd/arc.h>

#include <assert.h>

/**
 * A record. From when it is in the index until it is freed, only item's link and stamp change.
 */
struct abd_arc_entry {
	abd_arc_key_t key; /* first: the index compares it */
	/*
	 * cost: bytes of the slot, and of the buffer if that is elsewhere; a record in a slot, all
	 * of it or its end, counts as if the slot were of its own class, so its cost follows from
	 * its size, and compaction does not change it; size: bytes before compression; indexed: an
	 * index of the lz4 block lies behind the checksum; the stamp's mark: the last scan found it
	 * held
	 */
	struct abd_arc_item item;
	/*
	 * The buffer of the stored bytes; abd_holds; and abd_home: the slab of this entry's slot.
	 * The struct lies here, so a hit need not fetch it from elsewhere. A struct that is
	 * followed by a run table can't be here: then this one has size 0, and abd_parent points to
	 * it; if that is a split buffer, it lies in the slot. Use abd_arc_entry_abd().
	 */
	abd_t own;
	uint64_t checksum[]; /* 4 words in a cache that keeps checksums */
};

static_assert(sizeof(struct abd_arc_entry) == 128 || sizeof(void *) != 8,
	"two cache lines; docs/notes/arc.md says what a record costs");
static_assert(ABD_ARC_RECORD_MAX <= UINT32_MAX / 2, "costs are 32 bits");

/*
 * Stamps of an entry that has left the policy. From ABD_ARC_STAMP_OWNER on: it is pinned. From
 * ABD_ARC_STAMP_RETIRED on: it is retired, and this says in which shard of the process. From
 * ABD_ARC_STAMP_ENDED on: nobody finds or holds it any more, and it will be freed.
 * The low bits are marks. ABD_ARC_STAMP_HELD, of what is retired: the last look has found it in a
 * slot. From ABD_ARC_STAMP_USE on: how often it was used, and from ABD_ARC_STAMP_REASON on: why it
 * left, by enum abd_arc_evicted_reason, or 0.
 */
#define ABD_ARC_STAMP_RETIRED (ABD_ARC_STAMP_OWNER + ((uint64_t)1 << 62))
#define ABD_ARC_STAMP_ENDED (ABD_ARC_STAMP_RETIRED + ((uint64_t)1 << 61))
#define ABD_ARC_STAMP_HELD ((uint64_t)2)
#define ABD_ARC_STAMP_REASON ABD_ARC_STAMP_TURN
#define ABD_ARC_STAMP_MARKS (8 * ABD_ARC_STAMP_REASON - 1)
/** The marks that stay until evicted_cb gets them. */
#define ABD_ARC_STAMP_LEFT (ABD_ARC_STAMP_MARKS - ABD_ARC_STAMP_USE + 1)

static_assert(ABD_ARC_EVICTED_DESTROY < 8, "a reason has three bits");

/** These marks of an entry that leaves now. */
static inline uint64_t abd_arc_entry_left(const struct abd_arc_entry *entry, unsigned reason)
{
	return ABD_ARC_STAMP_USE * abd_arc_item_uses(&entry->item) + ABD_ARC_STAMP_REASON * reason;
}

static inline unsigned abd_arc_stamp_uses(uint64_t stamp)
{
	return (unsigned)(stamp / ABD_ARC_STAMP_USE & ABD_ARC_USES_MAX);
}

static inline unsigned abd_arc_stamp_reason(uint64_t stamp)
{
	return (unsigned)(stamp / ABD_ARC_STAMP_REASON & 7);
}

static inline bool abd_arc_entry_is_retired(const struct abd_arc_entry *entry)
{
	uint64_t stamp = abd_arc_item_stamp(&entry->item);

	return stamp >= ABD_ARC_STAMP_RETIRED && stamp < ABD_ARC_STAMP_ENDED;
}

static inline struct abd_arc_entry *abd_arc_entry_of(struct abd_arc_item *item)
{
	return (struct abd_arc_entry *)(void *)((char *)item -
						offsetof(struct abd_arc_entry, item));
}

static inline struct abd_arc_entry *abd_arc_link_entry(struct abd_arc_link *link)
{
	return abd_arc_entry_of((struct abd_arc_item *)(void *)link);
}

static inline abd_t *abd_arc_entry_abd(struct abd_arc_entry *entry)
{
	return ABD_LIKELY(entry->own.abd_size > 0) ? &entry->own : entry->own.abd_parent;
}

/** Whether the record's whole pages lie elsewhere, and the rest in the slot: see abd_split.c. */
static inline bool abd_arc_entry_is_split(const struct abd_arc_entry *entry)
{
	return entry->own.abd_size == 0 && entry->own.abd_parent != NULL &&
	       (entry->own.abd_parent->abd_flags & ABD_FLAG_OWNER) == 0;
}

static inline bool abd_arc_entry_is_metadata(struct abd_arc_entry *entry)
{
	return (abd_arc_entry_abd(entry)->abd_flags & ABD_FLAG_META) != 0;
}

/* What an entry counts of its holds: abd_arc_hold.h. */
#define ABD_ARC_COUNT_PINNED ((uint32_t)1)
#define ABD_ARC_COUNT_KEPT ((uint32_t)2)
#define ABD_ARC_COUNT_HOLD ((uint32_t)4)

static inline uint32_t *abd_arc_entry_holds(struct abd_arc_entry *entry)
{
	return &entry->own.abd_u.abd_linear.abd_holds;
}

static inline uint32_t abd_arc_entry_count(struct abd_arc_entry *entry)
{
	return __atomic_load_n(abd_arc_entry_holds(entry), __ATOMIC_ACQUIRE);
}

#endif
