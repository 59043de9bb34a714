/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Putting.
 *
 * If first puts are only remembered, whether this is one is decided before anything else is done.
 * A put compresses without a lock. It asks the policy, which may evict. It waits for readers only
 * if too little memory is left. Then it puts the record in, which readers see as one step. A put
 * reserves room before it allocates memory, so the cache stays within its capacity. The one
 * exception: concurrent puts together reserve more than there is to evict. Then all of them go
 * ahead, and each evicts what is too much when it is done.
 * OpenZFS: arc_write_done(), arc_read_done(), arc_hdr_alloc().
 */
#include "abd_arc_callback.h"
#include "abd_arc_filling.h"
#include "abd_arc_hold.h"
#include "abd_arc_put.h"
#include "abd_check.h"
#include "abd_impl.h"

#include <abd/codec.h>
#include <abd/operate.h>

#include <string.h>

/*
 * A new record may displace others of its quota. They are evicted when it is published, when its
 * key's old record no longer counts. If it costs more than DISPLACE_BYTES, most of them are evicted
 * before, DISPLACE_PIECE at a time, so that the lock is not held for all of them.
 */
#define ABD_ARC_DISPLACE_BYTES ((size_t)64 << 10)
#define ABD_ARC_DISPLACE_PIECE 256

struct abd_arc_put {
	const abd_arc_key_t *key;
	uint64_t hash;
	/* this thread's block, or NULL; its hits are reported to the policy first */
	struct abd_arc_thread *thread;
	unsigned flags;
	enum abd_arc_list_id list;
	int class; /* of the slot */
	enum abd_arc_place place;
	bool restores;    /* it comes from a save: nothing makes way for it */
	unsigned uses;    /* then: how often it was used */
	size_t callbacks; /* how many eviction callbacks it may still run */
	bool grows;       /* its slot takes a slab from the system */
	bool exceeds;     /* it found no room, or little */
	size_t reserved;  /* of the policy's capacity */
	size_t run_bytes; /* for a buffer */
	struct abd_arc_stored record;
	struct abd_arc_entry *entry;
	struct abd_arc_filling *filling; /* that the put ends, or NULL */
	struct abd_arc_waiter *waiter;   /* who waited for it then */
	void **handle;                   /* of the hold that then holds the record; or NULL */
};

static bool abd_arc_put_is_metadata(const struct abd_arc_put *put)
{
	return (put->flags & ABD_ARC_METADATA) != 0;
}

/*
 * Plan to store the record in this place, behind head bytes of a slot. False: no class has such
 * slots.
 */
static bool abd_arc_put_plan_in(
	const struct abd_arc *arc, struct abd_arc_put *put, size_t head, enum abd_arc_place place)
{
	size_t stored = put->record.stored_size, in_slot = 0, run_bytes = 0;

	if (place == ABD_ARC_IN_SLOT) {
		in_slot = stored;
	} else if (place == ABD_ARC_SPLIT) {
		in_slot = abd_size_alloc_linear(stored) ? 0 : abd_arc_record_split_bytes(stored);
		run_bytes = stored & ~(ABD_CHUNK_SIZE - 1);
		if (in_slot == 0)
			return false;
	} else {
		run_bytes = put->record.give ? abd_arc_record_bytes(put->record.abd)
					     : abd_arc_record_estimate(stored);
	}

	int class = abd_arc_store_class(&arc->store, head + in_slot);

	if (class < 0)
		return false;
	put->place = place;
	put->class = class;
	put->run_bytes = run_bytes;
	return true;
}

static size_t abd_arc_put_cost(const struct abd_arc *arc, const struct abd_arc_put *put)
{
	return abd_arc_store_slot_size(&arc->store, put->class) + put->run_bytes;
}

/*
 * Choose the place of the record: in the entry's slot, if there are slots of that size and no slab
 * was refused; else in a buffer of its own, or split if that takes less. Returns what it will cost.
 * Under lock.
 */
