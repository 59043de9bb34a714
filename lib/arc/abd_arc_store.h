/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The store: memory for entries, each with its stored record behind it, packed tightly.
 *
 *   class (slot size)     slab: a run of lib/mem
 *   +-----------+         +-----------------+-----------------+------+-----
 *   | 1,216     |-------->| entry | record  | entry | record  | free | ...
 *   | 1,280     |         +-----------------+-----------------+------+-----
 *   | ...       |          slot 0            slot 1
 *   +-----------+
 *
 * Slots are multiples of 16 bytes, and of 64 where records are that have to begin so; but for the
 * smallest ones they are a slab's size, without its head at the end, divided by 18 to 35, or 16 to
 * 35. So a slot of its own class is at most a 15th larger than what lies in it, or 15 bytes if that
 * is more.
 * Larger slots have larger slabs, up to a part of the capacity. A record that is too large even for
 * those is split: its whole pages are runs of lib/mem, and its rest is in the slot. Or, if it is
 * very large, it lies in a buffer of its own, and only its entry is in a slot.
 *
 * A record can be moved to another slot. So a slab that few records keep in use is emptied, and its
 * memory goes to another class. Free slots serve records that are a little smaller too, and if many
 * slots are free, records are moved to slots that are up to twice as large: otherwise each class in
 * use would keep a slab that is partly empty, which in a small cache is much (64 MiB, sizes of 64
 * bytes to 64 KiB, resized to 16 MiB: 49 % of the memory, and now 4 %).
 *
 * Invariants: bytes is what all slabs take. A slab without used slots does not exist. Slabs are
 * listed in their class by how full they are; the fullest serve first, so that others become empty.
 * The entry in a slot that is free, or not published yet, is in no list of the policy. frees rises
 * whenever a slab is given back: a thread that saw an entry alive, and finds frees unchanged, may
 * still read the entry's memory, though it may be another entry by now.
 * Threads: one at a time, under the cache's lock; but the content of a slot belongs to its taker.
 * Source: Bonwick, "The Slab Allocator" (1994); slabs that go from class to class: Berg et al.,
 * "The CacheLib Caching Engine" (OSDI 2020), and memcached's page mover.
 */
#ifndef ABD_ARC_STORE_H
#define ABD_ARC_STORE_H

#include "abd_arc_entry.h"

#define ABD_ARC_STORE_CLASSES 192
/** Stored records from so many bytes up begin at a multiple of a cache line. */
#define ABD_ARC_LINES_MIN ((size_t)4096)
/** Lists of a class's slabs by how full they are: one for each eighth, and one for full slabs. */
#define ABD_ARC_STORE_FILLS 9

struct abd_arc_store_class {
	uint32_t slot_size;
	uint32_t slab_size;
	size_t free_slots; /* of the listed slabs */
	struct abd_arc_store_slab *fill[ABD_ARC_STORE_FILLS];
};

struct abd_arc_store {
	size_t bytes;           /* of all slabs */
	size_t slab_min;        /* the smallest classes have these */
	size_t slab_max;        /* larger slabs are not made */
	_Atomic uint64_t frees; /* slabs given back; may be read without lock */
	unsigned provider;
	unsigned class_count;
	struct abd_arc_store_class class[ABD_ARC_STORE_CLASSES];
};

/** An empty store, whose smallest slabs suit a cache of this capacity. */
void abd_arc_store_init(struct abd_arc_store *store, size_t capacity);
/** The capacity has changed: from now on slabs are no larger than suits it. */
void abd_arc_store_resize(struct abd_arc_store *store, size_t capacity);

/** The store that an entry's slot belongs to. */
struct abd_arc_store *abd_arc_store_of(const struct abd_arc_entry *entry);
/** Bytes of the slot that an entry lies in. */
size_t abd_arc_store_bytes_of(const struct abd_arc_store *store, const struct abd_arc_entry *entry);
/** The class whose slots hold so many bytes; -1: there is none. */
int abd_arc_store_class(const struct abd_arc_store *store, size_t size);
static inline size_t abd_arc_store_slot_size(const struct abd_arc_store *store, int class)
{
	return store->class[class].slot_size;
}
/**
 * The number of the first class with a free slot for records of this class; the class itself: there
 * is none.
 */
int abd_arc_store_near(const struct abd_arc_store *store, int number);
/** Bytes that the next slot of this class takes from the system: none, or a slab. */
size_t abd_arc_store_next_bytes(const struct abd_arc_store *store, int number);

/**
 * A slot of this class. Its entry knows its slab, and is not initialised otherwise. NULL: there is
 * no free slot, and a new slab is not wanted (grow is false) or can't be had.
 */
struct abd_arc_entry *abd_arc_store_alloc(struct abd_arc_store *store, int number, bool grow);
/** Free a slot, and its slab with the last one. */
void abd_arc_store_free(struct abd_arc_store *store, struct abd_arc_entry *entry);

/**
 * Take a slab out of its list, so that its records can be moved: the emptiest one, at most seven
 * eighths full, whose records fit into free slots of other slabs. NULL: there is none.
 */
struct abd_arc_store_slab *abd_arc_store_drain(struct abd_arc_store *store);
/**
 * The first entry in slots from *slot on that is in the policy or pinned, or NULL. *slot is then
 * behind it.
 */
struct abd_arc_entry *abd_arc_store_live(
	const struct abd_arc_store *store, struct abd_arc_store_slab *slab, unsigned *slot);
size_t abd_arc_store_slab_size(
	const struct abd_arc_store *store, const struct abd_arc_store_slab *slab);
/** A free slot of so many bytes for this entry's record, in a listed slab; NULL: there is none. */
struct abd_arc_entry *abd_arc_store_alloc_beside(
	struct abd_arc_store *store, const struct abd_arc_entry *entry, size_t size);
/**
 * This entry stays where it is: it can't be moved, or is held, or has just come. If its slab was
 * drained, list it again. It is not drained once more until one of its slots is freed.
 */
void abd_arc_store_keep(struct abd_arc_store *store, const struct abd_arc_entry *entry);

#endif
