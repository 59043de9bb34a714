/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of this layer share.
 *
 *   thread's block (reader)   arc                      entry, in the index       buffer
 *   +---------------------+   +---------------------+  +----------------------+  +--------+
 *   | counters            |   | lock                |  | key                  |  | stored |
 *   | hits not yet told --|-->| policy: T1 T2 B1 B2 |<>| item: link, cost ... |  | record |
 *   | holds --------------|---|---------------------|->| own: the abd --------|->|        |
 *   +---------------------+   | retired, pinned     |  +----------------------+  +--------+
 *                             +---------------------+
 *
 * The life of an entry: filled by abd_arc_put(); in the index and in T1 or T2; taken out of both
 * (retired); after a grace period, no read-side section can see it (pinned); when no block holds
 * it, freed. Every step but the first is taken under lock.
 *
 * Why a hold needs no atomic: it is written to the thread's block inside the section that found the
 * entry in the index. Whoever takes the entry out waits for a grace period, after which that write
 * is seen, and only then looks at the blocks.
 *
 * Locks, in the order they are taken: abd_arc_registry (threads' ends, caches' beginnings and
 * ends), reclaim_lock (one thread at a time waits for readers), lock (everything else). Grace
 * periods are waited for without lock.
 */
#ifndef ABD_ARC_IMPL_H
#define ABD_ARC_IMPL_H

#include "abd_arc_entry.h"
#include "abd_arc_index.h"
#include "abd_contract.h"

#include <assert.h>
#include <pthread.h>

/* ---- abd_arc_reader.c: what each thread has of each cache ------------------------------------ */

#define ABD_ARC_HOLDS 16

struct abd_arc_reader;

struct abd_arc_hold_slot {
	/* NULL: free. Set by the block's thread, cleared by any */
	struct abd_arc_entry *_Atomic entry;
	struct abd_arc_reader *reader;
};

/** Slots; blocks are added as a thread holds more, and stay. */
struct abd_arc_hold_block {
	struct abd_arc_hold_block *_Atomic next;
	struct abd_arc_hold_slot slot[ABD_ARC_HOLDS];
};

enum abd_arc_reader_count {
	ABD_ARC_COUNT_HITS,
	ABD_ARC_COUNT_MISSES,
	ABD_ARC_COUNT_DECODES,
	ABD_ARC_COUNT_DROPPED,
	ABD_ARC_COUNTS,
};

/**
 * One thread's block of one cache. Written by its thread only; others read counters and holds under
 * lock. When the thread ends, the next new one takes the block over as it is: holds that are still
 * out stay where they are.
 */
struct abd_arc_reader {
	_Atomic uint64_t count[ABD_ARC_COUNTS];
	struct abd_arc *arc;
	uint32_t clock; /* the policy's, when this thread last looked */
	/* a hit on what came to the front of T2 so few moves ago is not worth telling */
	uint32_t fresh;
	uint64_t slab_frees; /* the entries' slab's, when ring was begun */
	uint32_t pending;    /* hits in ring */
	uint32_t patience;   /* hits to let go before the lock, which was busy, is tried again */
	bool idle;           /* its thread has ended */
	struct abd_arc_reader *next;
	struct abd_arc_hold_block holds;
	struct abd_arc_entry *ring[]; /* hit_batch of them */
};

/** Which block of a thread belongs to which cache. */
struct abd_arc_seat {
	uint64_t id; /* 0: none */
	struct abd_arc_reader *reader;
};

/** The last one used. initial-exec, as all of this layer: a load instead of a call. */
extern _Thread_local struct abd_arc_seat abd_arc_seat_last __attribute__((visibility("hidden")));

