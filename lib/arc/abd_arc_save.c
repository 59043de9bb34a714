/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saving what the cache has, beside threads that use it: in the form of abd_arc_save.h.
 *
 * A walk over the index notes each record's key, and its stamp, which says where it is in its list.
 * Sorted by these, a few records at a time are held, and written from where they lie. Nothing is
 * held, and no lock taken, but for those few.
 * Invariant: a record that is in the cache from begin to end of a save is in the file once.
 * OpenZFS: l2arc_log_blk_commit() in module/zfs/arc.c.
 */
#include "abd_arc_save.h"
#include "abd_arc_hold.h"
#include "abd_arc_record.h"
#include "abd_arc_walk.h"
#include "abd_io.h"

#include <abd/codec.h>
#include <abd/io.h>

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Records that are held and written together. */
#define ABD_ARC_SAVE_HELD 32
/*
 * About how many bytes are written at a time: with 1 MiB the cost of the system call does not show.
 */
#define ABD_ARC_SAVE_BYTES ((size_t)1 << 20)
#define ABD_ARC_SAVE_IOVS 128
/* Room for the indexes of the records that are written together. */
#define ABD_ARC_SAVE_INDEXES ((size_t)16 << 10)

/* A record that was there. */
struct abd_arc_save_item {
	abd_arc_key_t key;
	uint64_t order; /* its stamp; then its place in the file */
	uint32_t cost;
};

struct abd_arc_save_items {
	struct abd_arc_save_item *item;
	size_t count, room;
};

/* A save under way. */
struct abd_arc_save {
	struct abd_arc *arc;
	int fd;
	uint64_t salt;
	uint64_t share; /* of T1 */
	struct abd_arc_saved saved;
	int iovs;
	uint64_t placed;                          /* where in the file the next record begins */
	size_t records, held, bytes, index_bytes; /* of the batch */
	struct iovec iov[ABD_ARC_SAVE_IOVS];
	uint64_t head[ABD_ARC_SAVE_HELD][ABD_ARC_SAVE_RECORD_WORDS];
	uint64_t end[ABD_ARC_SAVE_HELD]; /* where in the file each record of the batch ends */
	void *handle[ABD_ARC_SAVE_HELD];
	uint8_t index[ABD_ARC_SAVE_INDEXES];
};

uint64_t abd_arc_save_checksum(const void *buf, size_t size, uint64_t seed)
{
	abd_t view;

	abd_arc_record_view(&view, buf, size);
	uint64_t checksum = abd_xxh3(&view, 0, size, seed);

	abd_free(&view);
	return checksum;
}

/* ---- what is there, and in which order ------------------------------------------------------- */

/* Make room for more items: for an eighth more than that in all. False: no memory. */
static bool abd_arc_save_reserve(struct abd_arc_save_items *items, size_t more)
{
	size_t room = (items->count + more) / 8 * 9 + 1024;
	struct abd_arc_save_item *item;

	if (items->room - items->count >= more)
		return true;
	item = abd_mem_alloc(room * sizeof(*item), 64);
	if (item == NULL)
		return false;
	if (items->room > 0) {
		memcpy(item, items->item, items->count * sizeof(*item));
		abd_mem_free(items->item, items->room * sizeof(*item), 64);
	}
	items->item = item;
	items->room = room;
	return true;
}

/* One step of the walk. False: no memory. */
static bool abd_arc_save_step(struct abd_arc_save_items *items, struct abd_arc_walk *walk)
{
	struct abd_arc_save_item copy[ABD_ARC_WALK_MOST];

	abd_arc_rcu_read_lock();
	abd_arc_walk_step(walk, false);
	for (size_t i = 0; i < walk->count; i++)
		copy[i] = (struct abd_arc_save_item){walk->found[i]->key,
			abd_arc_item_stamp(&walk->found[i]->item), walk->found[i]->item.cost};
	abd_arc_rcu_read_unlock();
	if (walk->count == 0)
		return true;
	if (!abd_arc_save_reserve(items, walk->count))
		return false;
	memcpy(items->item + items->count, copy, walk->count * sizeof(*copy));
	items->count += walk->count;
	return true;
}