static size_t abd_arc_put_plan(const struct abd_arc *arc, struct abd_arc_put *put)
{
	size_t head = abd_arc_entry_size(arc, put->record.index_size, put->record.stored_size);
	bool slots = put->place == ABD_ARC_IN_SLOT;

	if (abd_arc_store_class(&arc->store, head) < 0) {
		put->record.index_size = 0; /* a block does without, in a cache so small */
		head = abd_arc_entry_size(arc, 0, put->record.stored_size);
	}
	if (slots && abd_arc_put_plan_in(arc, put, head, ABD_ARC_IN_SLOT))
		return abd_arc_put_cost(arc, put);
	(void)abd_arc_put_plan_in(arc, put, head, ABD_ARC_IN_BUFFER);

	size_t cost = abd_arc_put_cost(arc, put);

	if (slots && abd_arc_put_plan_in(arc, put, head, ABD_ARC_SPLIT) &&
		abd_arc_put_cost(arc, put) >= cost)
		(void)abd_arc_put_plan_in(arc, put, head, ABD_ARC_IN_BUFFER);
	return abd_arc_put_cost(arc, put);
}

/* Make way in the record's quota, of which the policy was asked: a piece at a time. */
static void abd_arc_put_displace(struct abd_arc *arc, const struct abd_arc_put *put)
{
	bool more = true;

	while (more) {
		pthread_mutex_lock(&arc->lock);
		more = abd_arc_evict_quota(arc, abd_arc_quota_of(arc, abd_arc_put_is_metadata(put)),
			put->reserved, ABD_ARC_DISPLACE_PIECE);
		pthread_mutex_unlock(&arc->lock);
	}
}

/* A result of abd_arc_put_take(): the caller has to make room for a slot. */
#define ABD_ARC_PUT_NO_ROOM 1

/*
 * Take a slot. If there is no room for one, not even after making room, the capacity is exceeded.
 * Returns 0; -ENOMEM; -ENOSPC: evicted_cb puts it, and it would be exceeded by far. Under lock.
 */
static int abd_arc_put_take(struct abd_arc *arc, struct abd_arc_put *put)
{
	int class = abd_arc_store_near(&arc->store, put->class);
	size_t grows = abd_arc_store_next_bytes(&arc->store, class);
	bool in_callback = abd_arc_in_callback(arc);
	/* What a callback puts while a resize makes room would take that room. */
	bool fits = put->exceeds || (in_callback ? abd_arc_excess(arc, class) == 0
						 : abd_arc_has_room(arc, class, grows));

	put->grows = grows > 0;
	if (!fits)
		return ABD_ARC_PUT_NO_ROOM;
	if (in_callback && put->exceeds && abd_arc_is_far_over(arc))
		return -ENOSPC;
	put->entry = abd_arc_store_alloc(&arc->store, class, true);
	return put->entry != NULL ? 0 : -ENOMEM;
}

static void abd_arc_put_reserve(struct abd_arc *arc, struct abd_arc_put *put, size_t cost)
{
	arc->policy.reserved += cost;
	put->reserved = cost;
	arc->run_bytes += put->run_bytes;
}

/* Reserve what is free. Returns 0 or -EAGAIN. Under lock. */
static int abd_arc_put_reserve_free(struct abd_arc *arc, struct abd_arc_put *put, size_t cost)
{
	unsigned quota = abd_arc_quota_of(arc, abd_arc_put_is_metadata(put));

	if (abd_arc_policy_is_over(&arc->policy, cost) ||
		abd_arc_policy_displaced(&arc->policy, quota, cost) != NULL) {
		size_t little = abd_min(cost, abd_arc_reserve(arc->capacity));

		put->run_bytes = 0;
		/* Smaller records, or others than metadata, may have room. */
		return abd_arc_policy_is_over(&arc->policy, little) ? -EAGAIN : -ENOSPC;
	}
	abd_arc_put_reserve(arc, put, cost);
	return 0;
}