struct abd_arc_reader *abd_arc_reader_get_slow(struct abd_arc *arc);
/** Whether threads can have blocks at all. If not, no memory that is given up helps. */
bool abd_arc_reader_possible(void);
/** End all blocks, with their cache. */
void abd_arc_readers_free(struct abd_arc *arc);
void abd_arc_reader_settle_slow(struct abd_arc_reader *reader);
/** Tell the policy of all hits noted. Under lock. */
void abd_arc_reader_tell(struct abd_arc_reader *reader);
/** A free slot for a hold, of this thread's own block; NULL: no memory. */
struct abd_arc_hold_slot *abd_arc_reader_slot(struct abd_arc_reader *reader);

/** Let abd_arc_reader_get() and ending threads find the cache; and no longer. */
void abd_arc_reader_open(struct abd_arc *arc);
void abd_arc_reader_close(struct abd_arc *arc);
/**
 * Mark every entry in a slot, and call visit (if not NULL) once for each. Under lock, so that none
 * of them can be freed meanwhile. Without visit, marks of entries in no slot stay: whoever asks for
 * them clears them first.
 */
void abd_arc_reader_holds(
	struct abd_arc *arc, void (*visit)(struct abd_arc_entry *entry, void *arg), void *arg);

static inline void abd_arc_reader_count(
	struct abd_arc_reader *reader, enum abd_arc_reader_count which)
{
	/* Only this thread writes. */
	uint64_t value = atomic_load_explicit(&reader->count[which], memory_order_relaxed);

	atomic_store_explicit(&reader->count[which], value + 1, memory_order_relaxed);
}

/* ---- abd_arc.c ------------------------------------------------------------------------------- */

struct abd_arc {
	/* never used again, so that a thread can tell a cache from another that had its address */
	uint64_t id;
	uint64_t seed;
	uint32_t flags;
	uint32_t hit_batch;
	uint32_t entry_cost; /* what a record costs beside its buffer */
	struct abd_arc_index *index;

	/* Not beside what every hit reads. */
	_Alignas(64) pthread_mutex_t reclaim_lock;

	/* Of interest to writers. */
	_Alignas(64) pthread_mutex_t lock;
	struct abd_arc_policy policy;
	struct abd_arc_slab entries;
	size_t capacity;
	size_t record_bytes;  /* buffers of all entries, retired and pinned ones included */
	size_t evicted_bytes; /* the part of those that is retired or pinned */
	size_t pinned_bytes;  /* the part of those that was found held */
	struct abd_arc_link retired, pinned;
	struct abd_arc_reader *readers; /* all there ever were; they end with the cache */
	struct abd_arc_stats stats;     /* what is not counted by threads nor by the policy */
	/* by threads for which there was no memory for a block */
	_Atomic uint64_t orphan_count[ABD_ARC_COUNTS];

	/* Read by abd_arc_release(). */
	_Alignas(64) atomic_size_t pinned_count;

	struct abd_arc *registry_next;
};

static inline uint64_t abd_arc_hash(const struct abd_arc *arc, const abd_arc_key_t *key)
{
	return abd_arc_hash_key(arc->seed, key);
}

/** This thread's block, or NULL: no memory. Outside of read-side sections and locks. */
static inline struct abd_arc_reader *abd_arc_reader_get(struct abd_arc *arc)
{
	if (ABD_LIKELY(abd_arc_seat_last.id == arc->id))
		return abd_arc_seat_last.reader;
	return abd_arc_reader_get_slow(arc);
}

/** Note a hit. Inside the section that found the entry. */
static inline void abd_arc_reader_note(struct abd_arc_reader *reader, struct abd_arc_entry *entry)
{
	uint32_t stamp = atomic_load_explicit(&entry->item.stamp, memory_order_relaxed);

	/* Signed: it may have moved since this thread last looked at the clock. */
	if ((int32_t)(reader->clock - stamp) < (int32_t)reader->fresh)
		return;
	if (reader->pending == reader->arc->hit_batch) {
		abd_arc_reader_count(reader, ABD_ARC_COUNT_DROPPED);
		reader->patience -= reader->patience > 0;
		return;
	}
	if (reader->pending == 0)
		reader->slab_frees =
			atomic_load_explicit(&reader->arc->entries.frees, memory_order_acquire);
	reader->ring[reader->pending++] = entry;
}