/* The newest first: those of T2, then those of T1. */
static int abd_arc_save_by_age(const void *one, const void *other)
{
	const struct abd_arc_save_item *a = one, *b = other;

	return (a->order < b->order) - (a->order > b->order);
}

static int abd_arc_save_by_place(const void *one, const void *other)
{
	return abd_arc_save_by_age(other, one);
}

/*
 * Give the items of a shard their places among those of all, in which each list of each shard gets
 * ahead in proportion. What T1 has beyond its target comes behind all other records.
 */
static void abd_arc_save_place(struct abd_arc_save_item *item, size_t count, size_t target)
{
	const double scale = (double)((uint64_t)1 << 50);
	double before[2] = {0, 0}, total[2] = {0, 0};

	for (size_t i = 0; i < count; i++)
		total[item[i].order >= ABD_ARC_STAMP_FREQUENT] += item[i].cost;
	const double first[2] = {total[0] < (double)target ? total[0] : (double)target, total[1]};

	for (size_t i = 0; i < count; i++) {
		bool is_frequent = item[i].order >= ABD_ARC_STAMP_FREQUENT;
		double at = before[is_frequent];
		double place = at < first[is_frequent] ? at / first[is_frequent]
						       : 1 + at / total[is_frequent];

		item[i].order = (uint64_t)(place * scale);
		before[is_frequent] += item[i].cost;
	}
}

static size_t abd_arc_save_count(struct abd_arc *arc)
{
	size_t count = 0;

	for (uint32_t i = 0; i < arc->shards; i++) {
		pthread_mutex_lock(&arc[i].lock);
		count += abd_arc_entries(&arc[i]);
		pthread_mutex_unlock(&arc[i].lock);
	}
	return count;
}

/* Note what a shard has. *target grows by what T1 should have there. False: no memory. */
static bool abd_arc_save_shard(
	struct abd_arc_save_items *items, struct abd_arc *arc, double *target, double *capacity)
{
	struct abd_arc_walk walk = {.index = arc->index};
	size_t first = items->count;

	do
		if (!abd_arc_save_step(items, &walk))
			return false;
	while (abd_arc_walk_next(&walk));
	pthread_mutex_lock(&arc->lock);
	size_t target_recent = arc->policy.target_recent;

	*target += (double)target_recent;
	*capacity += (double)arc->policy.capacity;
	pthread_mutex_unlock(&arc->lock);
	size_t count = items->count - first;

	if (count == 0)
		return true;
	qsort(items->item + first, count, sizeof(*items->item), abd_arc_save_by_age);
	abd_arc_save_place(items->item + first, count, target_recent);
	return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Write what was gathered. Returns 0 or -errno. */
static int abd_arc_save_flush(struct abd_arc_save *save)
{
	struct iovec *iov = save->iov;
	unsigned tries = 0;

	while (save->iovs > 0) {
		ssize_t got = writev(save->fd, iov, save->iovs);

		if (got < 0 && errno == EINTR && ++tries < ABD_IO_TRIES)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		tries = 0;
		save->saved.file_bytes += (uint64_t)got;
		for (; save->iovs > 0 && (size_t)got >= iov->iov_len; save->iovs--)
			got -= (ssize_t)iov++->iov_len;
		if (save->iovs > 0) {
			iov->iov_base = (char *)iov->iov_base + got;
			iov->iov_len -= (size_t)got;
		}
	}
	return 0;
}

/* Gather bytes, which stay where they are until the next flush. */
static int abd_arc_save_add(struct abd_arc_save *save, void *buf, size_t size)
{
	int error = save->iovs < ABD_ARC_SAVE_IOVS ? 0 : abd_arc_save_flush(save);

	if (error == 0 && size > 0)
		save->iov[save->iovs++] = (struct iovec){buf, size};
	return error;
}

static int abd_arc_save_add_abd(struct abd_arc_save *save, const abd_t *abd)
{
	size_t size = abd_get_size(abd), covered;
	int error = 0;

	for (size_t off = 0; error == 0 && off < size; off += covered) {
		save->iovs += abd_to_iov(abd, off, size - off, save->iov + save->iovs,
			ABD_ARC_SAVE_IOVS - save->iovs, &covered);
		if (off + covered < size)
			error = abd_arc_save_flush(save);
	}
	return error;
}

/* Finish a head, whose words stand from the third one on. */
static void abd_arc_save_seal(uint64_t *word, size_t words, uint64_t magic, uint64_t seed)
{
	for (size_t i = 2; i < words; i++)
		word[i] = htole64(word[i]);
	word[0] = htole64(magic);
	word[1] = htole64(abd_arc_save_checksum(word + 2, (words - 2) * sizeof(*word), seed));
}

/* Gather the head, the index and the bytes of a record that is held. */
static int abd_arc_save_entry(struct abd_arc_save *save, struct abd_arc *arc,
	struct abd_arc_entry *entry, uint64_t head[ABD_ARC_SAVE_RECORD_WORDS])
{
	const abd_t *abd = abd_arc_entry_abd(entry);
	bool is_frequent = abd_arc_item_list(&entry->item) == ABD_ARC_FREQUENT;
	unsigned flags = (is_frequent ? ABD_ARC_SAVE_FREQUENT : 0) |
			 (abd_arc_entry_is_metadata(entry) ? ABD_ARC_SAVE_METADATA : 0);
	uint64_t seed = save->salt;
	uint8_t *form = save->index + save->index_bytes;
	size_t stored = abd_get_size(abd);
	ssize_t index_size = 0;
	int error;

