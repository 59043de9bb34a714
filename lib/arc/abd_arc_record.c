/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How records are stored: as an lz4 block if that saves an eighth, else as the bytes themselves.
 * What looks random is not tried (abd_lz4_might_pay()).
 * In a slot the buffer is linear, so the decoder reads it without a copy; one that is too large for
 * that is a buffer like any other.
 * OpenZFS: zio_get_compression_max_size() in module/zfs/zio.c for the eighth, arc_hdr_alloc_abd(),
 * arc_buf_fill() in module/zfs/arc.c.
 */
#include "abd_arc_record.h"
#include "abd_arc_thread.h"
#include "abd_impl.h"
#include "abd_lz4_decompress_indexed.h"
#include "abd_lz4_frame.h"
#include "abd_lz4_index_verify.h"

#include <abd/codec.h>
#include <abd/io.h>
#include <abd/operate.h>

#include <string.h>

void abd_arc_record_view(abd_t *view, const void *buf, size_t size)
{
	void *memory; /* there is no const view of memory */

	memcpy(&memory, &buf, sizeof(memory));
	abd_get_from_buf_struct(view, memory, size);
}

size_t abd_arc_record_index_size(const struct abd_arc *arc, size_t size)
{
	if (arc->block_index_min == 0 || size < arc->block_index_min ||
		size <= arc->block_index_group ||
		size > (size_t)arc->block_index_group * ABD_ARC_GROUPS_MAX)
		return 0;
	return abd_lz4_index_size(size, arc->block_index_group);
}

/* Compress with an index if the record gets one and both together save an eighth, else without. */
static ssize_t abd_arc_record_compress(const struct abd_arc *arc, struct abd_arc_stored *record,
	const struct abd_arc_source *source, const abd_t *src, abd_t *dst)
{
	size_t size = record->logical_size, head = abd_arc_record_index_size(arc, size);
	int effort = (int)source->effort;
	ssize_t produced = -ENOSPC;
	abd_t room;

	if (head > 0) {
		abd_get_from_buf_struct(
			&room, (char *)record->scratch + head, abd_lz4_room(size) - head);
		produced = abd_lz4_compress_indexed(&room, src, 0, source->off, size,
			arc->block_index_group, effort, record->scratch);
		abd_free(&room);
	}
	record->index = record->scratch;
	record->index_size = produced > 0 ? head : 0;
	if (produced <= 0)
		produced = abd_lz4_compress_effort(dst, src, 0, source->off, size, effort);
	/* The longer search needs memory of its own. */
	return produced != -ENOMEM ? produced : abd_lz4_compress(dst, src, 0, source->off, size);
}

int abd_arc_record_begin(const struct abd_arc *arc, struct abd_arc_stored *record,
	const struct abd_arc_source *source)
{
	size_t size = source->logical_size, room = abd_lz4_room(size);
	const abd_t *from = source->abd;
	abd_t src, dst;
	ssize_t produced;
	int result = 0;

	*record = (struct abd_arc_stored){.buf = source->buf,
		.abd = source->abd,
		.off = source->off,
		.give = source->give,
		.stored_size = source->stored_size,
		.logical_size = size,
		.index = source->index,
		.checksum = source->checksum};
	if (source->index != NULL)
		record->index_size = abd_lz4_index_size(size, source->index->group_size);
	/* Fewer than 8 bytes: an eighth is less than one byte. */
	if (room == size || source->as_is)
		return 0;
	if (source->buf != NULL) {
		abd_arc_record_view(&src, source->buf, size);
		from = &src;
	}
	if (!abd_lz4_might_pay(from, source->off, size))
		goto out;
	record->scratch = abd_buf_alloc(room, false);
	if (record->scratch == NULL) {
		result = -ENOMEM;
		goto out;
	}
	record->scratch_size = room;

	abd_get_from_buf_struct(&dst, record->scratch, room);
	produced = abd_arc_record_compress(arc, record, source, from, &dst);
	abd_free(&dst);
	if (produced > 0) {
		record->buf = (const char *)record->scratch + record->index_size;
		record->give = false;
		record->stored_size = (size_t)produced;
		record->compressed = true;
	} else {
		record->index_size = 0;
	}
	if (produced == -ENOMEM) {
		abd_arc_record_end(record);
		result = -ENOMEM;
	}
out:
	if (source->buf != NULL)
		abd_free(&src);
	return result;
}

