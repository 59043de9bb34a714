/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The eviction callback: the engine gets each evicted record before it is freed, so that a second
 * level can take it over.
 *
 * In a cache with an evicted_cb, entries that would be freed are put into pending instead. The call
 * that put them there lets its locks go, calls evicted_cb for those that are still in the index,
 * and frees all. An entry that was removed, replaced, copied by compaction or overtaken by a put is
 * not in the index any more.
 *
 * Invariants: evicted_cb is called for an entry once at most. A call runs no more callbacks than
 * there were pending entries when it began to, and no more than 64 if it is not to free all. While
 * a thread is in a callback of a cache, it reclaims nothing there: so callbacks don't nest, and a
 * callback that puts into its own cache ends.
 * OpenZFS: none. There eviction must not wait for a disk: l2arc_write_buffers() in module/zfs/arc.c
 * writes what will soon be evicted, while it is still cached.
 */
#include "abd_arc_callback.h"
#include "abd_arc_free.h"
#include "abd_arc_record.h"
#include "abd_arc_thread.h"
#include "abd_impl.h"

/* A release of an evicted record gives memory back to the system when this much has been freed. */
#define ABD_ARC_LOOSE ((size_t)1 << 20)

/*
 * The caches in whose callbacks this thread is, the innermost first. The frames lie on its stack.
 */
struct abd_arc_callback_frame {
	const struct abd_arc *first;
	const struct abd_arc_callback_frame *outer;
};

static _Thread_local const struct abd_arc_callback_frame *abd_arc_callback_innermost;

bool abd_arc_in_callback_slow(const struct abd_arc *arc)
{
	const struct abd_arc_callback_frame *frame = abd_arc_callback_innermost;

	while (frame != NULL && frame->first != arc - arc->number)
		frame = frame->outer;
	return frame != NULL;
}

void abd_arc_pending_add(struct abd_arc *arc, struct abd_arc_link *freed)
{
	size_t count = 0, bytes = 0;

	for (struct abd_arc_link *link = freed->next; link != freed; link = link->next) {
		bytes += abd_arc_link_entry(link)->item.cost;
		count++;
	}
	pthread_mutex_lock(&arc->lock);
	arc->pending_count += count;
	arc->pending_bytes += bytes;
	abd_arc_link_splice(&arc->pending, freed);
	pthread_mutex_unlock(&arc->lock);
}

static bool abd_arc_entry_is_damaged(const struct abd_arc_entry *entry)
{
	return abd_arc_stamp_reason(abd_arc_item_stamp(&entry->item)) == ABD_ARC_EVICTED_DAMAGED;
}

/* How many entries are pending now: the callbacks may add others. */
static size_t abd_arc_pending_count(struct abd_arc *arc)
{
	pthread_mutex_lock(&arc->lock);
	size_t count = arc->pending_count;

	pthread_mutex_unlock(&arc->lock);
	return count;
}

/*
 * Take the entry that has waited longest, or NULL. *evicted: it is the record of its key that was
 * evicted, and no other has come since; or it left because it was damaged.
 */
static struct abd_arc_entry *abd_arc_pending_take(struct abd_arc *arc, bool *evicted)
{
	struct abd_arc_entry *entry = NULL;

	pthread_mutex_lock(&arc->lock);
	if (arc->pending_count > 0) {
		struct abd_arc_link *link = arc->pending.prev;

		entry = abd_arc_link_entry(link);
		abd_arc_link_pull(link);
		arc->pending_count--;
		*evicted = abd_arc_entry_is_damaged(entry) ||
			   abd_arc_index_find_any(arc->index, abd_arc_hash(arc, &entry->key),
				   &entry->key) == entry;
	}
	pthread_mutex_unlock(&arc->lock);
	return entry;
}

