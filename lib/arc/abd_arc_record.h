/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as they are stored, and where: in the entry's slot, or elsewhere.
 */
#ifndef ABD_ARC_RECORD_H
#define ABD_ARC_RECORD_H

#include "abd_arc_impl.h"

#include <abd/codec.h>

/**
 * Stored records begin at a multiple of this, those from ABD_ARC_LINES_MIN bytes up at a multiple
 * of a cache line. What is smaller than a line is never in a buffer of its own, because memory of
 * abd_allocator_set() need not begin so.
 */
#define ABD_ARC_ALIGNMENT ((size_t)16)
#define ABD_ARC_LINE ((size_t)64)

static inline size_t abd_arc_checksum_size(const struct abd_arc *arc)
{
	return (arc->flags & ABD_ARC_CHECKSUM) != 0 ? 4 * sizeof(uint64_t) : 0;
}

/** Bytes of the record as stored. */
static inline size_t abd_arc_entry_stored(struct abd_arc_entry *entry)
{
	return abd_get_size(abd_arc_entry_abd(entry));
}

/** Whether the record is stored as an lz4 block: then, and only then, it is shorter. */
static inline bool abd_arc_entry_is_compressed(struct abd_arc_entry *entry)
{
	return abd_arc_entry_stored(entry) < entry->item.size;
}

/**
 * Where the slot of an entry whose block has an index of so many bytes has its record, which is
 * stored in so many bytes: behind entry, checksum and index.
 */
static inline size_t abd_arc_entry_size(
	const struct abd_arc *arc, size_t index_size, size_t stored_size)
{
	return abd_round_up(sizeof(struct abd_arc_entry) + abd_arc_checksum_size(arc) + index_size,
		stored_size >= ABD_ARC_LINES_MIN ? ABD_ARC_LINE : ABD_ARC_ALIGNMENT);
}

/** Where an entry has its block's index, if it is indexed. */
static inline struct abd_lz4_index *abd_arc_entry_index(
	const struct abd_arc *arc, struct abd_arc_entry *entry)
{
	return (void *)((char *)entry->checksum + abd_arc_checksum_size(arc));
}

static inline size_t abd_arc_entry_index_size(
	const struct abd_arc *arc, struct abd_arc_entry *entry)
{
	return entry->item.indexed ? abd_lz4_index_size(entry->item.size,
					     abd_arc_entry_index(arc, entry)->group_size)
				   : 0;
}

/** Bytes of the record's buffer outside of its slot; 0: the whole record is in the slot. */
static inline size_t abd_arc_entry_elsewhere(
	const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	size_t slot = abd_arc_store_bytes_of(&arc->store, entry);

	return entry->item.cost - abd_min(entry->item.cost, slot);
}

/** Whether compaction may copy it. */
static inline bool abd_arc_entry_may_move(
	const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	return abd_arc_entry_elsewhere(arc, entry) == 0 || abd_arc_entry_is_split(entry);
}

/** Where a record's bytes come from: the caller's memory or, if that is NULL, a buffer. */
struct abd_arc_source {
	const void *buf;
	abd_t *abd;
	size_t off;         /* of the first byte in abd */
	size_t stored_size; /* bytes there */
	size_t logical_size;
	const struct abd_lz4_index *index; /* of the block that they are, or NULL */
	const uint64_t *checksum;          /* their fletcher_4, or NULL: it is not known */
	uint32_t effort;                   /* as abd_lz4_compress_effort() */
	bool as_is; /* don't compress: a block already, or to be kept plain */
	bool give;  /* abd may become the record's buffer */
	bool given; /* it has */
	bool ended; /* the fill that a put ends has ended */
};

/** A record on its way into the cache. */
struct abd_arc_stored {
	const void *buf; /* what will be stored: the caller's memory, or scratch; or NULL: abd */
	abd_t *abd;
	size_t off; /* in abd */
	bool give;  /* abd becomes the entry's buffer */
	size_t stored_size;
	size_t logical_size;
	bool compressed;
	void *scratch; /* the index, if there is one, and behind it the block */
	size_t scratch_size;
	const struct abd_lz4_index *index;
	size_t index_size;        /* of the index; 0: there is none */
	const uint64_t *checksum; /* of the stored bytes, or NULL */
};