/* Ask the policy, evict and reserve. Returns 0 or -ENOSPC. Under lock. */
static int abd_arc_put_admit(struct abd_arc *arc, struct abd_arc_put *put)
{
	bool from_frequent;

	abd_arc_target_follow(arc);
	size_t cost = abd_arc_put_plan(arc, put);

	if (put->thread != NULL)
		abd_arc_thread_report(put->thread, arc);
	/* From here on what was filled in counts as what will be stored. */
	if (put->filling != NULL && put->record.give)
		abd_arc_filling_unreserve(put->filling);
	if (cost > abd_arc_quota_cost_max(arc, abd_arc_put_is_metadata(put))) {
		put->run_bytes = 0;
		return -ENOSPC;
	}
	if (put->restores)
		return abd_arc_put_reserve_free(arc, put, cost);
	enum abd_arc_list_id list =
		abd_arc_policy_ask(&arc->policy, put->hash, cost, &from_frequent);

	if (list == ABD_ARC_FREQUENT) {
		put->list = list; /* kept if memory runs out and the put starts again */
		arc->stats.ghost_hits_recent += !from_frequent;
		arc->stats.ghost_hits_frequent += from_frequent;
	}
	abd_arc_evict_for(arc, put->list, cost, from_frequent);
	abd_arc_put_reserve(arc, put, cost);
	return 0;
}

/* Admit the record and take its slot: with the lock once, if there is room. */
static int abd_arc_put_begin(struct abd_arc *arc, struct abd_arc_put *put)
{
	put->exceeds = false;
	pthread_mutex_lock(&arc->lock);
	int error = abd_arc_put_admit(arc, put);

	if (error == 0 && abd_arc_put_is_metadata(put) && put->reserved > ABD_ARC_DISPLACE_BYTES) {
		pthread_mutex_unlock(&arc->lock);
		abd_arc_put_displace(arc, put);
		pthread_mutex_lock(&arc->lock);
	}
	if (error == 0)
		error = abd_arc_put_take(arc, put);
	pthread_mutex_unlock(&arc->lock);
	if (error != ABD_ARC_PUT_NO_ROOM)
		return error;
	if (put->restores)
		return -EAGAIN;
	abd_arc_make_room(arc, put->class, &put->callbacks);
	put->exceeds = true;
	pthread_mutex_lock(&arc->lock);
	error = abd_arc_put_take(arc, put);
	pthread_mutex_unlock(&arc->lock);
	return error;
}

/* Fill the entry, which nobody else can see yet. Returns 0 or -ENOMEM. */
static int abd_arc_put_fill(const struct abd_arc *arc, const struct abd_arc_put *put)
{
	struct abd_arc_entry *entry = put->entry;
	size_t index_size = put->record.index_size, bytes;
	bool is_summed = abd_arc_checksum_size(arc) > 0 && put->record.checksum != NULL;

	/* These may lie in the buffer, behind the record: before it is cut. */
	if (index_size > 0)
		memcpy(abd_arc_entry_index(arc, entry), put->record.index, index_size);
	if (is_summed)
		memcpy(entry->checksum, put->record.checksum, abd_arc_checksum_size(arc));
	if (!abd_arc_record_store(
		    arc, &put->record, entry, put->place, abd_arc_put_is_metadata(put)))
		return -ENOMEM;
	/* The cost follows from the size, however large the slot is. */
	bytes = abd_arc_put_cost(arc, put);
	if (put->place == ABD_ARC_IN_BUFFER)
		bytes = abd_arc_store_bytes_of(&arc->store, entry) +
			abd_arc_record_bytes(abd_arc_entry_abd(entry));
	entry->key = *put->key;
	entry->item.cost = (uint32_t)bytes;
	entry->item.size = (uint32_t)put->record.logical_size & INT32_MAX;
	entry->item.indexed = index_size > 0;
	if (abd_arc_checksum_size(arc) > 0 && !is_summed)
		abd_fletcher_4(
			abd_arc_entry_abd(entry), 0, put->record.stored_size, entry->checksum);
	return 0;
}

/* Evict an entry that others must not find any more, held or not. Under lock. */
static void abd_arc_evict_out(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	if (abd_arc_item_list(&entry->item) != ABD_ARC_NONE)
		abd_arc_evict(arc, entry);
	abd_arc_drop(arc, entry);
}

/* Put the entry into index and policy. Under lock. */
static void abd_arc_put_publish(
	struct abd_arc *arc, const struct abd_arc_put *put, struct abd_arc_entry *entry)
{
	enum abd_arc_list_id list = put->list;
	struct abd_arc_entry *old;

