/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and holding. A hit writes only to dst, to this thread's block and to its RCU counter.
 * After hit_batch hits that were noted, it also updates the policy's lists.
 *
 * A read decodes inside the read-side section, so it needs no reference. A hold is written to the
 * thread's block, where it outlives the section; see abd_arc_impl.h.
 * Invariants: nothing is allocated, and no lock is taken, inside a section, because writers wait
 * for it. Neither a read nor a hold evicts anything: without memory it is -ENOMEM.
 * OpenZFS: arc_read(), arc_buf_fill(); there each hit takes a hash lock and a reference on the
 * header.
 */
#include "abd_arc_impl.h"
#include "abd_check.h"
#include "abd_iter.h"

#include <abd/operate.h>

static void abd_arc_count(
	struct abd_arc *arc, struct abd_arc_reader *reader, enum abd_arc_reader_count which)
{
	if (ABD_LIKELY(reader != NULL))
		abd_arc_reader_count(reader, which);
	else
		atomic_fetch_add_explicit(&arc->orphan_count[which], 1, memory_order_relaxed);
}

/* Drop a record that is damaged, unless another thread has replaced it already. */
static ABD_COLD void abd_arc_damaged(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key,
	const struct abd_arc_entry *damaged)
{
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_index_find_any(arc->index, hash, key);

	if (entry == damaged) {
		abd_arc_drop(arc, entry);
		arc->stats.damaged++;
	}
	pthread_mutex_unlock(&arc->lock);
}

void abd_arc_hold_fill(
	abd_arc_hold_t *hold, struct abd_arc_hold_slot *slot, struct abd_arc_entry *entry)
{
	hold->abd = abd_arc_entry_abd(entry);
	hold->stored_size = abd_arc_entry_stored(entry);
	hold->logical_size = entry->item.size;
	hold->compressed = hold->stored_size < hold->logical_size;
	hold->entry = slot;
}

/* Hold what a look-up found leaving. It may be gone by now, or another record may be there. */
static ABD_COLD int abd_arc_hold_leaving(struct abd_arc *arc, struct abd_arc_reader *reader,
	const abd_arc_key_t *key, abd_arc_hold_t *hold)
{
	struct abd_arc_hold_slot *slot = abd_arc_reader_slot(reader);
	uint64_t hash = abd_arc_hash(arc, key);

	if (slot == NULL)
		return -ENOMEM;
	struct abd_arc_entry *entry = abd_arc_hold_any(arc, slot, hash, key);

	abd_arc_reader_count(reader, entry != NULL ? ABD_ARC_COUNT_HITS : ABD_ARC_COUNT_MISSES);
	if (entry == NULL)
		return -ENOENT;
	if (!abd_arc_record_is_sound(arc, entry)) {
		abd_arc_damaged(arc, hash, key, entry);
		abd_arc_slot_release(slot);
		return -EBADMSG;
	}
	abd_arc_hold_fill(hold, slot, entry);
	return 0;
}

/* What abd_arc_read_once() returns for a record that is leaving. */
#define ABD_ARC_READ_LEAVING 1

/* Inside a section, or while the entry is held. */
static int abd_arc_read_entry(const struct abd_arc *arc, struct abd_arc_entry *entry, void *dst,
	size_t off, size_t size, const struct abd_arc_scratch *scratch)
{
	if (off > entry->item.size || size > entry->item.size - off)
		return -EINVAL;
	if (!abd_arc_record_is_sound(arc, entry))
		return -EBADMSG;
	return abd_arc_record_read(arc, entry, dst, off, size, scratch);
}

static int abd_arc_read_once(struct abd_arc *arc, struct abd_arc_reader *reader, uint64_t hash,
	const abd_arc_key_t *key, void *dst, size_t off, size_t size,
	struct abd_arc_scratch *scratch, bool touch)
{
	struct abd_rcu_thread *rcu = abd_arc_reader_rcu(reader);
	bool compressed = false;
	int error = -ENOENT;

	abd_rcu_read_lock_as(rcu);
	struct abd_arc_entry *entry = abd_arc_index_find(arc->index, hash, key);

	if (ABD_UNLIKELY(abd_arc_index_is_leaving(entry))) {
		error = ABD_ARC_READ_LEAVING;
	} else if (ABD_LIKELY(entry != NULL)) {
		compressed = abd_arc_entry_is_compressed(entry);
		error = abd_arc_read_entry(arc, entry, dst, off, size, scratch);
		if (ABD_LIKELY(error == 0 && reader != NULL && touch))
			abd_arc_reader_note(arc, reader, entry);
	}
	abd_rcu_read_unlock_as(rcu);