/** Where an entry has its record. */
enum abd_arc_place {
	ABD_ARC_IN_SLOT,   /* all of it behind the entry */
	ABD_ARC_SPLIT,     /* its last part, less than a page; the pages before it are elsewhere */
	ABD_ARC_IN_BUFFER, /* in a buffer of its own */
};

/** A view of memory that is only read. */
void abd_arc_record_view(abd_t *view, const void *buf, size_t size);
/** Compress the record, or decide to store it as it is. Returns 0 or -ENOMEM. */
int abd_arc_record_begin(const struct abd_arc *arc, struct abd_arc_stored *record,
	const struct abd_arc_source *source);
/** Bytes of the index that a record of this size may have; 0: none. */
size_t abd_arc_record_index_size(const struct abd_arc *arc, size_t size);
void abd_arc_record_end(struct abd_arc_stored *record);
/** The most groups of a block with an index. It lies with its entry, in the smallest slots. */
#define ABD_ARC_GROUPS_MAX 64
/**
 * Whether the source's bytes have its checksum, are a block of its record, and can be entered where
 * its index says. Returns 0, -EBADMSG or -ENOMEM.
 */
int abd_arc_record_verify(const struct abd_arc_source *source);
/** Make size bytes at data, in the entry's slot, its buffer. */
void abd_arc_record_place(struct abd_arc_entry *entry, void *data, size_t size, bool is_metadata);
/** Copy the record's stored bytes to their place. False: no memory. */
bool abd_arc_record_store(const struct abd_arc *arc, const struct abd_arc_stored *record,
	struct abd_arc_entry *entry, enum abd_arc_place place, bool is_metadata);
/** What a split record takes of its slot, behind the entry; 0: such a record is not split. */
size_t abd_arc_record_split_bytes(size_t size);
/** Make a split buffer, behind head bytes of the slot, the entry's. NULL: no memory, or no room. */
abd_t *abd_arc_record_split(const struct abd_arc *arc, struct abd_arc_entry *entry, size_t head,
	size_t size, bool is_metadata);
/** End the entry's buffer; its slot stays. */
void abd_arc_record_free(struct abd_arc_entry *entry);

/**
 * The memory that a buffer takes in addition to the entry: an estimate for size bytes, which is
 * right if the provider refuses no order; and what an existing buffer takes.
 */
size_t abd_arc_record_estimate(size_t size);
size_t abd_arc_record_bytes(const abd_t *abd);
/** Whether the stored bytes match their checksum; true in a cache without checksums. */
bool abd_arc_record_is_sound(const struct abd_arc *arc, struct abd_arc_entry *entry);

/** Count a record that comes into the cache (more) or leaves it. Under lock. */
void abd_arc_record_count(struct abd_arc *arc, struct abd_arc_entry *entry, bool more);
/**
 * Retire an entry that is in neither index nor policy any more. left: for evicted_cb, what
 * abd_arc_entry_left() was, or 0. Under lock.
 */
void abd_arc_record_retire(struct abd_arc *arc, struct abd_arc_entry *entry, uint64_t left);

/** Memory for the part of a record that is decoded but not wanted. All zero: none. */
struct abd_arc_scratch {
	void *buf;
	size_t size;
	bool is_own; /* the library's memory, because the engine's allocator refused */
};

/** Get scratch of so many bytes. Returns 0 or -ENOMEM. Outside of read-side sections. */
int abd_arc_scratch_get(struct abd_arc_scratch *scratch, size_t size);
void abd_arc_scratch_put(struct abd_arc_scratch *scratch);
/**
 * Read [off, off + size), which lies within the record, into dst. Returns 0, -EBADMSG or -ENOMEM.
 * The entry is held.
 */
int abd_arc_record_read(
	const struct abd_arc *arc, struct abd_arc_entry *entry, void *dst, size_t off, size_t size);

#endif