void abd_arc_record_end(struct abd_arc_stored *record)
{
	abd_buf_free(record->scratch, record->scratch_size);
	record->scratch = NULL;
}

void abd_arc_record_place(struct abd_arc_entry *entry, void *data, size_t size, bool is_metadata)
{
	void *home = entry->own.abd_u.abd_linear.abd_home;

	abd_get_from_buf_struct(&entry->own, data, size);
	entry->own.abd_flags |= is_metadata ? ABD_FLAG_META : 0;
	entry->own.abd_u.abd_linear.abd_home = home;
}

/* Make abd the entry's buffer. */
static void abd_arc_record_give(struct abd_arc_entry *entry, abd_t *abd)
{
	void *home = entry->own.abd_u.abd_linear.abd_home;

	if (abd_is_linear(abd))
		abd_struct_move(&entry->own, abd);
	else
		entry->own = (abd_t){.abd_parent = abd};
	entry->own.abd_u.abd_linear.abd_holds = 0;
	entry->own.abd_u.abd_linear.abd_home = home;
}

/*
 * A larger record wastes less than a 32nd of its pages on average; and a split one can be moved,
 * for which it is copied.
 */
#define ABD_ARC_SPLIT_MAX ((size_t)128 << 10)

/* Where the rest of a split record lies in its slot: behind struct and tables. */
static size_t abd_arc_split_rest(size_t size)
{
	return abd_round_up(abd_split_head_size(size), ABD_ARC_ALIGNMENT);
}

size_t abd_arc_record_split_bytes(size_t size)
{
	if (size <= ABD_CHUNK_SIZE || size > ABD_ARC_SPLIT_MAX || size % ABD_CHUNK_SIZE == 0)
		return 0;
	return abd_arc_split_rest(size) + size % ABD_CHUNK_SIZE;
}

abd_t *abd_arc_record_split(const struct abd_arc *arc, struct abd_arc_entry *entry, size_t head,
	size_t size, bool is_metadata)
{
	size_t rest = head + abd_arc_split_rest(size);
	char *slot = (char *)entry;
	abd_t *abd = NULL;

	/* More runs than were planned, if max_order has changed meanwhile, have no room. */
	if (rest + size % ABD_CHUNK_SIZE <= abd_arc_store_bytes_of(&arc->store, entry))
		abd = abd_split_make(slot + head, rest - head, size, slot + rest, is_metadata);
	if (abd != NULL)
		abd_arc_record_give(entry, abd);
	return abd;
}

bool abd_arc_record_store(const struct abd_arc *arc, const struct abd_arc_stored *record,
	struct abd_arc_entry *entry, enum abd_arc_place place, bool is_metadata)
{
	size_t head = abd_arc_entry_size(arc, record->index_size, record->stored_size);
	char *data = (char *)entry + head;

	if (record->give) {
		if (record->stored_size < abd_get_size(record->abd))
			abd_scatter_trim(record->abd, record->stored_size);
		abd_arc_record_give(entry, record->abd);
		return true;
	}
	if (place == ABD_ARC_IN_SLOT) {
		if (record->buf != NULL)
			memcpy(data, record->buf, record->stored_size);
		else
			abd_copy_to_buf_off(data, record->abd, record->off, record->stored_size);
		abd_arc_record_place(entry, data, record->stored_size, is_metadata);
		return true;
	}

	bool is_split = place == ABD_ARC_SPLIT;
	abd_t *abd =
		is_split ? abd_arc_record_split(arc, entry, head, record->stored_size, is_metadata)
			 : abd_alloc(record->stored_size, is_metadata);

