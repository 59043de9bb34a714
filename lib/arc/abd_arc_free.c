/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Freeing entries that nobody can find or hold any more, and giving memory back to the system.
 * OpenZFS: arc_evict_hdr() in module/zfs/arc.c.
 */
#include "abd_arc_free.h"
#include "abd_arc_record.h"
#include "abd_arc_thread.h"
#include "abd_chunk.h"

#define ABD_ARC_FREE_PIECE 256
/* No call gives much more than this back to the system: that takes a millisecond. */
#define ABD_ARC_TRIM_BYTES ((size_t)1 << 20)

/* Free the slot of an entry whose buffer is freed. Under lock. */
static void abd_arc_free_slot(struct abd_arc *arc, struct abd_arc_entry *entry)
{
	size_t bytes = entry->item.cost;
	size_t elsewhere = abd_arc_entry_elsewhere(arc, entry);
	size_t slabs = arc->store.bytes;

	arc->leaving -= abd_arc_index_remove(arc->index, abd_arc_hash(arc, &entry->key), entry);
	arc->evicted_bytes -= bytes;
	arc->pending_bytes -= arc->evicted_cb != NULL ? bytes : 0;
	arc->run_bytes -= elsewhere;
	arc->loose_runs += elsewhere;
	abd_arc_store_free(&arc->store, entry);
	arc->loose_slabs += slabs - arc->store.bytes;
}

void abd_arc_free_slots(struct abd_arc *arc, struct abd_arc_link *freed)
{
	struct abd_arc_link *link, *next;

	for (link = freed->next; arc->evicted_cb == NULL && link != freed; link = next) {
		struct abd_arc_entry *entry = abd_arc_link_entry(link);

		next = link->next;
		if (abd_arc_entry_elsewhere(arc, entry) > 0)
			continue;
		abd_arc_link_pull(link);
		abd_arc_record_free(entry);
		abd_arc_free_slot(arc, entry);
	}
}

/*
 * Free the buffers without the lock, for which others may wait; then free the slots under it, a few
 * at a time.
 */
void abd_arc_free_list(struct abd_arc *arc, struct abd_arc_link *freed)
{
	bool was = abd_arc_callback_set(true); /* an engine's own free may read */
	struct abd_arc_link *link;

	for (link = freed->next; link != freed; link = link->next)
		abd_arc_record_free(abd_arc_link_entry(link));
	abd_arc_callback_set(was);
	for (link = freed->next; link != freed;) {
		pthread_mutex_lock(&arc->lock);
		for (unsigned i = 0; i < ABD_ARC_FREE_PIECE && link != freed; i++) {
			struct abd_arc_entry *entry = abd_arc_link_entry(link);

			link = link->next;
			abd_arc_free_slot(arc, entry);
		}
		pthread_mutex_unlock(&arc->lock);
	}
}

/* ---- giving memory back ---------------------------------------------------------------------- */

struct abd_arc_loose abd_arc_loose_take(struct abd_arc *arc)
{
	struct abd_arc_loose loose = {
		abd_arc_reserve(arc->capacity * arc->shards), arc->loose_runs > 0};

	arc->loose_runs = arc->loose_slabs = 0;
	return loose;
}

void abd_arc_loose_trim(struct abd_arc *arc, struct abd_arc_loose loose)
{
	abd_chunk_trim(arc->store.provider, loose.has_runs, loose.reserve, ABD_ARC_TRIM_BYTES);
}