	/*
	 * A page of the index is full if the index got no memory to grow, or by unlikely chance.
	 * Then one of its records is evicted.
	 */
	while (!abd_arc_index_put(arc->index, put->hash, entry, &old))
		abd_arc_evict_out(arc, abd_arc_index_neighbour(arc->index, put->hash));
	if (old != NULL && abd_arc_item_list(&old->item) == ABD_ARC_NONE) {
		arc->leaving--;
	} else if (old != NULL) {
		/* New content is not a use: the new record goes into the old one's list. */
		if (abd_arc_item_list(&old->item) == ABD_ARC_FREQUENT)
			list = ABD_ARC_FREQUENT;
		abd_arc_policy_remove(&arc->policy, &old->item);
		abd_arc_record_retire(arc, old, 0);
		arc->stats.replaces++;
	}
	unsigned quota = abd_arc_quota_of(arc, abd_arc_put_is_metadata(put));

	(void)abd_arc_evict_quota(arc, quota, entry->item.cost, SIZE_MAX);
	if (put->restores)
		abd_arc_policy_restore(
			&arc->policy, &entry->item, list, quota, put->hash, put->uses);
	else
		abd_arc_policy_insert(&arc->policy, &entry->item, list, quota, put->hash);
	abd_arc_record_count(arc, entry, true);
	arc->stats.puts++;
	/*
	 * If the provider refused orders, the run table is larger than what was reserved.
	 */
	abd_arc_evict_for(arc, ABD_ARC_NONE, 0, false);
}

/*
 * -ESTALE: the key's record was put or removed since the fill began that this ends. -EEXIST: the
 * key of a record that comes from a save has one, or is being filled in. Else 0. Under lock.
 */
static int abd_arc_put_is_late(struct abd_arc *arc, const struct abd_arc_put *put)
{
	if (put->filling != NULL && put->filling->is_overtaken)
		return -ESTALE;
	if (put->restores && (abd_arc_index_find_any(arc->index, put->hash, put->key) != NULL ||
				     abd_arc_filling_find(arc, put->hash, put->key) != NULL))
		return -EEXIST;
	return 0;
}

/* Give back what was reserved. Under lock. */
static void abd_arc_put_unreserve(struct abd_arc *arc, struct abd_arc_put *put)
{
	arc->policy.reserved -= put->reserved;
	arc->run_bytes -= put->run_bytes;
	put->reserved = put->run_bytes = 0;
}

/* Whether it took memory of the system. What comes from a save must not evict ahead of need. */
static bool abd_arc_put_takes_memory(const struct abd_arc_put *put)
{
	return !put->restores && (put->grows || put->place != ABD_ARC_IN_SLOT);
}

/* Returns 0, or what abd_arc_put_is_late() says. */
static int abd_arc_put_insert(struct abd_arc *arc, struct abd_arc_put *put)
{
	struct abd_arc_entry *entry = put->entry;
	bool reclaims = false, over = false, is_pending;
	int error;

	pthread_mutex_lock(&arc->lock);
	error = abd_arc_put_is_late(arc, put);
	if (put->filling != NULL)
		put->waiter = abd_arc_filling_finish(put->filling);
	if (error != 0)
		goto out;
	if (put->filling == NULL)
		abd_arc_filling_overtake(arc, put->hash, put->key);
	abd_arc_put_unreserve(arc, put);
	arc->run_bytes += abd_arc_entry_elsewhere(arc, entry);
	abd_arc_put_publish(arc, put, entry);
	if (put->handle != NULL)
		*put->handle = abd_arc_hold_take(arc, put->thread, entry);
	abd_arc_store_keep(&arc->store, entry); /* its slab may have been drained meanwhile */
	abd_arc_index_grow(arc->index, abd_arc_indexed(arc));
	arc->puts_of_callbacks += abd_arc_in_callback(arc);
	over = abd_arc_is_over(arc);
	if (!over && (abd_arc_reclaim_is_due(arc) ||
			     (abd_arc_put_takes_memory(put) && abd_arc_is_nearly_short(arc))))
		reclaims = put->waiter != NULL || abd_arc_reclaim_begin(arc);
out:
	is_pending = arc->pending_count > 0;
	pthread_mutex_unlock(&arc->lock);
	if (put->waiter != NULL && error == 0) {
		abd_arc_waiters_wake(put->waiter);
		/* Not before: ready() must find no lock taken. */
		pthread_mutex_lock(&arc->lock);
		reclaims = reclaims && abd_arc_reclaim_begin(arc);
		is_pending = arc->pending_count > 0;
		pthread_mutex_unlock(&arc->lock);
	}
	if (ABD_UNLIKELY(put->grows))
		abd_chunk_settle(arc->store.provider);
	if (over)
		abd_arc_make_room(arc, -1, &put->callbacks);
	else if (reclaims)
		abd_arc_reclaim_end(arc, &put->callbacks);
	else if (is_pending)
		abd_arc_callback_run(arc, &put->callbacks);
	return error;
}

