/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading and holding. A hit writes only to dst and to this thread's block. After hit_batch hits
 * that were noted, it also updates the policy's lists.
 *
 * A read is a hold that ends with the call: it looks up and notes the record in a slot, inside a
 * read-side section, and decodes when the section has ended.
 * Invariants: a section covers the look-up and the noting, and nothing else (abd_arc_rcu.h).
 * Neither a read nor a hold evicts anything.
 * OpenZFS: arc_read(), arc_buf_fill(); there each hit takes a hash lock and a reference on the
 * header.
 */
#include "abd_arc_hold.h"
#include "abd_arc_read.h"
#include "abd_check.h"
#include "abd_iter.h"

#include <abd/compare.h>
#include <abd/operate.h>

bool abd_arc_is_same(
	const struct abd_arc *arc, struct abd_arc_entry *held, struct abd_arc_entry *there)
{
	if (held == there)
		return true;
	return held->item.size == there->item.size && abd_arc_entry_may_move(arc, held) &&
	       abd_equal(abd_arc_entry_abd(held), abd_arc_entry_abd(there));
}

/*
 * Drop a record that is damaged, or a copy with the same damage that compaction made, unless
 * another one has replaced it. It is held. Outside of sections and locks.
 */
static ABD_COLD void abd_arc_damaged(struct abd_arc *arc, struct abd_arc_entry *damaged)
{
	uint64_t hash = abd_arc_hash(arc, &damaged->key);

	pthread_mutex_lock(&arc->lock);
	struct abd_arc_entry *entry = abd_arc_find(arc, hash, &damaged->key);

	if (entry != NULL && abd_arc_is_same(arc, damaged, entry))
		abd_arc_drop_damaged(arc, entry);
	pthread_mutex_unlock(&arc->lock);
}