static void abd_arc_callback_call(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	ABD_KEEP_ERRNO;
	uint64_t stamp = abd_arc_item_stamp(&entry->item);
	bool was_damaged = abd_arc_entry_is_damaged(entry);
	bool is_damaged = was_damaged || !abd_arc_record_is_sound(arc, entry);
	abd_arc_evicted_t evicted = {.key = entry->key,
		.abd = is_damaged ? NULL : abd_arc_entry_abd(entry),
		.stored_size = is_damaged ? 0 : abd_arc_entry_stored(entry),
		.logical_size = entry->item.size,
		.flags = abd_arc_entry_is_compressed(entry) ? ABD_ARC_STORED : ABD_ARC_PLAIN,
		.entry = entry,
		.reason = is_damaged ? ABD_ARC_EVICTED_DAMAGED : abd_arc_stamp_reason(stamp),
		.uses = abd_arc_stamp_uses(stamp)};

	bool was = abd_arc_callback_set(true);

	arc->evicted_cb(&evicted, arc->evicted_arg);
	abd_arc_callback_set(was);
	pthread_mutex_lock(&arc->lock);
	arc->stats.told++;
	arc->stats.damaged += is_damaged && !was_damaged;
	pthread_mutex_unlock(&arc->lock);
}

void abd_arc_callback_run_slow(struct abd_arc *arc, size_t *left)
{
	struct abd_arc_callback_frame frame = {abd_arc_first(arc), abd_arc_callback_innermost};
	struct abd_arc_entry *entry;
	bool evicted = false;

	if (abd_arc_in_callback_slow(arc))
		return; /* a later call does it */
	abd_arc_callback_innermost = &frame;
	for (size_t n = abd_arc_pending_count(arc);
		n > 0 && *left > 0 && (entry = abd_arc_pending_take(arc, &evicted)) != NULL; n--) {
		struct abd_arc_link freed = {&freed, &freed};

		if (evicted)
			abd_arc_callback_call(arc, entry);
		*left -= evicted;
		abd_arc_link_push(&freed, &entry->item.link);
		abd_arc_free_list(arc, &freed);
	}
	abd_arc_callback_innermost = frame.outer;
	pthread_mutex_lock(&arc->lock);
	struct abd_arc_loose loose = abd_arc_loose_take(arc);

	pthread_mutex_unlock(&arc->lock);
	abd_arc_loose_trim(arc, loose);
}

abd_t *abd_arc_evicted_take(abd_arc_evicted_t *evicted)
{
	ABD_REQUIRE(evicted != NULL, "evicted is NULL");
	if (evicted->reason == ABD_ARC_EVICTED_DAMAGED)
		return NULL;
	ABD_REQUIRE(evicted->abd != NULL, "no record, or it was taken before");
	struct abd_arc_entry *entry = evicted->entry;
	abd_t *abd = abd_arc_entry_abd(entry);

	if ((abd->abd_flags & ABD_FLAG_OWNER) == 0)
		return NULL; /* it lies in a slab, with others */
	if (abd == &entry->own) {
		abd = abd_struct_move_out(&entry->own);
		if (abd == NULL)
			return NULL;
		abd->abd_u.abd_linear.abd_end = NULL;
		abd->abd_u.abd_linear.abd_home = NULL;
	}
	/* The entry has no buffer any more. */
	entry->own.abd_size = 0;
	entry->own.abd_parent = NULL;
	evicted->abd = NULL;
	return abd;
}

/* Whether so much was freed that some of it is worth giving back. */
static bool abd_arc_loose_much(struct abd_arc *arc, struct abd_arc_loose *loose)
{
	pthread_mutex_lock(&arc->lock);
	bool is_much = arc->loose_runs + arc->loose_slabs >= ABD_ARC_LOOSE;

	if (is_much)
		*loose = abd_arc_loose_take(arc);
	pthread_mutex_unlock(&arc->lock);
	return is_much;
}

void abd_arc_callback_released(struct abd_arc *arc, struct abd_arc_link *freed)
{
	struct abd_arc_loose loose;
	size_t left = ABD_ARC_CALLBACKS;

	if (ABD_UNLIKELY(arc->evicted_cb != NULL)) {
		abd_arc_pending_add(arc, freed);
		abd_arc_callback_run(arc, &left);
		return;
	}
	abd_arc_free_list(arc, freed);
	if (abd_arc_loose_much(arc, &loose))
		abd_arc_loose_trim(arc, loose);
}
