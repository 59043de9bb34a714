/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading what abd_arc_save() wrote. Records go to the back of their lists in the order in which
 * they come, the best first, until there is no room; nothing that is in the cache makes way.
 * Invariants: what the file says is not used before its checksum agrees, and no size is believed
 * then either; no record takes the place of one that is there, or is being filled in.
 * OpenZFS: l2arc_rebuild(), l2arc_log_blk_restore() in module/zfs/arc.c.
 */
#include "abd_arc_hold.h"
#include "abd_arc_put.h"
#include "abd_arc_save.h"
#include "abd_io.h"

#include <abd/codec.h>

#include <string.h>
#include <unistd.h>

/* What is read at once. It grows to the size of the largest record, if there is room for that. */
#define ABD_ARC_LOAD_BYTES ((size_t)1 << 20)

/* A load under way. */
struct abd_arc_load {
	struct abd_arc *arc;
	int fd;
	uint64_t salt;
	uint64_t full; /* the shards that have no room */
	struct abd_arc_saved saved;
	char *buf; /* what was read: from begin to end */
	size_t room, begin, end;
};

/* The head of a record. */
struct abd_arc_load_head {
	abd_arc_key_t key;
	size_t stored_size, logical_size, index_size;
	unsigned flags, uses;
	uint64_t checksum;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Make room for this many bytes from begin on. False: no memory. */
static bool abd_arc_load_reserve(struct abd_arc_load *load, size_t size)
{
	char *buf = load->buf;

	if (load->room - load->begin >= size)
		return true;
	if (load->room < size) {
		buf = abd_mem_alloc(size, 64);
		if (buf == NULL)
			return false;
	}
	load->end -= load->begin;
	if (load->end > 0)
		memmove(buf, load->buf + load->begin, load->end);
	load->begin = 0;
	if (buf == load->buf)
		return true;
	abd_mem_free(load->buf, load->room, 64);
	load->buf = buf;
	load->room = size;
	return true;
}

/* Read as much as there is room for. Returns the bytes, 0 at the end of the file, or -errno. */
static ssize_t abd_arc_load_more(struct abd_arc_load *load)
{
	unsigned tries = 0;
	ssize_t got;

	do
		got = read(load->fd, load->buf + load->end, load->room - load->end);
	while (got < 0 && errno == EINTR && ++tries < ABD_IO_TRIES);
	if (got < 0)
		return -errno;
	load->end += (size_t)got;
	load->saved.file_bytes += (uint64_t)got;
	return got;
}

/*
 * Read on until this many bytes are there from begin on. Returns 1; 0: the file ends before; or
 * -errno.
 */
static int abd_arc_load_need(struct abd_arc_load *load, size_t size)
{
	ssize_t got = 1;

	if (!abd_arc_load_reserve(load, size))
		return -ENOMEM;
	while (load->end - load->begin < size && got > 0)
		got = abd_arc_load_more(load);
	return got > 0 ? 1 : (int)got;
}

/* Pass over bytes. The same results. */
static int abd_arc_load_skip(struct abd_arc_load *load, size_t size)
{
	int result = 1;

	while (size > 0 && result > 0) {
		size_t part = abd_min(size, load->room);

		result = abd_arc_load_need(load, part);
		load->begin += result > 0 ? part : 0;
		size -= part;
	}
	return result;
}

/*
 * Words of a head, if its checksum agrees. The words stand at begin, where enough bytes were read.
 */
static bool abd_arc_load_words(const struct abd_arc_load *load, uint64_t *word, size_t words,
	uint64_t magic, uint64_t seed)
{
	const char *from = load->buf + load->begin;

	memcpy(word, from, words * sizeof(*word));
	for (size_t i = 0; i < words; i++)
		word[i] = le64toh(word[i]);
	return word[0] == magic && word[1] == abd_arc_save_checksum(from + 2 * sizeof(*word),
						      (words - 2) * sizeof(*word), seed);
}

/* The next place at which a head may begin. */
static void abd_arc_load_seek(struct abd_arc_load *load)
{
	const char *from = load->buf + load->begin + 1;
	const char *next = memchr(from, ABD_ARC_SAVE_RECORD & 0xff, load->end - load->begin - 1);

	load->begin = next != NULL ? (size_t)(next - load->buf) : load->end;
}

/* ---- records --------------------------------------------------------------------------------- */

static struct abd_arc_load_head abd_arc_load_head(const uint64_t word[ABD_ARC_SAVE_RECORD_WORDS])
{
	return (struct abd_arc_load_head){
		.key = {.pool = word[2], .dva = {word[3], word[4]}, .birth = word[5]},
		.logical_size = (uint32_t)word[6],
		.stored_size = (uint32_t)(word[6] >> 32),
		.index_size = (uint32_t)word[7],
		.flags = (uint16_t)(word[7] >> 32),
		.uses = (uint16_t)(word[7] >> 48),
		.checksum = word[8]};
}

/* Whether a record can have these sizes and flags, whoever wrote its head. */
static bool abd_arc_load_is_valid(const struct abd_arc_load_head *head)
{
	return head->stored_size > 0 && head->stored_size <= head->logical_size &&
	       head->logical_size <= ABD_ARC_RECORD_MAX && head->index_size <= head->logical_size;
}

/* Whether there may be room for the record: no more memory is taken for it than the shard has. */
static bool abd_arc_load_may_fit(
	const struct abd_arc_load *load, struct abd_arc *arc, const struct abd_arc_load_head *head)
{
	pthread_mutex_lock(&arc->lock);
	size_t most = arc->capacity;

	pthread_mutex_unlock(&arc->lock);
	return (load->full >> arc->number & 1) == 0 && head->index_size + head->stored_size < most;
}

/* Room for the largest index that an entry may have. */
union abd_arc_load_index {
	struct abd_lz4_index index;
	char bytes[sizeof(struct abd_lz4_index) + 8 * ABD_ARC_GROUPS_MAX];
};

/* The index at begin, or NULL: the record has none, or one of another size. */
static const struct abd_lz4_index *abd_arc_load_index(const struct abd_arc_load *load,
	const struct abd_arc_load_head *head, union abd_arc_load_index *room)
{
	const struct abd_lz4_index *index = &room->index;

	if (head->index_size == 0 ||
		abd_lz4_index_get(&room->index, sizeof(*room), load->buf + load->begin,
			head->index_size, head->stored_size) <= 0)
		return NULL;
	if (sizeof(*index) + index->count * sizeof(index->points[0]) !=
		abd_lz4_index_size(head->logical_size, index->group_size))
		return NULL;
	return index;
}

/*
 * Put a record whose bytes, and index, are at begin. Returns 0, or -ENOMEM. If there is no memory
 * for a large one, those behind it may still have some.
 */
static int abd_arc_load_put(struct abd_arc_load *load, struct abd_arc *arc, uint64_t hash,
	const struct abd_arc_load_head *head)
{
	union abd_arc_load_index room;
	struct abd_arc_source source = {.buf = load->buf + load->begin + head->index_size,
		.stored_size = head->stored_size,
		.logical_size = head->logical_size,
		.index = abd_arc_load_index(load, head, &room),
		.as_is = true};
	bool is_frequent = (head->flags & ABD_ARC_SAVE_FREQUENT) != 0;
	unsigned flags = (head->flags & ABD_ARC_SAVE_METADATA) != 0 ? ABD_ARC_METADATA : 0;
	int error = abd_arc_put_restored(arc, hash, &head->key, flags, &source,
		is_frequent ? ABD_ARC_FREQUENT : ABD_ARC_RECENT, head->uses);

	if (error == -ENOMEM && head->index_size + head->stored_size > ABD_ARC_LOAD_BYTES)
		error = -ENOSPC;
	if (error == -EAGAIN)
		load->full |= (uint64_t)1 << arc->number;
	load->saved.records += error == 0;
	load->saved.stored_bytes += error == 0 ? head->stored_size : 0;
	load->saved.skipped += error != 0 && error != -ENOMEM;
	return error == -ENOMEM ? error : 0;
}

/* Load the record whose head was at begin. Returns 1; 0: the file ends in it; or -errno. */
static int abd_arc_load_record(struct abd_arc_load *load, const struct abd_arc_load_head *head)
{
	uint64_t hash = abd_arc_hash(load->arc, &head->key), seed = load->salt;
	struct abd_arc *arc = abd_arc_shard(load->arc, hash);
	size_t size = head->index_size + head->stored_size;
	int result;

	if (!abd_arc_load_may_fit(load, arc, head) || !abd_arc_load_reserve(load, size)) {
		load->saved.skipped++;
		return abd_arc_load_skip(load, size);
	}
	result = abd_arc_load_need(load, size);
	if (result <= 0) {
		load->saved.damaged += result == 0;
		return result;
	}
	const char *from = load->buf + load->begin;

	if (head->index_size > 0)
		seed = abd_arc_save_checksum(from, head->index_size, seed);
	if (abd_arc_save_checksum(from + head->index_size, head->stored_size, seed) !=
		head->checksum)
		load->saved.damaged++;
	else
		result = abd_arc_load_put(load, arc, hash, head);
	load->begin += size;
	return result < 0 ? result : 1;
}

/* Load all records. Returns 1: the end was found; 0: the file ends before; or -errno. */
static int abd_arc_load_all(struct abd_arc_load *load)
{
	const uint64_t all = UINT64_MAX >> (64 - load->arc->shards);
	uint64_t word[ABD_ARC_SAVE_RECORD_WORDS];
	bool is_lost = false;
	int result;

	while ((result = abd_arc_load_need(load, sizeof(word))) > 0 && load->full != all) {
		bool is_sound = abd_arc_load_words(
			load, word, ABD_ARC_SAVE_RECORD_WORDS, ABD_ARC_SAVE_RECORD, load->salt);
		const struct abd_arc_load_head head = abd_arc_load_head(word);

		if (is_sound && (head.flags & ABD_ARC_SAVE_END) != 0)
			break;
		if (!is_sound || !abd_arc_load_is_valid(&head)) {
			load->saved.damaged += !is_lost;
			is_lost = true;
			abd_arc_load_seek(load);
			continue;
		}
		is_lost = false;
		load->begin += sizeof(word);
		result = abd_arc_load_record(load, &head);
		if (result <= 0)
			break;
	}
	return result;
}

/* In a cache that has learnt nothing yet, T1 gets the part that it had. */
static void abd_arc_load_share(struct abd_arc *arc, uint64_t share)
{
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_policy *policy = &arc->policy;

	if (share <= ABD_ARC_SAVE_SHARE && policy->target_recent == 0 && !policy->forgets &&
		abd_arc_ghosts_count(&policy->ghosts) == 0)
		policy->target_recent = (size_t)((double)policy->capacity * (double)share /
						 (double)ABD_ARC_SAVE_SHARE);
	pthread_mutex_unlock(&arc->lock);
}

/* Load from the head on. Returns 0 or -errno. */
static int abd_arc_load_file(struct abd_arc_load *load)
{
	uint64_t word[ABD_ARC_SAVE_HEAD_WORDS];
	int result = abd_arc_load_need(load, sizeof(word));

	if (result < 0)
		return result;
	if (result == 0 ||
		!abd_arc_load_words(load, word, ABD_ARC_SAVE_HEAD_WORDS, ABD_ARC_SAVE_MAGIC, 0))
		return -EBADMSG;
	load->begin += sizeof(word);
	load->salt = word[2];
	for (uint32_t i = 0; i < load->arc->shards; i++)
		abd_arc_load_share(&load->arc[i], word[3]);
	result = abd_arc_load_all(load);
	load->saved.is_complete = result > 0;
	return result < 0 ? result : 0;
}

int abd_arc_load(abd_arc_t *arc, int fd, struct abd_arc_saved *saved, size_t saved_size)
{
	ABD_REQUIRE(arc != NULL, "arc is NULL");
	ABD_REQUIRE(saved != NULL, "saved is NULL");
	abd_arc_rcu_require_outside(__func__);
	ABD_NO_CANCEL;
	if (saved_size == 0 || saved_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	struct abd_arc_load load = {.arc = arc, .fd = fd};
	int error = -ENOMEM;

	load.buf = abd_mem_alloc(ABD_ARC_LOAD_BYTES, 64);
	if (load.buf != NULL) {
		load.room = ABD_ARC_LOAD_BYTES;
		error = abd_arc_load_file(&load);
		abd_mem_free(load.buf, load.room, 64);
	}
	abd_record_copy(saved, saved_size, &load.saved, sizeof(load.saved));
	return error;
}