/** Tell the policy if the batch is full. Outside of read-side sections and locks. */
static inline void abd_arc_reader_settle(struct abd_arc_reader *reader)
{
	if (ABD_UNLIKELY(reader->pending == reader->arc->hit_batch) && reader->patience == 0)
		abd_arc_reader_settle_slow(reader);
}

static inline size_t abd_arc_entry_size(const struct abd_arc *arc)
{
	return sizeof(struct abd_arc_entry) +
	       ((arc->flags & ABD_ARC_CHECKSUM) != 0 ? 4 * sizeof(uint64_t) : 0);
}

/* ---- abd_arc_evict.c: taking entries out, and freeing them when nobody can see them ---------- */

/** All bytes that count against the capacity. Under lock. */
size_t abd_arc_used(const struct abd_arc *arc);
/** What the policy may give to records, of a capacity. */
size_t abd_arc_target(size_t capacity);
/** Take an entry out of index and policy, with a ghost or without. Under lock. */
void abd_arc_evict(struct abd_arc *arc, struct abd_arc_entry *entry);
void abd_arc_drop(struct abd_arc *arc, struct abd_arc_entry *entry);
/** An entry that is in neither any more. Under lock. */
void abd_arc_retire(struct abd_arc *arc, struct abd_arc_entry *entry);
/** Evict until incoming more bytes, which will join list, fit the policy's target. Under lock. */
void abd_arc_evict_for(
	struct abd_arc *arc, enum abd_arc_list_id list, size_t incoming, bool from_frequent);
/** Wait for readers, then free what is retired and not held. Outside of sections and locks. */
void abd_arc_reclaim(struct abd_arc *arc);
/** Free what is pinned and no longer held, if that is quickly done. */
void abd_arc_unpin(struct abd_arc *arc);
/** abd_arc_reclaim() until the capacity holds. Outside of sections and locks. */
void abd_arc_make_room(struct abd_arc *arc);
/**
 * Memory has run out: give some back. False: the cache has none left. Outside of sections and
 * locks.
 */
bool abd_arc_shrink(struct abd_arc *arc);
/** Bytes of entries that are held. Under lock. */
size_t abd_arc_held_bytes(struct abd_arc *arc);

/* ---- abd_arc_record.c: records as they are stored -------------------------------------------- */

/** A record on its way into the cache. */
struct abd_arc_record {
	const void *buf; /* what will be stored: the caller's memory, or scratch */
	size_t stored_size;
	size_t logical_size;
	bool compressed;
	void *scratch;
	size_t scratch_size;
};

/** Compress, or decide not to. 0 or -ENOMEM. */
int abd_arc_record_begin(struct abd_arc_record *record, const void *buf, size_t size);
void abd_arc_record_end(struct abd_arc_record *record);
/** A buffer with the record as stored; NULL: no memory. */
abd_t *abd_arc_record_store(const struct abd_arc_record *record, bool is_metadata);
/** Make it an entry's. */
void abd_arc_record_give(struct abd_arc_entry *entry, abd_t *abd);

/**
 * What a buffer of size bytes will take of memory beside the entry, if no order is refused; and
 * what one does take.
 */
size_t abd_arc_record_estimate(size_t size);
size_t abd_arc_record_bytes(const abd_t *abd);
/** Whether the stored bytes are those that were stored; true without checksums. */
bool abd_arc_record_is_sound(const struct abd_arc *arc, struct abd_arc_entry *entry);
/** [off, +size) of the record, a range within it, into dst. 0, -EBADMSG or -ENOMEM. */
int abd_arc_record_read(struct abd_arc_entry *entry, void *dst, size_t off, size_t size);

#endif