	if (entry->item.indexed)
		index_size = abd_lz4_index_put(form, ABD_ARC_SAVE_INDEXES - save->index_bytes,
			abd_arc_entry_index(arc, entry), abd_arc_entry_index_size(arc, entry),
			stored);
	if (index_size > 0)
		seed = abd_arc_save_checksum(form, (size_t)index_size, seed);
	else
		index_size = 0;
	memcpy(&head[2], &entry->key, sizeof(entry->key));
	head[6] = entry->item.size | (uint64_t)stored << 32;
	head[7] = (uint64_t)index_size | (uint64_t)flags << 32 |
		  (uint64_t)abd_arc_item_uses(&entry->item) << 48;
	head[8] = abd_xxh3(abd, 0, stored, seed);
	abd_arc_save_seal(head, ABD_ARC_SAVE_RECORD_WORDS, ABD_ARC_SAVE_RECORD, save->salt);
	save->index_bytes += (size_t)index_size;
	save->bytes += stored;
	save->placed += ABD_ARC_SAVE_RECORD_WORDS * sizeof(*head) + (size_t)index_size + stored;
	save->end[save->records++] = save->placed;
	error = abd_arc_save_add(save, head, ABD_ARC_SAVE_RECORD_WORDS * sizeof(*head));
	if (error == 0)
		error = abd_arc_save_add(save, form, (size_t)index_size);
	return error == 0 ? abd_arc_save_add_abd(save, abd) : error;
}

/* Hold a record, if it is still there, and gather it. */
static int abd_arc_save_record(struct abd_arc_save *save, const abd_arc_key_t *key)
{
	uint64_t hash = abd_arc_hash(save->arc, key);
	struct abd_arc *arc = abd_arc_shard(save->arc, hash);
	void **handle = &save->handle[save->held];
	struct abd_arc_entry *entry =
		abd_arc_hold_any(arc, abd_arc_thread_enter(arc), hash, key, handle);

	if (entry == NULL)
		return 0;
	save->held++;
	/* One that has been evicted has left, held or not. */
	if (abd_arc_item_list(&entry->item) == ABD_ARC_NONE)
		return 0;
	if (!abd_arc_record_is_sound(arc, entry)) {
		save->saved.damaged++;
		return 0;
	}
	return abd_arc_save_entry(save, arc, entry, save->head[save->records]);
}

static bool abd_arc_save_is_full(const struct abd_arc_save *save)
{
	return save->held == ABD_ARC_SAVE_HELD || save->bytes >= ABD_ARC_SAVE_BYTES ||
	       save->index_bytes > ABD_ARC_SAVE_INDEXES / 2;
}

/* Count the records of the batch that the file has whole. */
static void abd_arc_save_tally(struct abd_arc_save *save)
{
	for (size_t i = 0; i < save->records && save->end[i] <= save->saved.file_bytes; i++) {
		save->saved.records++;
		save->saved.stored_bytes += le64toh(save->head[i][6]) >> 32;
	}
}

/* Write the next records, and end their holds. */
static int abd_arc_save_batch(
	struct abd_arc_save *save, const struct abd_arc_save_items *items, size_t *at)
{
	int error = 0;

