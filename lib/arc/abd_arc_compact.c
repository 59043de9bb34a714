/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compaction: records are moved, so that memory can go from slots of one size to slots of another.
 *
 * A new entry with the same key, in a slot of another slab, takes the old entry's place in the
 * index, which readers see as one step, and in the policy. The old one is retired as if it had been
 * evicted: whoever reads or holds it goes on doing so, and its slot becomes free after a grace
 * period. So readers and holds know nothing of compaction.
 * The policy does not learn of it, and hits on the old entry that a thread has noted and not
 * reported yet are lost.
 */

#include "abd_age.h"
#include "abd_arc_compact.h"
#include "abd_arc_evict.h"
#include <abd/operate.h>

#include <string.h>

/*
 * How many bytes are moved at a time under the lock. A record counts as 1 KiB at least, because a
 * smaller one takes as long.
 */
#define ABD_ARC_COMPACT_BYTES ((size_t)1 << 20)
#define ABD_ARC_COMPACT_LEAST ((size_t)1 << 10)

/* Copy the stored bytes to the new entry. False: there are no pages for a split record. */
static bool abd_arc_compact_record(const struct abd_arc *arc, struct abd_arc_entry *to,
	struct abd_arc_entry *from, size_t head, size_t stored)
{
	bool is_metadata = abd_arc_entry_is_metadata(from);
	char *data = (char *)to + head;

	if (!abd_arc_entry_is_split(from)) {
		memcpy(data, (const char *)from + head, stored);
		abd_arc_record_place(to, data, stored, is_metadata);
		return true;
	}

	abd_t *abd = abd_arc_record_split(arc, to, head, stored, is_metadata);

	if (abd != NULL)
		abd_copy(abd, from->own.abd_parent, stored);
	return abd != NULL;
}

/* Returns the bytes copied, at least ABD_ARC_COMPACT_LEAST; 0: no memory. Under lock. */
static size_t abd_arc_compact_entry(struct abd_arc *arc, struct abd_arc_entry *from)
{
	size_t stored = abd_arc_entry_stored(from);
	size_t head = abd_arc_entry_size(arc, abd_arc_entry_index_size(arc, from), stored);
	size_t elsewhere = abd_arc_entry_elsewhere(arc, from);
	size_t size = abd_arc_store_bytes_of(&arc->store, from) + elsewhere;
	bool is_split = abd_arc_entry_is_split(from);
	size_t behind = is_split ? abd_arc_record_split_bytes(stored) : stored;
	struct abd_arc_entry *to, *old;

	to = abd_arc_store_alloc_beside(&arc->store, from, head + behind);
	assert(to != NULL); /* only a slab whose records fit elsewhere is drained */
	if (!abd_arc_compact_record(arc, to, from, head, stored)) {
		abd_arc_store_free(&arc->store, to);
		abd_arc_store_keep(&arc->store, from);
		return 0;
	}
	to->key = from->key;
	to->item.cost = from->item.cost;
	to->item.size = from->item.size;
	to->item.indexed = from->item.indexed;
	memcpy(to->checksum, from->checksum, head - sizeof(*from)); /* and the index */
	arc->run_bytes += abd_arc_entry_elsewhere(arc, to);
	abd_arc_policy_replace(&arc->policy, &from->item, &to->item);
	(void)abd_arc_index_put(arc->index, abd_arc_hash(arc, &to->key), to, &old);
	assert(old == from);
	abd_arc_record_count(arc, to, true);
	abd_arc_record_retire(arc, from, 0);
	arc->stats.moves++;
	return size > ABD_ARC_COMPACT_LEAST ? size : ABD_ARC_COMPACT_LEAST;
}

/* How many bytes may be copied to new pages: the pages of the old records are free only later. */
static size_t abd_arc_compact_room(const struct abd_arc *arc)
{
	size_t used = abd_arc_used(arc);

	return arc->capacity - abd_min(used, arc->capacity);
}

/*
 * Whether the records of a drained slab may be moved. If one of them is held, or has its buffer
 * elsewhere, none is: the slab would not become free, and two such slabs could take each other's
 * records for ever. If its split records have more bytes elsewhere than the slab would give back,
 * none is moved either: evicting some of them costs less. Under lock.
 */
static bool abd_arc_compact_may(struct abd_arc *arc, struct abd_arc_store_slab *slab)
{
	size_t most =
		abd_min(abd_arc_store_slab_size(&arc->store, slab), abd_arc_compact_room(arc));
	struct abd_arc_entry *entry;
	size_t elsewhere = 0;
	unsigned slot = 0;

	while ((entry = abd_arc_store_live(&arc->store, slab, &slot)) != NULL) {
		elsewhere += abd_arc_entry_elsewhere(arc, entry);
		if (!abd_arc_entry_is_pinned(entry) && abd_arc_entry_may_move(arc, entry) &&
			elsewhere <= most)
			continue;
		abd_arc_store_keep(&arc->store, entry);
		return false;
	}
	return true;
}

/* Returns whether the slab becomes free. *copied grows by what abd_arc_compact_entry() returns. */
static bool abd_arc_compact_slab(
	struct abd_arc *arc, struct abd_arc_store_slab *slab, size_t *copied)
{
	struct abd_arc_entry *entry;
	unsigned slot = 0;

	while ((entry = abd_arc_store_live(&arc->store, slab, &slot)) != NULL) {
		size_t size = abd_arc_compact_entry(arc, entry);

		if (size == 0)
			return false;
		*copied += size;
	}
	return true;
}

size_t abd_arc_compact_some(struct abd_arc *arc, size_t bytes)
{
	struct abd_arc_store_slab *slab;
	size_t emptied = 0, copied = 0;
	bool was = abd_age_defer(true);

	while (emptied < bytes && copied < ABD_ARC_COMPACT_BYTES &&
		(slab = abd_arc_store_drain(&arc->store)) != NULL) {
		copied += ABD_ARC_COMPACT_LEAST;
		if (!abd_arc_compact_may(arc, slab))
			continue;
		size_t size = abd_arc_store_slab_size(&arc->store, slab);

		if (abd_arc_compact_slab(arc, slab, &copied))
			emptied += size;
	}
	(void)abd_age_defer(was);
	return emptied;
}
