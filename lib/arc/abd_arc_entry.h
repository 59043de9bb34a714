/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An entry: a record in the cache, with its key and its place in the policy. The index refers to
 * it; its life is in abd_arc_impl.h.
 */
#ifndef ABD_ARC_ENTRY_H
#define ABD_ARC_ENTRY_H

#include "abd_arc_hash.h"
#include "abd_arc_policy.h"

#include <abd/arc.h>

#include <assert.h>

/* In item.flags. */
enum {
	ABD_ARC_ENTRY_COMPRESSED = 1 << 0,
	ABD_ARC_ENTRY_METADATA = 1 << 1,
};

/**
 * A record. Constant from when it is in the index until it is freed, but for item's link, list,
 * mark and stamp.
 */
struct abd_arc_entry {
	abd_arc_key_t key; /* in front: the index goes by it */
	/* size: bytes before compression; mark: found held, by the last scan */
	struct abd_arc_item item;
	/*
	 * The struct of exactly the stored bytes, so that a hit need not fetch it from elsewhere.
	 * With a run table behind it the struct can't be here: then this one is of size 0, and
	 * abd_parent says where it is. abd_arc_entry_abd() knows.
	 */
	abd_t own;
	uint64_t checksum[]; /* 4 of them in caches that keep checksums */
};

static_assert(sizeof(struct abd_arc_entry) == 128 || sizeof(void *) != 8,
	"two cache lines, 31 entries to a page; docs/arc.md says what a record costs");
static_assert(ABD_ARC_RECORD_MAX <= UINT32_MAX / 2, "costs are 32 bits");

static inline struct abd_arc_entry *abd_arc_entry_of(struct abd_arc_item *item)
{
	return (struct abd_arc_entry *)(void *)((char *)item -
						offsetof(struct abd_arc_entry, item));
}

static inline abd_t *abd_arc_entry_abd(struct abd_arc_entry *entry)
{
	return ABD_LIKELY(entry->own.abd_size > 0) ? &entry->own : entry->own.abd_parent;
}

#endif