	save->records = save->held = save->bytes = save->index_bytes = 0;
	for (; error == 0 && *at < items->count && !abd_arc_save_is_full(save); ++*at)
		error = abd_arc_save_record(save, &items->item[*at].key);
	if (error == 0)
		error = abd_arc_save_flush(save);
	abd_arc_save_tally(save);
	for (size_t i = 0; i < save->held; i++)
		abd_arc_hold_end(save->handle[i], abd_arc_handle_entry(save->handle[i]));
	return error;
}

/* What T1 should have, as a part of what all records may cost. */
static uint64_t abd_arc_save_share(double target, double capacity)
{
	return capacity > 0 ? (uint64_t)(target / capacity * (double)ABD_ARC_SAVE_SHARE) : 0;
}

static int abd_arc_save_write(struct abd_arc_save *save, const struct abd_arc_save_items *items)
{
	uint64_t head[ABD_ARC_SAVE_HEAD_WORDS] = {[2] = save->salt, [3] = save->share};
	uint64_t end[ABD_ARC_SAVE_RECORD_WORDS] = {[7] = (uint64_t)ABD_ARC_SAVE_END << 32};
	int error;

	abd_arc_save_seal(head, ABD_ARC_SAVE_HEAD_WORDS, ABD_ARC_SAVE_MAGIC, 0);
	error = abd_arc_save_add(save, head, sizeof(head));
	save->placed = sizeof(head);
	for (size_t at = 0; error == 0 && at < items->count;)
		error = abd_arc_save_batch(save, items, &at);
	if (error != 0)
		return error;
	abd_arc_save_seal(end, ABD_ARC_SAVE_RECORD_WORDS, ABD_ARC_SAVE_RECORD, save->salt);
	error = abd_arc_save_add(save, end, sizeof(end));
	if (error == 0)
		error = abd_arc_save_flush(save);
	save->saved.is_complete = error == 0;
	return error;
}

int abd_arc_save(abd_arc_t *arc, int fd, struct abd_arc_saved *saved, size_t saved_size)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(saved != NULL, "saved is NULL");
	ABD_NO_CANCEL;
	if (saved_size == 0 || saved_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	struct abd_arc_save_items items = {NULL, 0, 0};
	struct abd_arc_save *save = abd_mem_alloc(sizeof(*save), 64);
	double target = 0, capacity = 0;
	int error =
		save != NULL && abd_arc_save_reserve(&items, abd_arc_save_count(arc)) ? 0 : -ENOMEM;

	memset(saved, 0, saved_size);
	for (uint32_t i = 0; error == 0 && i < arc->shards; i++)
		if (!abd_arc_save_shard(&items, &arc[i], &target, &capacity))
			error = -ENOMEM;
	if (error == 0) {
		if (items.count > 0)
			qsort(items.item, items.count, sizeof(*items.item), abd_arc_save_by_place);
		memset(save, 0, sizeof(*save));
		save->arc = arc;
		save->fd = fd;
		save->salt = abd_arc_seed(save);
		save->share = abd_arc_save_share(target, capacity);
		error = abd_arc_save_write(save, &items);
		abd_record_copy(saved, saved_size, &save->saved, sizeof(save->saved));
	}
	if (items.room > 0)
		abd_mem_free(items.item, items.room * sizeof(*items.item), 64);
	if (save != NULL)
		abd_mem_free(save, sizeof(*save), 64);
	return error;
}
