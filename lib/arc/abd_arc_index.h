/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index: from key to entry. Readers look up inside a read-side section, wait-free; writers hold the cache's lock.
 * Invariant: an entry that was taken out may still be seen until a grace period has passed.
 * Two variants: abd_arc_index_urcu.c over liburcu's cds_lfht, and abd_arc_index_shim.c for ThreadSanitizer, which can't see into
 * liburcu.
 * OpenZFS: buf_hash_table in module/zfs/arc.c, where each look-up takes a lock of its hash chain.
 */
#ifndef ABD_ARC_INDEX_H
#define ABD_ARC_INDEX_H

#include "abd_rcu.h"

#include <abd/arc.h>

#include <stdatomic.h>

struct abd_arc_entry;
struct abd_arc_index;

#if ABD_ARC_SHIM

/* Both take the same room, so that entries are laid out alike. */
struct abd_arc_node {
	struct abd_arc_node *_Atomic next;
	uint64_t hash;
};

#else

#include <urcu/rculfhash.h>

struct abd_arc_node {
	struct cds_lfht_node lfht;
};

#endif

/** An index of a power of two of buckets; NULL: no memory. */
struct abd_arc_index *abd_arc_index_new(size_t buckets);
/** End an index that is empty. */
void abd_arc_index_free(struct abd_arc_index *index);

/** The entry of key, or NULL. Inside a read-side section. */
struct abd_arc_entry *abd_arc_index_find(
	struct abd_arc_index *index, uint64_t hash, const abd_arc_key_t *key);
/** Put entry in; returns the entry that had its key, now out, or NULL. Readers see one or the other, always. */
struct abd_arc_entry *abd_arc_index_put(
	struct abd_arc_index *index, uint64_t hash, struct abd_arc_entry *entry);
/** Take out an entry that is in. */
void abd_arc_index_remove(struct abd_arc_index *index, struct abd_arc_entry *entry);

/** Another number of buckets, a power of two. Outside of read-side sections and of the cache's lock; any thread. */
void abd_arc_index_resize(struct abd_arc_index *index, size_t buckets);
/** Bytes that a table of so many buckets takes. */
size_t abd_arc_index_bytes(size_t buckets);

#endif