	if (abd == NULL)
		return false;
	if (record->buf != NULL)
		abd_copy_from_buf(abd, record->buf, record->stored_size);
	else
		abd_copy_off(abd, record->abd, 0, record->off, record->stored_size);
	if (!is_split)
		abd_arc_record_give(entry, abd);
	return true;
}

void abd_arc_record_free(struct abd_arc_entry *entry)
{
	void *home = entry->own.abd_u.abd_linear.abd_home;

	if (abd_arc_entry_is_split(entry))
		abd_split_free(entry->own.abd_parent);
	else
		abd_free(abd_arc_entry_abd(entry));
	entry->own.abd_u.abd_linear.abd_home = home;
}

/* How much memory abd_mem_cache_alloc() takes for a size. */
static size_t abd_arc_class_size(size_t size)
{
	if (size > ABD_MEM_CACHE_MAX)
		return abd_round_up(size, 4096);
	abd_mem_cache_class(&size);
	return size;
}

size_t abd_arc_record_bytes(const abd_t *abd)
{
	size_t size = abd_get_size(abd);

	if (abd_is_linear(abd) && !abd_is_linear_page(abd))
		return abd_arc_class_size(size);

	/* All runs but the last are full. */
	size_t head = 0, last = size;

	if (!abd_is_linear(abd)) {
		head = abd_arc_class_size(abd_scatter_head_size(abd));
		last = ABD_SCATTER(abd).abd_runs[ABD_SCATTER(abd).abd_run_count - 1].iov_len;
	}
	return head + size - last + (ABD_CHUNK_SIZE << abd_run_order(last));
}

size_t abd_arc_record_estimate(size_t size)
{
	if (abd_size_alloc_linear(size))
		return abd_arc_class_size(size);

	struct abd_scatter_cost cost = abd_scatter_cost(size);

	return (cost.head_size > 0 ? abd_arc_class_size(cost.head_size) : 0) + cost.run_bytes;
}

static void abd_arc_record_add(uint64_t *sum, uint64_t value, bool more)
{
	*sum = more ? *sum + value : *sum - value;
}

void abd_arc_record_count(struct abd_arc *arc, struct abd_arc_entry *entry, bool more)
{
	bool is_metadata = abd_arc_entry_is_metadata(entry);
	size_t stored = abd_arc_entry_stored(entry);

	abd_arc_record_add(&arc->stats.stored_bytes, stored, more);
	abd_arc_record_add(&arc->stats.logical_bytes, entry->item.size, more);
	abd_arc_record_add(&arc->stats.metadata_stored_bytes, is_metadata ? stored : 0, more);
	abd_arc_record_add(&arc->stats.metadata_entries, is_metadata, more);
	abd_arc_record_add(&arc->stats.index_bytes, abd_arc_entry_index_size(arc, entry), more);
}

void abd_arc_record_retire(struct abd_arc *arc, struct abd_arc_entry *entry, uint64_t left)
{
	abd_arc_record_count(arc, entry, false);
	atomic_store_explicit(
		&entry->item.stamp, abd_arc_stamp_retired(arc) + left, memory_order_relaxed);
	arc->evicted_bytes += entry->item.cost;
	arc->retired_bytes += entry->item.cost;
	arc->retired_count++;
	abd_arc_link_push(&arc->retired, &entry->item.link);
}

bool abd_arc_record_is_sound(const struct abd_arc *arc, struct abd_arc_entry *entry)
{
	uint64_t checksum[4];

	if (ABD_LIKELY((arc->flags & ABD_ARC_CHECKSUM) == 0))
		return true;
	abd_fletcher_4(abd_arc_entry_abd(entry), 0, abd_arc_entry_stored(entry), checksum);
	return memcmp(checksum, entry->checksum, sizeof(checksum)) == 0;
}

/*
 * The engine's allocator may read from the cache itself, while the read that calls it holds a
 * record: so its reads must not use the slots of reads.
 */
