/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Indexes made late, for caches with ABD_ARC_REINDEX: puts make none. The second time that a part
 * of a record is read which no decoder reaches without what lies before it, the reader decodes the
 * record, compresses it again with an index, and lets a new entry take the old one's place.
 *
 *   place of the key's hash   nothing, or another's tag   the key's tag     the tag, and TRIED
 *   a read of a part          writes the tag              makes the index   does nothing
 *
 * Places are not locked: if two threads find the tag, both make the index, and the second one finds
 * that the record has left. If it succeeds, the place is empty again. If the index would not pay or
 * has no room, the place stays as it is until another key takes it, so that the record is not
 * compressed in vain at every second read.
 * OpenZFS: none; arc_buf_fill() in module/zfs/arc.c decodes the whole record for every part.
 */
#include "abd_arc_impl.h"

#define ABD_ARC_LATE_TRIED 0x8000u

/* Store what the slot holds once more. Returns as abd_arc_put_indexed() does, and -EBADMSG. */
static int abd_arc_late_make(struct abd_arc *arc, uint64_t hash, struct abd_arc_entry *entry)
{
	size_t size = entry->item.size;
	struct abd_arc_scratch scratch = {NULL, 0, false, false};
	int error = abd_arc_scratch_get(&scratch, size);

	if (error != 0)
		return error;
	error = abd_arc_record_is_sound(arc, entry)
			? abd_arc_record_read(arc, entry, scratch.buf, 0, size, &scratch)
			: -EBADMSG;
	if (error == 0)
		error = abd_arc_put_indexed(arc, hash, entry,
			&(struct abd_arc_source){.buf = scratch.buf,
				.stored_size = size,
				.logical_size = size,
				.effort = arc->effort,
				.index = true});
	abd_arc_scratch_put(&scratch);
	return error;
}

/* The same for the record of a key, if it is still there and without an index. */
static int abd_arc_late_try(
	struct abd_arc *arc, struct abd_arc_reader *reader, uint64_t hash, const abd_arc_key_t *key)
{
	struct abd_arc_hold_slot *slot = abd_arc_reader_slot(reader);
	struct abd_arc_entry *entry;
	int error = 0;

	if (slot == NULL)
		return -ENOMEM;
	entry = abd_arc_hold_any(arc, slot, hash, key);
	if (entry == NULL)
		return 0;
	if (abd_arc_record_index_size(arc, entry->item.size) == 0)
		error = -ENOSPC;
	else if (abd_arc_entry_is_compressed(arc, entry) && !entry->item.indexed)
		error = abd_arc_late_make(arc, hash, entry);
	abd_arc_slot_release(slot);
	return error;
}

void abd_arc_late_note(
	struct abd_arc *arc, struct abd_arc_reader *reader, uint64_t hash, const abd_arc_key_t *key)
{
	/* The index uses the lowest and the highest bits of a hash, shards those below. */
	_Atomic uint16_t *place = &arc->late[(hash >> 24) % ABD_ARC_LATE];
	uint16_t tag = (uint16_t)((hash >> 34 & (ABD_ARC_LATE_TRIED - 1)) | 1);
	uint16_t was = atomic_load_explicit(place, memory_order_relaxed);
	int error;

	if (was == (tag | ABD_ARC_LATE_TRIED) || reader == NULL)
		return;
	if (was != tag) {
		atomic_store_explicit(place, tag, memory_order_relaxed);
		return;
	}
	atomic_store_explicit(place, tag | ABD_ARC_LATE_TRIED, memory_order_relaxed);
	error = abd_arc_late_try(arc, reader, hash, key);
	if (error != -ENOSPC && error != -EBADMSG)
		atomic_store_explicit(place, 0, memory_order_relaxed);
}