static void abd_arc_put_undo(struct abd_arc *arc, struct abd_arc_put *put)
{
	pthread_mutex_lock(&arc->lock);
	abd_arc_put_unreserve(arc, put);
	if (put->entry != NULL)
		abd_arc_store_free(&arc->store, put->entry);
	put->entry = NULL;
	pthread_mutex_unlock(&arc->lock);
}

/* Store a record in its place: in a slot, or else in a buffer. */
static int abd_arc_put_in(struct abd_arc *arc, struct abd_arc_put *put)
{
	int error = abd_arc_put_begin(arc, put);

	if (error == 0)
		error = abd_arc_put_fill(arc, put);
	if (error != 0) {
		abd_arc_put_undo(arc, put);
		return error;
	}
	error = abd_arc_put_insert(arc, put);
	if (error != 0) {
		abd_arc_record_free(put->entry);
		abd_arc_put_undo(arc, put);
		/* Not before: who looks again must find room. */
		abd_arc_waiters_wake(put->waiter);
	}
	return error;
}

static int abd_arc_put_once(
	struct abd_arc *arc, struct abd_arc_put *put, struct abd_arc_source *source)
{
	int error = abd_arc_record_begin(arc, &put->record, source);

	if (error != 0)
		return error;
	put->place = put->record.give ? ABD_ARC_IN_BUFFER : ABD_ARC_IN_SLOT;
	error = abd_arc_put_in(arc, put);
	/* There may be no run for a slab, but pages here and there, as in a pool that is full. */
	if (error == -ENOMEM && put->place != ABD_ARC_IN_BUFFER &&
		put->record.stored_size >= ABD_ARC_LINE) {
		put->place = ABD_ARC_IN_BUFFER;
		error = abd_arc_put_in(arc, put);
	}
	source->given = put->record.give && (error == 0 || error == -ESTALE);
	source->ended = put->filling != NULL && (error == 0 || error == -ESTALE);
	abd_arc_record_end(&put->record);
	return error;
}

/*
 * Whether this is the first put of its key, which is only remembered. It is not if the key has a
 * record, or one that is leaving, because a reader may yet hold that. Nor is it if a thread waits
 * for the record, since that thread is the second one to ask.
 */
static bool abd_arc_put_is_first(struct abd_arc *arc, const struct abd_arc_put *put)
{
	const struct abd_arc_filling *filling = put->filling;

	if ((arc->flags & ABD_ARC_SECOND_TIME) == 0 || put->handle != NULL)
		return false;
	pthread_mutex_lock(&arc->lock);
	bool first = (filling == NULL || (filling->first == NULL && !filling->is_overtaken)) &&
		     abd_arc_index_find_any(arc->index, put->hash, put->key) == NULL &&
		     !abd_arc_policy_has_ghost(&arc->policy, put->hash) &&
		     !abd_arc_admission_admits(&arc->admission, put->hash);

	if (first && filling == NULL)
		abd_arc_filling_overtake(arc, put->hash, put->key);
	arc->stats.remembered += first;
	pthread_mutex_unlock(&arc->lock);
	return first;
}

/* The effort for a record of this key: more if the key came back. */
static uint32_t abd_arc_put_effort(struct abd_arc *arc, uint64_t hash)
{
	if (arc->effort == 0 || (arc->flags & ABD_ARC_SECOND_TIME) != 0)
		return arc->effort;
	pthread_mutex_lock(&arc->lock);
	bool is_back = abd_arc_policy_has_ghost(&arc->policy, hash);

	pthread_mutex_unlock(&arc->lock);
	return is_back ? arc->effort : 0;
}