	if (ABD_UNLIKELY(error > 0 || error == -EAGAIN))
		return error; /* the caller gets scratch and tries again, or goes by a hold */
	abd_arc_count(arc, reader, entry != NULL ? ABD_ARC_COUNT_HITS : ABD_ARC_COUNT_MISSES);
	if (error == 0 && compressed && size > 0)
		abd_arc_count(arc, reader, ABD_ARC_COUNT_DECODES);
	if (ABD_UNLIKELY(error == -EBADMSG))
		abd_arc_damaged(arc, hash, key, entry);
	return error;
}

/* Of a read of what is held. */
static int abd_arc_read_end(struct abd_arc *arc, struct abd_arc_reader *reader,
	struct abd_arc_entry *entry, size_t size, int error)
{
	if (error == 0 && abd_arc_entry_is_compressed(entry) && size > 0)
		abd_arc_count(arc, reader, ABD_ARC_COUNT_DECODES);
	if (error == -EBADMSG)
		abd_arc_damaged(arc, abd_arc_hash(arc, &entry->key), &entry->key, entry);
	return error;
}

/* Read what is held: outside of sections, where memory can be had. */
static int abd_arc_read_held(struct abd_arc *arc, struct abd_arc_reader *reader,
	struct abd_arc_entry *entry, void *dst, size_t off, size_t size)
{
	struct abd_arc_scratch scratch = {NULL, 0, false};
	int error;

	while ((error = abd_arc_read_entry(arc, entry, dst, off, size, &scratch)) == -EAGAIN &&
		(error = abd_arc_scratch_get(&scratch, off + size)) == 0)
		continue;
	abd_arc_scratch_put(&scratch);
	return abd_arc_read_end(arc, reader, entry, size, error);
}

/* Read a record that is leaving: hold it under the lock, and decode it without. */
static ABD_COLD int abd_arc_read_leaving(struct abd_arc *arc, struct abd_arc_reader *reader,
	const abd_arc_key_t *key, void *dst, size_t off, size_t size)
{
	abd_arc_hold_t hold;
	int error = reader != NULL ? abd_arc_hold_leaving(arc, reader, key, &hold) : -ENOMEM;

	if (error != 0)
		return error;
	error = abd_arc_read_held(arc, reader, abd_arc_held_entry(&hold), dst, off, size);
	abd_arc_slot_release(hold.entry);
	return error;
}

ssize_t abd_arc_read_touch(struct abd_arc *arc, struct abd_arc_reader *reader, uint64_t hash,
	const abd_arc_key_t *key, void *dst, size_t off, size_t size, bool touch)
{
	struct abd_arc_scratch scratch = {NULL, 0, false};
	int error;

	while (ABD_UNLIKELY((error = abd_arc_read_once(arc, reader, hash, key, dst, off, size,
				     &scratch, touch)) == -EAGAIN) &&
		(error = abd_arc_scratch_get(&scratch, off + size)) == 0)
		continue;
	if (ABD_UNLIKELY(scratch.buf != NULL))
		abd_arc_scratch_put(&scratch);
	if (ABD_UNLIKELY(error == ABD_ARC_READ_LEAVING))
		error = abd_arc_read_leaving(arc, reader, key, dst, off, size);
	if (ABD_LIKELY(reader != NULL))
		abd_arc_reader_settle(reader);
	return error == 0 ? (ssize_t)size : error;
}

ssize_t abd_arc_read(abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off, size_t size)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(dst != NULL || size == 0, "dst is NULL");
	uint64_t hash = abd_arc_hash(arc, key);

	arc = abd_arc_shard(arc, hash);
	return abd_arc_read_touch(arc, abd_arc_reader_get(arc), hash, key, dst, off, size, true);
}

ssize_t abd_arc_read_flags(abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off,
	size_t size, unsigned flags)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(dst != NULL || size == 0, "dst is NULL");

	if ((flags & ~(unsigned)ABD_ARC_NO_TOUCH) != 0)
		return -EINVAL;
	uint64_t hash = abd_arc_hash(arc, key);

	arc = abd_arc_shard(arc, hash);
	return abd_arc_read_touch(
		arc, abd_arc_reader_get(arc), hash, key, dst, off, size, flags == 0);
}

/*
 * A part of a compressed record that is held, into several runs: through memory of the part's size,
 * because a decoder that writes runs decodes whole blocks.
 */