void abd_arc_hold_fill(abd_arc_hold_t *hold, void *handle, struct abd_arc_entry *entry)
{
	hold->abd = abd_arc_entry_abd(entry);
	hold->stored_size = abd_arc_entry_stored(entry);
	hold->logical_size = entry->item.size;
	hold->compressed = hold->stored_size < hold->logical_size;
	hold->entry = handle;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int abd_arc_read_entry(struct abd_arc *arc, struct abd_arc_thread *thread,
	struct abd_arc_entry *entry, void *dst, size_t off, size_t size)
{
	if (off > entry->item.size || size > entry->item.size - off)
		return -EINVAL;
	if (!abd_arc_record_is_sound(arc, entry))
		return -EBADMSG;
	int error = abd_arc_record_read(arc, entry, dst, off, size);

	if (ABD_LIKELY(error == 0) && size > 0 && abd_arc_entry_is_compressed(entry))
		abd_arc_count(arc, thread, ABD_ARC_COUNT_DECODES);
	return error;
}

/* What a read ends with, whatever came of it. */
static inline __attribute__((always_inline)) void abd_arc_read_over(struct abd_arc *arc,
	struct abd_arc_thread *thread, void *handle, struct abd_arc_entry *entry, int error,
	bool touch)
{
	abd_arc_count(arc, thread, ABD_ARC_COUNT_HITS);
	if (ABD_UNLIKELY(error == -EBADMSG))
		abd_arc_damaged(arc, entry);
	if (ABD_LIKELY(error == 0 && touch && thread != NULL))
		abd_arc_thread_note(arc, thread, entry);
	abd_arc_hold_end_read(thread, handle, entry);
	if (ABD_LIKELY(thread != NULL))
		abd_arc_thread_settle(thread, arc);
}

/* Inlined into single reads: abd_arc_read_found() is for batches. */
static inline __attribute__((always_inline)) ssize_t abd_arc_read_end(struct abd_arc *arc,
	struct abd_arc_thread *thread, void *handle, struct abd_arc_entry *entry, void *dst,
	size_t off, size_t size, bool touch)
{
	int error = abd_arc_read_entry(arc, thread, entry, dst, off, size);

	abd_arc_read_over(arc, thread, handle, entry, error, touch);
	return error == 0 ? (ssize_t)size : error;
}

ssize_t abd_arc_read_found(struct abd_arc *arc, struct abd_arc_thread *thread, void *handle,
	struct abd_arc_entry *entry, void *dst, size_t off, size_t size, bool touch)
{
	return abd_arc_read_end(arc, thread, handle, entry, dst, off, size, touch);
}

/*
 * The same for a read, if its record was evicted, if a read was left, or if this one is in another:
 * then it takes a slot of holds.
 */
static ABD_COLD struct abd_arc_entry *abd_arc_find_unusual(struct abd_arc *arc,
	struct abd_arc_thread *thread, uint64_t hash, const abd_arc_key_t *key, void **handle)
{
	bool in_slot = thread != NULL && abd_arc_thread_reads(thread);
	struct urcu_bp_reader *section = abd_arc_thread_section(thread);
	struct abd_arc_entry *entry = abd_arc_index_find(arc->index, hash, key);
	bool is_leaving = abd_arc_index_is_leaving(entry);

	if (entry != NULL && !is_leaving)
		*handle = in_slot ? abd_arc_slot_fill(&thread->slot[0], arc, entry)
				  : abd_arc_hold_take(arc, thread, entry);
	abd_arc_rcu_end(section);
	if (!is_leaving)
		return entry;
	return (in_slot ? abd_arc_hold_any_read : abd_arc_hold_any)(arc, thread, hash, key, handle);
}

/* Look up and hold, for a read or for longer. NULL: there is no record. */
static inline __attribute__((always_inline)) struct abd_arc_entry *abd_arc_find_hold(
	struct abd_arc *arc, struct abd_arc_thread *thread, uint64_t hash, const abd_arc_key_t *key,
	bool is_read, void **handle)
{
	struct urcu_bp_reader *section = abd_arc_thread_section(thread);
	struct abd_arc_entry *entry = abd_arc_index_find(arc->index, hash, key);
	bool again = abd_arc_index_is_leaving(entry);

	if (ABD_LIKELY(entry != NULL && !again)) {
		if (!is_read)
			*handle = abd_arc_hold_take(arc, thread, entry);
		else if (ABD_LIKELY(thread != NULL && thread->reading == 0))
			*handle = abd_arc_slot_fill(&thread->slot[0], arc, entry);
		else
			again = true;
	}
	abd_arc_rcu_end(section);
	if (ABD_UNLIKELY(again) && is_read)
		entry = abd_arc_find_unusual(arc, thread, hash, key, handle);
	else if (ABD_UNLIKELY(again))
		entry = abd_arc_hold_any(arc, thread, hash, key, handle);
	if (ABD_UNLIKELY(entry == NULL))
		abd_arc_count(arc, thread, ABD_ARC_COUNT_MISSES);
	return entry;
}

static inline __attribute__((always_inline)) ssize_t abd_arc_read_key(abd_arc_t *first,
	uint64_t hash, const abd_arc_key_t *key, void *dst, size_t off, size_t size, bool touch)
{
	struct abd_arc *arc = abd_arc_shard(first, hash);
	struct abd_arc_thread *thread = abd_arc_thread_enter(arc);
	void *handle;
	struct abd_arc_entry *entry = abd_arc_find_hold(arc, thread, hash, key, true, &handle);

	if (ABD_UNLIKELY(entry == NULL))
		return -ENOENT;
	return abd_arc_read_end(arc, thread, handle, entry, dst, off, size, touch);
}

static inline __attribute__((always_inline)) ssize_t abd_arc_read_as(const char *call,
	abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off, size_t size,
	unsigned flags)
{
	ABD_REQUIRE_IN(call, arc != NULL, "arc is NULL");
	ABD_REQUIRE_IN(call, key != NULL, "key is NULL");
	ABD_REQUIRE_IN(call, dst != NULL || size == 0, "dst is NULL");

	if ((flags & ~(unsigned)ABD_ARC_NO_TOUCH) != 0)
		return -EINVAL;
	return abd_arc_read_key(arc, abd_arc_hash(arc, key), key, dst, off, size, flags == 0);
}

ssize_t abd_arc_read(abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off, size_t size)
{
	return abd_arc_read_as(__func__, arc, key, dst, off, size, 0);
}

ssize_t abd_arc_read_flags(abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off,
	size_t size, unsigned flags)
{
	return abd_arc_read_as(__func__, arc, key, dst, off, size, flags);
}

/*
 * Read a part of a held, compressed record into several runs, through memory of the part's size: a
 * decoder that writes runs decodes whole blocks.
 */
static int abd_arc_read_part(const struct abd_arc *arc, struct abd_arc_entry *entry, abd_t *dst,
	size_t dst_off, size_t off, size_t size)
{
	struct abd_arc_scratch part;
	int error = abd_arc_scratch_get(&part, size);

	if (error != 0)
		return error;
	error = abd_arc_record_read(arc, entry, part.buf, off, size);
	if (error == 0)
		abd_copy_from_buf_off(dst, part.buf, dst_off, size);
	abd_arc_scratch_put(&part);
	return error;
}

static int abd_arc_read_runs(const struct abd_arc *arc, struct abd_arc_entry *entry, abd_t *dst,
	size_t dst_off, size_t off, size_t size)
{
	const abd_t *abd = abd_arc_entry_abd(entry);

	if (off > entry->item.size || size > entry->item.size - off)
		return -EINVAL;
	if (!abd_arc_record_is_sound(arc, entry))
		return -EBADMSG;
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

static ssize_t abd_arc_read_scattered(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key,
	abd_t *dst, size_t dst_off, size_t off, size_t size)
{
	struct abd_arc_thread *thread = abd_arc_thread_enter(arc);
	void *handle;
	struct abd_arc_entry *entry = abd_arc_find_hold(arc, thread, hash, key, true, &handle);

	if (entry == NULL)
		return -ENOENT;
	if (thread != NULL)
		thread->reading |= ABD_ARC_READING_RUNS;
	int error = abd_arc_read_runs(arc, entry, dst, dst_off, off, size);

	if (thread != NULL)
		thread->reading &= ~(unsigned)ABD_ARC_READING_RUNS;
	if (error == 0 && size > 0 && abd_arc_entry_is_compressed(entry))
		abd_arc_count(arc, thread, ABD_ARC_COUNT_DECODES);
	abd_arc_read_over(arc, thread, handle, entry, error, true);
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

	abd_iter_begin_write(&room, __func__, dst, dst_off, size);
	if (room.len < size)
		return abd_arc_read_scattered(
			abd_arc_shard(arc, hash), hash, key, dst, dst_off, off, size);
	return abd_arc_read_key(arc, hash, key, size > 0 ? room.addr : NULL, off, size, true);
}

bool abd_arc_contains(abd_arc_t *arc, const abd_arc_key_t *key)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");

	uint64_t hash = abd_arc_hash(arc, key);

	arc = abd_arc_shard(arc, hash);
	struct urcu_bp_reader *section = abd_arc_thread_section(abd_arc_thread_self);
	const struct abd_arc_entry *entry = abd_arc_index_find(arc->index, hash, key);

	abd_arc_rcu_end(section);
	if (ABD_LIKELY(!abd_arc_index_is_leaving(entry)))
		return entry != NULL;
	pthread_mutex_lock(&arc->lock);
	bool found = abd_arc_find(arc, hash, key) != NULL;

	pthread_mutex_unlock(&arc->lock);
	return found;
}

/* ---- holding --------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) int abd_arc_hold_ready(struct abd_arc *arc,
	struct abd_arc_thread *thread, void *handle, struct abd_arc_entry *entry,
	abd_arc_hold_t *hold, bool touch)
{
	abd_arc_count(arc, thread, ABD_ARC_COUNT_HITS);
	if (ABD_UNLIKELY(!abd_arc_record_is_sound(arc, entry))) {
		abd_arc_damaged(arc, entry);
		abd_arc_hold_end(handle, entry);
		abd_arc_hold_clear(hold);
		return -EBADMSG;
	}
	abd_arc_hold_fill(hold, handle, entry);
	if (ABD_LIKELY(thread != NULL)) {
		if (touch)
			abd_arc_thread_note(arc, thread, entry);
		abd_arc_thread_settle(thread, arc);
	}
	return 0;
}

int abd_arc_hold_found(struct abd_arc *arc, struct abd_arc_thread *thread, void *handle,
	struct abd_arc_entry *entry, abd_arc_hold_t *hold, bool touch)
{
	return abd_arc_hold_ready(arc, thread, handle, entry, hold, touch);
}

int abd_arc_hold_touch(struct abd_arc *arc, struct abd_arc_thread *thread, uint64_t hash,
	const abd_arc_key_t *key, abd_arc_hold_t *hold, bool touch)
{
	void *handle;
	struct abd_arc_entry *entry = abd_arc_find_hold(arc, thread, hash, key, false, &handle);

	if (ABD_UNLIKELY(entry == NULL)) {
		abd_arc_hold_clear(hold);
		return -ENOENT;
	}
	return abd_arc_hold_ready(arc, thread, handle, entry, hold, touch);
}

int abd_arc_hold(abd_arc_t *arc, const abd_arc_key_t *key, abd_arc_hold_t *hold)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(hold != NULL, "hold is NULL");

	uint64_t hash = abd_arc_hash(arc, key);

	arc = abd_arc_shard(arc, hash);
	return abd_arc_hold_touch(arc, abd_arc_thread_enter(arc), hash, key, hold, true);
}

ssize_t abd_arc_hold_read(const abd_arc_hold_t *hold, void *dst, size_t off, size_t size)
{
	struct abd_arc_entry *entry = abd_arc_hold_check(__func__, hold);

	ABD_REQUIRE(dst != NULL || size == 0, "dst is NULL");
	struct abd_arc *arc = abd_arc_handle_arc(hold->entry);
	int error = abd_arc_read_entry(arc, abd_arc_thread_enter(arc), entry, dst, off, size);

	if (ABD_UNLIKELY(error == -EBADMSG))
		abd_arc_damaged(arc, entry);
	return error == 0 ? (ssize_t)size : error;
}

ssize_t abd_arc_read_all(
	abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t capacity, size_t *size_needed)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(key != NULL, "key is NULL");
	ABD_REQUIRE(size_needed != NULL, "size_needed is NULL");
	ABD_REQUIRE(dst != NULL || capacity == 0, "dst is NULL");
	uint64_t hash = abd_arc_hash(arc, key);

	arc = abd_arc_shard(arc, hash);
	struct abd_arc_thread *thread = abd_arc_thread_enter(arc);
	void *handle;
	struct abd_arc_entry *entry = abd_arc_find_hold(arc, thread, hash, key, true, &handle);

	if (entry == NULL)
		return -ENOENT;
	size_t size = entry->item.size;
	bool fits = size <= capacity;
	ssize_t result =
		abd_arc_read_found(arc, thread, handle, entry, dst, 0, fits ? size : 0, true);

	if (result < 0)
		return result;
	*size_needed = size;
	return fits ? result : -ENOSPC;
}

struct abd_arc_entry *abd_arc_hold_check(const char *call, const abd_arc_hold_t *hold)
{
	ABD_REQUIRE_IN(call, hold != NULL, "hold is NULL");
	ABD_REQUIRE_IN(call, hold->entry != NULL, "nothing is held");
	struct abd_arc_entry *entry = abd_arc_held_entry(hold);

	ABD_REQUIRE_IN(call, entry != NULL && abd_arc_entry_abd(entry) == hold->abd,
		"a hold of %zu bytes was released before", hold->stored_size);
	return entry;
}

int abd_arc_hold_dup(const abd_arc_hold_t *hold, abd_arc_hold_t *copy)
{
	ABD_REQUIRE(hold != NULL, "hold is NULL");
	ABD_REQUIRE(copy != NULL, "copy is NULL");
	ABD_REQUIRE(copy != hold, "copy is the hold itself");
	struct abd_arc_entry *entry = abd_arc_hold_check(__func__, hold);

	*copy = *hold;
	copy->entry =
		abd_arc_hold_count(abd_arc_handle_arc(hold->entry), abd_arc_thread_self, entry);
	return 0;
}

void abd_arc_release(abd_arc_hold_t *hold)
{
	ABD_REQUIRE(hold != NULL, "hold is NULL");
	if (hold->entry == NULL)
		return;
	void *handle = hold->entry;
	struct abd_arc_entry *entry = abd_arc_hold_check(__func__, hold);

	abd_arc_hold_clear(hold);
	abd_arc_hold_end(handle, entry);
}