int abd_arc_put_source(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key, unsigned flags,
	struct abd_arc_source *source, struct abd_arc_filling *filling, void **handle)
{
	struct abd_arc_put put = {.key = key,
		.hash = hash,
		.flags = flags,
		.list = ABD_ARC_RECENT,
		.callbacks = ABD_ARC_CALLBACKS,
		.filling = filling,
		.handle = handle};
	int error;

	if (abd_arc_put_is_first(arc, &put))
		return 0;
	put.thread = abd_arc_thread_enter(arc);
	source->effort = abd_arc_put_effort(arc, hash);
	do
		error = abd_arc_put_once(arc, &put, source);
	while (error == -ENOMEM && abd_arc_shrink(arc));
	return error;
}

int abd_arc_put_restored(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key,
	unsigned flags, struct abd_arc_source *source, enum abd_arc_list_id list, unsigned uses)
{
	struct abd_arc_put put = {.key = key,
		.hash = hash,
		.thread = abd_arc_thread_enter(arc),
		.flags = flags,
		.list = list,
		.restores = true,
		.callbacks = ABD_ARC_CALLBACKS,
		.uses = uses};

	return abd_arc_put_once(arc, &put, source);
}

static int abd_arc_put_as(const char *call, abd_arc_t *arc, const abd_arc_key_t *key,
	const void *buf, size_t size, unsigned flags)
{
	struct abd_arc_source source = {.buf = buf, .stored_size = size, .logical_size = size};

	ABD_REQUIRE_IN(call, arc != NULL, "arc is NULL");
	ABD_REQUIRE_IN(call, key != NULL, "key is NULL");
	ABD_REQUIRE_IN(call, buf != NULL || size == 0, "buf is NULL");
	abd_arc_rcu_require_outside(call);
	if (size == 0 || (flags & ~(unsigned)ABD_ARC_METADATA) != 0)
		return -EINVAL;
	if (size > ABD_ARC_RECORD_MAX)
		return -ENOSPC;
	uint64_t hash = abd_arc_hash(arc, key);

	return abd_arc_put_source(abd_arc_shard(arc, hash), hash, key, flags, &source, NULL, NULL);
}

int abd_arc_put(abd_arc_t *arc, const abd_arc_key_t *key, const void *buf, size_t size)
{
	return abd_arc_put_as(__func__, arc, key, buf, size, 0);
}

int abd_arc_put_flags(
	abd_arc_t *arc, const abd_arc_key_t *key, const void *buf, size_t size, unsigned flags)
{
	return abd_arc_put_as(__func__, arc, key, buf, size, flags);
}

/* ---- what lies in a buffer ------------------------------------------------------------------- */

/* lz4 blocks are shorter than their records. Index and checksum belong to what is kept as it is. */
static bool abd_arc_put_is_valid(const abd_t *abd, const abd_arc_record_t *record)
{
	size_t size = abd_get_size(abd), stored_size = record->stored_size;

	if (record->off > size || stored_size > size - record->off || stored_size == 0 ||
		record->logical_size > ABD_ARC_RECORD_MAX)
		return false;
	switch (record->flags) {
	case 0:
		return stored_size == record->logical_size && record->index == NULL &&
		       record->checksum == NULL;
	case ABD_ARC_PLAIN:
		return stored_size == record->logical_size && record->index == NULL;
	case ABD_ARC_STORED:
	case ABD_ARC_STORED | ABD_ARC_VERIFY:
		return stored_size < record->logical_size;
	default:
		return false;
	}
}

/* Whether the index is one of a record and block of these sizes, and lies outside of the block. */
static int abd_arc_put_check_index(const abd_t *abd, const abd_arc_record_t *record)
{
	const struct abd_lz4_index *index = record->index;
	size_t size = abd_lz4_index_size(record->logical_size, index->group_size);
	abd_span_const_t span;

	if (size != sizeof(*index) + index->count * sizeof(index->points[0]) ||
		abd_lz4_index_check(index, size, record->stored_size) != 0)
		return -EBADMSG;
	for (abd_span_begin_const(&span, abd, record->off, record->stored_size); span.len > 0;
		abd_span_next_const(&span))
		if ((uintptr_t)index < (uintptr_t)span.buf + span.len &&
			(uintptr_t)span.buf < (uintptr_t)index + size)
			return -EINVAL;
	return 0;
}