int abd_arc_scratch_get(struct abd_arc_scratch *scratch, size_t size)
{
	bool was = abd_arc_callback_set(true);

	size += ABD_LZ4_SLACK;
	scratch->size = size;
	scratch->buf = abd_buf_alloc(size, false);
	abd_arc_callback_set(was);
	scratch->is_own = scratch->buf == NULL;
	if (scratch->is_own)
		scratch->buf = abd_mem_alloc(size, 64);
	return scratch->buf != NULL ? 0 : -ENOMEM;
}

void abd_arc_scratch_put(struct abd_arc_scratch *scratch)
{
	bool was = abd_arc_callback_set(true);

	if (scratch->buf != NULL && scratch->is_own)
		abd_mem_free(scratch->buf, scratch->size, 64);
	else
		abd_buf_free(scratch->buf, scratch->size);
	abd_arc_callback_set(was);
	scratch->buf = NULL;
}

int abd_arc_record_verify(const struct abd_arc_source *source)
{
	size_t size = source->logical_size;
	struct abd_arc_scratch scratch;
	uint64_t checksum[4];

	if (source->checksum != NULL) {
		abd_fletcher_4(source->abd, source->off, source->stored_size, checksum);
		if (memcmp(checksum, source->checksum, sizeof(checksum)) != 0)
			return -EBADMSG;
	}
	int error = abd_arc_scratch_get(&scratch, size);

	if (error == 0 && abd_lz4_decompress_exact_to_buf(scratch.buf, source->abd, size,
				  source->off, source->stored_size) != (ssize_t)size)
		error = -EBADMSG;
	abd_arc_scratch_put(&scratch);
	if (error == 0 && source->index != NULL)
		error = abd_lz4_index_verify(
			source->index, source->abd, source->off, source->stored_size);
	return error;
}

/* Decode the first size bytes of a compressed record. */
static ssize_t abd_arc_record_decode(struct abd_arc_entry *entry, void *dst, size_t size)
{
	const abd_t *abd = abd_arc_entry_abd(entry);
	size_t stored_size = abd_arc_entry_stored(entry);

	if (ABD_LIKELY(size == entry->item.size))
		return abd_lz4_decompress_exact_to_buf(dst, abd, size, 0, stored_size);
	return abd_lz4_decompress_range_to_buf(dst, abd, 0, size, 0, stored_size);
}

/* The same from off on: matches may reach back to bytes before it, so those are decoded too. */
static ssize_t abd_arc_record_decode_range(const struct abd_arc *arc, struct abd_arc_entry *entry,
	void *dst, size_t off, size_t size, void *scratch)
{
	size_t stored_size = abd_arc_entry_stored(entry), end = off + size;

	if (entry->item.indexed)
		return abd_lz4_decompress_indexed(dst, abd_arc_entry_abd(entry), off, size, 0,
			stored_size, abd_arc_entry_index(arc, entry), scratch);
	if (abd_arc_record_decode(entry, scratch, end) != (ssize_t)end)
		return -EBADMSG;
	memcpy(dst, (const char *)scratch + off, size);
	return (ssize_t)size;
}

int abd_arc_record_read(
	const struct abd_arc *arc, struct abd_arc_entry *entry, void *dst, size_t off, size_t size)
{
	struct abd_arc_scratch scratch;
	ssize_t got;

	if (size == 0)
		return 0;
	if (!abd_arc_entry_is_compressed(entry)) {
		abd_copy_to_buf_off(dst, abd_arc_entry_abd(entry), off, size);
		return 0;
	}
	if (ABD_LIKELY(off == 0)) {
		got = abd_arc_record_decode(entry, dst, size);
	} else {
		int error = abd_arc_scratch_get(&scratch, off + size);

		if (error != 0)
			return error;
		got = abd_arc_record_decode_range(arc, entry, dst, off, size, scratch.buf);
		abd_arc_scratch_put(&scratch);
	}
	return got == (ssize_t)size ? 0 : -EBADMSG;
}