static int abd_arc_read_part(const struct abd_arc *arc, struct abd_arc_entry *entry, abd_t *dst,
	size_t dst_off, size_t off, size_t size)
{
	struct abd_arc_scratch part = {NULL, 0, false}, scratch = part;
	int error = abd_arc_scratch_get(&part, size);

	if (error != 0)
		return error;
	while ((error = abd_arc_record_read(arc, entry, part.buf, off, size, &scratch)) ==
			-EAGAIN &&
		(error = abd_arc_scratch_get(&scratch, off + size)) == 0)
		continue;
	if (error == 0)
		abd_copy_from_buf_off(dst, part.buf, dst_off, size);
	abd_arc_scratch_put(&scratch);
	abd_arc_scratch_put(&part);
	return error;
}

/* What is held, and sound, into several runs. */
static int abd_arc_read_runs(const struct abd_arc *arc, struct abd_arc_entry *entry, abd_t *dst,
	size_t dst_off, size_t off, size_t size)
{
	const abd_t *abd = abd_arc_entry_abd(entry);

	if (off > entry->item.size || size > entry->item.size - off)
		return -EINVAL;
	if (!abd_arc_entry_is_compressed(entry)) {
		abd_copy_off(dst, abd, dst_off, off, size);
		return 0;
	}
	if (size < entry->item.size)
		return abd_arc_read_part(arc, entry, dst, dst_off, off, size);
	ssize_t got =
		abd_lz4_decompress_exact(dst, abd, dst_off, size, 0, abd_arc_entry_stored(entry));

	if (got == (ssize_t)size)
		return 0;
	return got == -ENOMEM ? -ENOMEM : -EBADMSG;
}

/* By a hold, because to write runs takes memory. */
static ssize_t abd_arc_read_scattered(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key,
	abd_t *dst, size_t dst_off, size_t off, size_t size)
{
	struct abd_arc_reader *reader = abd_arc_reader_get(arc);
	abd_arc_hold_t hold;
	int error =
		reader != NULL ? abd_arc_hold_touch(arc, reader, hash, key, &hold, true) : -ENOMEM;

	if (error != 0)
		return error;
	struct abd_arc_entry *entry = abd_arc_held_entry(&hold);

	error = abd_arc_read_runs(arc, entry, dst, dst_off, off, size);
	error = abd_arc_read_end(arc, reader, entry, size, error);
	abd_arc_release(&hold);
	return error == 0 ? (ssize_t)size : error;
}

ssize_t abd_arc_read_abd(abd_arc_t *arc, const abd_arc_key_t *key, abd_t *dst, size_t dst_off,
	size_t off, size_t size)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(dst != NULL, "dst is NULL");
	abd_check_range(__func__, dst, dst_off, size);
	uint64_t hash = abd_arc_hash(arc, key);
	struct abd_iter room;

	arc = abd_arc_shard(arc, hash);
	abd_iter_begin_write(&room, __func__, dst, dst_off, size);
	if (room.len < size)
		return abd_arc_read_scattered(arc, hash, key, dst, dst_off, off, size);
	return abd_arc_read_touch(arc, abd_arc_reader_get(arc), hash, key,
		size > 0 ? room.addr : NULL, off, size, true);
}

bool abd_arc_contains(abd_arc_t *arc, const abd_arc_key_t *key)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");

	uint64_t hash = abd_arc_hash(arc, key);

	arc = abd_arc_shard(arc, hash);
	abd_rcu_read_lock();
	const struct abd_arc_entry *entry = abd_arc_index_find(arc->index, hash, key);

	abd_rcu_read_unlock();
	if (ABD_LIKELY(!abd_arc_index_is_leaving(entry)))
		return entry != NULL;
	pthread_mutex_lock(&arc->lock);
	bool found = abd_arc_find(arc, hash, key) != NULL;

	pthread_mutex_unlock(&arc->lock);
	return found;
}

static int abd_arc_hold_once(struct abd_arc *arc, struct abd_arc_reader *reader, uint64_t hash,
	const abd_arc_key_t *key, abd_arc_hold_t *hold, bool touch)
{
	struct abd_arc_hold_slot *slot = abd_arc_reader_slot(reader);
	int error = -ENOENT;

	if (slot == NULL)
		return -ENOMEM;
	abd_rcu_read_lock_as(reader->rcu);
	struct abd_arc_entry *entry = abd_arc_index_find(arc->index, hash, key);

	bool is_leaving = abd_arc_index_is_leaving(entry);

	if (entry != NULL && !is_leaving)
		error = abd_arc_record_is_sound(arc, entry) ? 0 : -EBADMSG;
	if (error == 0) {
		/* Before the section ends: see abd_arc_impl.h. */
		atomic_store_explicit(&slot->entry, entry, memory_order_release);
		if (touch)
			abd_arc_reader_note(arc, reader, entry);
		abd_arc_hold_fill(hold, slot, entry);
	}
	abd_rcu_read_unlock_as(reader->rcu);
	if (ABD_UNLIKELY(is_leaving))
		return abd_arc_hold_leaving(arc, reader, key, hold);

	abd_arc_reader_count(reader, entry != NULL ? ABD_ARC_COUNT_HITS : ABD_ARC_COUNT_MISSES);
	if (ABD_UNLIKELY(error == -EBADMSG))
		abd_arc_damaged(arc, hash, key, entry);
	return error;
}