/*
 * Whether the buffer is to become the record's: if all of it is the record, or its last run can be
 * cut; and not if more than a 16th of its memory would be wasted, unless the engine gives a full
 * one to be kept as it is. What is less than a page of a fill lies in a page with others, which
 * would stay resident for the last of them.
 */
static bool abd_arc_put_gives(const abd_t *abd, const abd_arc_record_t *record, bool is_fill)
{
	size_t size = record->stored_size;
	bool is_full = size == abd_get_size(abd);

	if (record->off != 0 || size < (is_fill ? ABD_CHUNK_SIZE : ABD_ARC_LINE) ||
		(!is_full && !abd_scatter_trims(abd, size)))
		return false;
	return abd_arc_record_bytes(abd) - size <= size / 16 ||
	       (is_full && !is_fill && record->flags != 0);
}

int abd_arc_put_prepare(struct abd_arc *arc, struct abd_arc_source *source, abd_t *abd,
	const abd_arc_record_t *record, bool is_fill)
{
	int error = abd_arc_put_is_valid(abd, record) ? 0 : -EINVAL;

	if (error == 0 && record->index != NULL)
		error = abd_arc_put_check_index(abd, record);
	if (error != 0)
		return error;
	*source = (struct abd_arc_source){.abd = abd,
		.off = record->off,
		.stored_size = record->stored_size,
		.logical_size = record->logical_size,
		.index = record->index,
		.checksum = record->checksum,
		.as_is = record->flags != 0,
		.give = abd_arc_put_gives(abd, record, is_fill)};
	if ((record->flags & ABD_ARC_VERIFY) != 0) {
		do
			error = abd_arc_record_verify(source);
		while (error == -ENOMEM && abd_arc_shrink(arc));
	}
	if (record->index != NULL && record->index->count > ABD_ARC_GROUPS_MAX)
		source->index = NULL;
	return error;
}

/* Whether an entry can take the buffer over: data and struct are freed with it. */
static bool abd_arc_put_is_owner(const abd_t *abd)
{
	const unsigned both = ABD_FLAG_OWNER | ABD_FLAG_ALLOCD;

	return (abd->abd_flags & both) == both && !abd_is_gang(abd);
}

static int abd_arc_put_buffer(const char *call, abd_arc_t *arc, const abd_arc_key_t *key,
	abd_t *abd, const abd_arc_record_t *record)
{
	ABD_REQUIRE_IN(call, arc != NULL, "arc is NULL");
	ABD_REQUIRE_IN(call, key != NULL, "key is NULL");
	abd_check_end(call, abd);
	abd_arc_rcu_require_outside(call);
	if (!abd_arc_put_is_owner(abd))
		return -EINVAL;
	unsigned flags = (abd->abd_flags & ABD_FLAG_META) != 0 ? ABD_ARC_METADATA : 0;
	uint64_t hash = abd_arc_hash(arc, key);
	struct abd_arc_source source;

	arc = abd_arc_shard(arc, hash);
	int error = abd_arc_put_prepare(arc, &source, abd, record, false);

	if (error == 0)
		error = abd_arc_put_source(arc, hash, key, flags, &source, NULL, NULL);
	if (error == 0 && !source.given)
		abd_free(abd);
	return error;
}

int abd_arc_put_abd(
	abd_arc_t *arc, const abd_arc_key_t *key, abd_t *abd, size_t logical_size, unsigned flags)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");
	const abd_arc_record_t record = {
		.stored_size = abd_get_size(abd), .logical_size = logical_size, .flags = flags};

	return abd_arc_put_buffer(__func__, arc, key, abd, &record);
}

int abd_arc_put_record(
	abd_arc_t *arc, const abd_arc_key_t *key, abd_t *abd, const abd_arc_record_t *record)
{
	ABD_REQUIRE(abd != NULL, "abd is NULL");
	ABD_REQUIRE(record != NULL, "record is NULL");
	return abd_arc_put_buffer(__func__, arc, key, abd, record);
}