int abd_arc_hold_touch(struct abd_arc *arc, struct abd_arc_reader *reader, uint64_t hash,
	const abd_arc_key_t *key, abd_arc_hold_t *hold, bool touch)
{
	int error = abd_arc_hold_once(arc, reader, hash, key, hold, touch);

	if (ABD_UNLIKELY(error != 0))
		abd_arc_hold_clear(hold);
	abd_arc_reader_settle(reader);
	return error;
}

int abd_arc_hold(abd_arc_t *arc, const abd_arc_key_t *key, abd_arc_hold_t *hold)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(hold != NULL, "hold is NULL");

	uint64_t hash = abd_arc_hash(arc, key);

	arc = abd_arc_shard(arc, hash);
	struct abd_arc_reader *reader = abd_arc_reader_get(arc);

	if (ABD_UNLIKELY(reader == NULL)) {
		abd_arc_hold_clear(hold);
		return -ENOMEM;
	}
	return abd_arc_hold_touch(arc, reader, hash, key, hold, true);
}

ssize_t abd_arc_hold_read(const abd_arc_hold_t *hold, void *dst, size_t off, size_t size)
{
	struct abd_arc *arc = abd_arc_hold_check(__func__, hold);

	ABD_REQUIRE(dst != NULL || size == 0, "dst is NULL");
	int error = abd_arc_read_held(
		arc, abd_arc_reader_get(arc), abd_arc_held_entry(hold), dst, off, size);

	return error == 0 ? (ssize_t)size : error;
}

ssize_t abd_arc_read_all(
	abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t capacity, size_t *size_needed)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(size_needed != NULL, "size_needed is NULL");
	ABD_REQUIRE(dst != NULL || capacity == 0, "dst is NULL");
	abd_arc_hold_t hold;
	ssize_t result = abd_arc_hold(arc, key, &hold);

	if (result != 0)
		return result;
	result = hold.logical_size <= capacity ? abd_arc_hold_read(&hold, dst, 0, hold.logical_size)
					       : -ENOSPC;
	if (result >= 0 || result == -ENOSPC)
		*size_needed = hold.logical_size;
	abd_arc_release(&hold);
	return result;
}

struct abd_arc *abd_arc_hold_check(const char *call, const abd_arc_hold_t *hold)
{
	ABD_REQUIRE_IN(call, hold != NULL, "hold is NULL");
	ABD_REQUIRE_IN(call, hold->entry != NULL, "nothing is held");
	const struct abd_arc_hold_slot *slot = hold->entry;
	struct abd_arc_entry *entry = abd_arc_held_entry(hold);

	ABD_REQUIRE_IN(call, entry != NULL && abd_arc_entry_abd(entry) == hold->abd,
		"a hold of %zu bytes was released before", hold->stored_size);
	return slot->block->reader->arc;
}

int abd_arc_hold_dup(const abd_arc_hold_t *hold, abd_arc_hold_t *copy)
{
	ABD_REQUIRE(hold != NULL, "hold is NULL");
	ABD_REQUIRE(copy != NULL, "copy is NULL");
	ABD_REQUIRE(copy != hold, "copy is the hold itself");
	struct abd_arc *arc = abd_arc_hold_check(__func__, hold);
	struct abd_arc_reader *reader = abd_arc_reader_get(arc);
	struct abd_arc_hold_slot *slot = reader != NULL ? abd_arc_reader_slot(reader) : NULL;

	if (slot == NULL) {
		abd_arc_hold_clear(copy);
		return -ENOMEM;
	}
	abd_arc_hold_again(arc, slot, abd_arc_held_entry(hold));
	*copy = *hold;
	copy->entry = slot;
	return 0;
}

void abd_arc_release(abd_arc_hold_t *hold)
{
	ABD_REQUIRE(hold != NULL, "hold is NULL");
	if (hold->entry == NULL)
		return;

	struct abd_arc_hold_slot *slot = hold->entry;
	struct abd_arc_entry *entry = atomic_load_explicit(&slot->entry, memory_order_relaxed);

	ABD_REQUIRE(entry != NULL && abd_arc_entry_abd(entry) == hold->abd,
		"a hold of %zu bytes was released before", hold->stored_size);
	abd_arc_hold_clear(hold);
	abd_arc_slot_release(slot);
}
