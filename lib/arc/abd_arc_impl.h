/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of this layer share.
 *
 *   thread's block          arc                      entry, in the index       buffer
 *   +-----------------+     +---------------------+  +----------------------+  +--------+
 *   | slots ----------|-----|---------------------|->| key                  |  | stored |
 *   | counts          |     | lock                |  | item: link, cost ... |  | record |
 *   | noted hits -----|---->| policy: T1 T2 B1 B2 |<>| own: the abd --------|->|        |
 *   +-----------------+     | retired ... pinned  |  +----------------------+  +--------+
 *                           +---------------------+
 *
 * The life of an entry: abd_arc_put() fills it and puts it into the index and into T1 or T2.
 * Removal or a new put of the same key takes it out of both (retired); eviction takes it out of the
 * policy, and marks it in the index as leaving. It waits for a grace period, after which no
 * read-side section can see it. What a slot of some thread holds then goes on waiting; what is
 * counted as held is pinned; the rest is freed. abd_arc_hold.h says why that is safe. Each step
 * happens under lock, except filling the entry's buffer and freeing it.
 *
 * An entry that is leaving is found and held under lock, until it turns out that nobody holds it:
 * so what is held is found, though evicted.
 *
 * If the engine wants to know what is evicted, an entry that would be freed is put into
 * pending first: see abd_arc_callback.c.
 *
 * Locks, in the order they are taken: whole_lock (who changes all shards), reclaim_lock (one thread
 * at a time waits for readers), the registry's (abd_arc_thread.c), lock (everything else). No
 * thread waits for a grace period while it has one of the last two.
 *
 * A cache is one of these or several, its shards: the picture shows one. A key's hash says which
 * shard is its own, and all of what is above happens there, under that shard's locks; no thread has
 * the lock of two shards. So more threads can put at a time. Shards share the seed and nothing that
 * changes: each has its part of the capacity. In this layer arc is a shard, except in the public
 * calls, whose handle is the first.
 */
#ifndef ABD_ARC_IMPL_H
#define ABD_ARC_IMPL_H

#include "abd_arc_entry.h"
#include "abd_arc_index.h"
#include "abd_arc_admission.h"
#include "abd_arc_store.h"
#include "abd_contract.h"

#include <abd/codec.h>

#include <assert.h>
#include <pthread.h>

struct abd_arc_thread;

/** What threads count. */
enum abd_arc_count {
	ABD_ARC_COUNT_HITS,
	ABD_ARC_COUNT_MISSES,
	ABD_ARC_COUNT_DECODES,
	ABD_ARC_COUNT_DROPPED,
	ABD_ARC_COUNT_COUNTED_BYTES, /* cost of entries that count holds; a part may be negative */
	ABD_ARC_COUNTS,
};

/* ---- abd_arc_filling.c: keys whose record somebody is fetching ------------------------------- */

#define ABD_ARC_FILLING_BUCKETS 64

/** A thread that waits for a fill. On its own stack. */
struct abd_arc_waiter {
	struct abd_arc_waiter *next;
	struct abd_arc_thread *thread;
	_Atomic uint32_t state;
};

enum abd_arc_waiter_state {
	ABD_ARC_WAITING,
	ABD_ARC_WAITED, /* the fill has ended: look again */
	ABD_ARC_CHOSEN, /* the fill is this thread's now */
};

/** A fill. Under lock. Freed when its cache ends. */
struct abd_arc_filling {
	abd_arc_key_t key;
	uint64_t hash;
	struct abd_arc *arc;
	/* who fills; NULL once somebody has begun to end the fill. Any thread may, with no lock */
	struct abd_arc_thread *_Atomic owner;
	abd_t *_Atomic abd; /* what was handed out, or NULL */
	size_t bytes;       /* that abd takes of the capacity */
	/* the key's record was put or removed since the fill began: what is filled in may be old */
	bool is_overtaken;
	struct abd_arc_waiter *first, **last;
	struct abd_arc_filling *next;
};

/** The fill of key, or NULL. Under lock. */
struct abd_arc_filling *abd_arc_filling_find(
	const struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key);
/** Begin a fill of key, which has none. NULL: no memory. Under lock. */
struct abd_arc_filling *abd_arc_filling_begin(
	struct abd_arc *arc, struct abd_arc_thread *owner, uint64_t hash, const abd_arc_key_t *key);
/** Wait for a fill. Called under lock, returns without: ABD_ARC_WAITED or ABD_ARC_CHOSEN. */
enum abd_arc_waiter_state abd_arc_filling_wait(
	struct abd_arc_filling *filling, struct abd_arc_thread *thread);
/** Give back what the fill's buffer takes of the capacity. Under lock. */
void abd_arc_filling_unreserve(struct abd_arc_filling *filling);
/** Begin to end the fill that handed this buffer out. False: somebody has. */
bool abd_arc_filling_claim(struct abd_arc_filling *filling, const abd_t *abd);
/** The fill succeeded, and ends. Returns who waited. Under lock. */
struct abd_arc_waiter *abd_arc_filling_finish(struct abd_arc_filling *filling);
/** Wake them all. Outside of locks. */
void abd_arc_waiters_wake(struct abd_arc_waiter *waiter);
/** Both. Outside of locks. */
void abd_arc_filling_done(struct abd_arc_filling *filling);
/**
 * It did not: who waited first is woken, and the fill is his; or if it was overtaken, all are.
 * Outside of locks.
 */
void abd_arc_filling_pass(struct abd_arc_filling *filling);
/** A record of this key was put or removed. Under lock. */
void abd_arc_filling_overtake(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key);
/** The records of this pool are being removed. Under lock. */
void abd_arc_filling_overtake_pool(struct abd_arc *arc, uint64_t pool);
/** The thread of this block ends: what it was filling here is passed on. Not under lock. */
void abd_arc_filling_leave(struct abd_arc *arc, const struct abd_arc_thread *owner);
/** A fill that has not ended, or NULL. Under lock. */
const struct abd_arc_filling *abd_arc_filling_any(const struct abd_arc *arc);
void abd_arc_fillings_free(struct abd_arc *arc);

/* ---- abd_arc.c ------------------------------------------------------------------------------- */

#define ABD_ARC_SHARD_SHIFT 50

/**
 * A shard: an ARC over the keys whose hashes choose it. A cache is an array of them, and its handle
 * is the first.
 */
struct abd_arc {
	uint64_t id; /* the shard's number among all of the process's, which is never reused */
	uint64_t seed;
	struct abd_arc_index *index;
	uint32_t seat;           /* the shard's in each thread's block */
	uint32_t shards, number; /* how many there are, and which this is */
	uint32_t flags;
	uint32_t hit_batch;
	uint32_t block_index_min;   /* smaller records have no index of their block; 0: none has */
	uint32_t block_index_group; /* bytes of the record for each of its points */
	uint32_t effort;            /* of the search in records that came back; 0: as in others */
	uint32_t index_cost;        /* what a record costs beside slot and buffer; 0 unless exact */
	void (*evicted_cb)(abd_arc_evicted_t *evicted, void *arg);
	void *evicted_arg;

	/* On a line of its own, apart from what every hit reads. */
	_Alignas(64) pthread_mutex_t reclaim_lock;
	atomic_bool looks_again; /* a slot was cleared: see abd_arc_reclaim_kept() */

	/* For writers. */
	_Alignas(64) pthread_mutex_t lock;
	struct abd_arc_policy policy;
	struct abd_arc_store store;
	struct abd_arc_admission admission; /* without places, unless first puts are only remembered
					     */
	size_t capacity;
	size_t goal; /* the capacity that a resize is on its way to */
	/* while a resize makes room, puts that use no more than this need not make it; else 0 */
	size_t ceiling;
	size_t leeway;        /* then: how far above what is used the ceiling is */
	size_t run_bytes;     /* buffers outside of the store, those about to be made included */
	size_t evicted_bytes; /* slots and buffers of entries that left and are not freed */
	size_t waiting_bytes; /* the part of those that the last look found in slots */
	size_t pinned_bytes;  /* the part of those that are pinned */
	size_t pending_bytes; /* the part of those in pending, or in evicted_cb now */
	size_t puts_of_callbacks; /* so far: records that evicted_cb has put here */
	size_t leaving;           /* entries of the index that are leaving */
	/* what was freed, runs and slabs, since memory was given back to the system */
	size_t loose_runs, loose_slabs;
	struct abd_arc_link retired, pinned, pending;
	struct abd_arc_link waiting; /* only under reclaim_lock */
	size_t retired_count, retired_bytes, pending_count;
	struct abd_arc_stats stats; /* what neither threads nor the policy count */
	_Atomic size_t fillings;    /* in the table */
	struct abd_arc_filling *filling[ABD_ARC_FILLING_BUCKETS];
	struct abd_arc_filling *filling_unused; /* kept, so that a late commit can be named */
	/* counted by threads whose seat is another shard's now, or that have no block */
	_Atomic int64_t count[ABD_ARC_COUNTS];

	/* The first shard's, for the cache: */
	pthread_mutex_t whole_lock; /* who changes all shards, so that they change alike */
	struct abd_arc *registry_next;
	atomic_uint trim_next; /* the shard that a trim comes to next */
};

/** The handle of a shard's cache. */
static inline struct abd_arc *abd_arc_first(struct abd_arc *arc)
{
	return arc - arc->number;
}

/**
 * The shard of a hash. The index uses other bits, the lowest and the top 8. The branch is for a
 * cache of one shard, where a look-up need not wait for the hash to know its index.
 */
static inline struct abd_arc *abd_arc_shard(struct abd_arc *arc, uint64_t hash)
{
	if (ABD_LIKELY(arc->shards == 1))
		return arc;
	return arc + (size_t)(hash >> ABD_ARC_SHARD_SHIFT & (arc->shards - 1));
}

/**
 * What is kept free, for entries that wait for readers and for slabs that are not full: a 64th of
 * the capacity, at least 16 KiB and at most 32 MiB.
 */
static inline size_t abd_arc_reserve(size_t capacity)
{
	size_t reserve = abd_min(capacity / 64, (size_t)32 << 20);

	return reserve > 16384 ? reserve : 16384;
}

/** The shard of an entry. */
static inline struct abd_arc *abd_arc_of_entry(const struct abd_arc_entry *entry)
{
	char *store = (char *)abd_arc_store_of(entry);

	return (struct abd_arc *)(void *)(store - offsetof(struct abd_arc, store));
}

/** The stamp of what is retired in this shard, without marks. */
static inline uint64_t abd_arc_stamp_retired(const struct abd_arc *arc)
{
	return ABD_ARC_STAMP_RETIRED + (ABD_ARC_STAMP_MARKS + 1) * arc->id;
}

/** How many records are in the cache. Under lock. */
static inline size_t abd_arc_entries(const struct abd_arc *arc)
{
	return arc->policy.recent.count + arc->policy.frequent.count;
}

/** How many entries the index has. Under lock. */
static inline size_t abd_arc_indexed(const struct abd_arc *arc)
{
	return abd_arc_entries(arc) + arc->leaving;
}

static inline uint64_t abd_arc_hash(const struct abd_arc *arc, const abd_arc_key_t *key)
{
	return abd_arc_hash_key(arc->seed, key);
}

/** Whether the entry has left the cache, and what still holds it is counted. */
static inline bool abd_arc_entry_is_pinned(const struct abd_arc_entry *entry)
{
	uint64_t stamp = atomic_load_explicit(&entry->item.stamp, memory_order_relaxed);

	return stamp >= ABD_ARC_STAMP_OWNER && stamp < ABD_ARC_STAMP_RETIRED;
}

/**
 * Stored records begin at a multiple of this, those from ABD_ARC_LINES_MIN bytes up at a multiple
 * of a cache line. What is smaller than a line is never in a buffer of its own, because memory of
 * abd_allocator_set() need not begin so.
 */
#define ABD_ARC_ALIGNMENT ((size_t)16)
#define ABD_ARC_LINE ((size_t)64)

static inline size_t abd_arc_checksum_size(const struct abd_arc *arc)
{
	return (arc->flags & ABD_ARC_CHECKSUM) != 0 ? 4 * sizeof(uint64_t) : 0;
}

/** Bytes of the record as stored. */
static inline size_t abd_arc_entry_stored(struct abd_arc_entry *entry)
{
	return abd_get_size(abd_arc_entry_abd(entry));
}

/** Whether the record is stored as an lz4 block: then, and only then, it is shorter. */
static inline bool abd_arc_entry_is_compressed(struct abd_arc_entry *entry)
{
	return abd_arc_entry_stored(entry) < entry->item.size;
}

/**
 * Where the slot of an entry whose block has an index of so many bytes has its record, which is
 * stored in so many bytes: behind entry, checksum and index.
 */
static inline size_t abd_arc_entry_size(
	const struct abd_arc *arc, size_t index_size, size_t stored_size)
{
	return abd_round_up(sizeof(struct abd_arc_entry) + abd_arc_checksum_size(arc) + index_size,
		stored_size >= ABD_ARC_LINES_MIN ? ABD_ARC_LINE : ABD_ARC_ALIGNMENT);
}

/** Where an entry has its block's index, if it is indexed. */
static inline struct abd_lz4_index *abd_arc_entry_index(
	const struct abd_arc *arc, struct abd_arc_entry *entry)
{
	return (void *)((char *)entry->checksum + abd_arc_checksum_size(arc));
}

static inline size_t abd_arc_entry_index_size(
	const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	return entry->item.indexed ? abd_lz4_index_size(entry->item.size, arc->block_index_group)
				   : 0;
}

/* ---- abd_arc_evict.c, abd_arc_reclaim.c: taking entries out, and freeing them behind readers - */

/** Move all links of from to the front of to, which may be empty or not. */
static inline void abd_arc_link_splice(struct abd_arc_link *to, struct abd_arc_link *from)
{
	if (from->next == from)
		return;
	from->next->prev = to;
	from->prev->next = to->next;
	to->next->prev = from->prev;
	to->next = from->next;
	from->next = from->prev = from;
}

static inline struct abd_arc_entry *abd_arc_link_entry(struct abd_arc_link *link)
{
	return abd_arc_entry_of((struct abd_arc_item *)(void *)link);
}

/**
 * What an entry takes: its slot, and its buffer if that is elsewhere. A record in a slot, all of it
 * or its end, counts as if that were of its own class: its cost follows from its size, and
 * compaction does not change it.
 */
static inline size_t abd_arc_entry_bytes(
	const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	return entry->item.cost - arc->index_cost;
}

/** What its buffer takes outside of its slot; 0: the whole record is in the slot. */
static inline size_t abd_arc_entry_elsewhere(
	const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	size_t bytes = abd_arc_entry_bytes(arc, entry);

	return bytes - abd_min(bytes, abd_arc_store_bytes_of(&arc->store, entry));
}

/** Whether compaction may copy it. */
static inline bool abd_arc_entry_may_move(
	const struct abd_arc *arc, const struct abd_arc_entry *entry)
{
	return abd_arc_entry_elsewhere(arc, entry) == 0 || abd_arc_entry_is_split(entry);
}

/** All bytes that count towards the capacity. Under lock. */
static inline size_t abd_arc_used(const struct abd_arc *arc)
{
	return arc->store.bytes + arc->run_bytes + abd_arc_ghosts_bytes(&arc->policy.ghosts) +
	       abd_arc_index_bytes(arc->index) + abd_arc_admission_bytes(&arc->admission);
}

/** How much of a capacity the policy may use for records, and for the index. */
size_t abd_arc_target(size_t capacity);
/**
 * The capacity, or what the index takes of it, has changed: so has what is left for records. At
 * least half is, while an index shrinks that was for a far larger cache.
 */
void abd_arc_target_follow(struct abd_arc *arc);
/**
 * Evict takes an entry out of the policy, which keeps a ghost, and marks it as leaving. Drop takes
 * one, leaving or not, out of index and policy. Under lock.
 */
void abd_arc_evict(struct abd_arc *arc, struct abd_arc_entry *entry);
void abd_arc_drop(struct abd_arc *arc, struct abd_arc_entry *entry);
/**
 * Evict until incoming more bytes, which will go into list, fit the policy's capacity; but not many
 * records at once, except in the exact algorithm. True: some are left to evict. Under lock.
 */
bool abd_arc_evict_for(
	struct abd_arc *arc, enum abd_arc_list_id list, size_t incoming, bool from_frequent);
/**
 * Before a record of this quota, and of this cost, comes: evict from the quota what would take it
 * over its maximum then, so many records at most. Afterwards it would be the new record that goes,
 * if all others were used more often. True: more has to go. Under lock.
 */
bool abd_arc_evict_quota(struct abd_arc *arc, unsigned quota, size_t cost, size_t most);
/** Wait for readers, then free what is retired and not held. Outside of sections and locks. */
void abd_arc_reclaim(struct abd_arc *arc);
/** Let others reclaim, and run the eviction callbacks that are pending. */
void abd_arc_reclaim_unlock(struct abd_arc *arc);
/** So many retired records are freed although there is room for more, so no put frees many. */
#define ABD_ARC_RETIRED_MUCH 512
/** Whether so much is retired that it is time to reclaim. Under lock. */
bool abd_arc_reclaim_is_due(const struct abd_arc *arc);
/** How much more room than necessary is made, if memory is short. */
size_t abd_arc_room(const struct abd_arc *arc);
/**
 * Evict so many bytes, or all there is, or about a thousand records. Returns how many bytes; 0:
 * there was nothing left. Under lock.
 */
size_t abd_arc_evict_some(struct abd_arc *arc, size_t bytes);
/** Whether memory is nearly short: then a put that took some reclaims at once. Under lock. */
bool abd_arc_is_nearly_short(const struct abd_arc *arc);
/**
 * Begin to reclaim, unless somebody else is at it: evict ahead if memory is nearly short, and let
 * wait what is retired. True: the caller then calls abd_arc_reclaim_end(), outside of sections and
 * locks, to wait for readers and free what nobody holds. Under lock.
 */
bool abd_arc_reclaim_begin(struct abd_arc *arc);
void abd_arc_reclaim_end(struct abd_arc *arc);
/**
 * Look again at what was found in slots: no section can see it, so nobody is waited for. If
 * somebody else reclaims, that thread does it afterwards. Outside of sections and locks.
 */
void abd_arc_reclaim_kept(struct abd_arc *arc);
/**
 * How much memory is in use beyond the capacity, when a slot of this class has been taken (-1: none
 * is). What pinned entries take does not count. Under lock.
 */
size_t abd_arc_excess(const struct abd_arc *arc, int class);
/**
 * Whether so many bytes more need no room to be made: there is no excess, or a resize makes it.
 * Under lock.
 */
bool abd_arc_has_room(const struct abd_arc *arc, int class, size_t more);
/** Whether more is used than is allowed, and no resize makes room for it. Under lock. */
bool abd_arc_is_over(const struct abd_arc *arc);
/** Whether the excess is more than a 16th of the capacity. Under lock. */
bool abd_arc_is_far_over(const struct abd_arc *arc);
/** While a resize makes room, the ceiling comes down with what is used. Under lock. */
void abd_arc_ceiling_follow(struct abd_arc *arc);
/**
 * Reclaim, compact and evict, until there is no excess, or nothing left to free, or
 * evicted_cb has put some hundred records. Outside of sections and locks.
 */
void abd_arc_make_room(struct abd_arc *arc, int class);
/**
 * An allocation has failed: evict an eighth of the cache's records and give the memory back. False:
 * nothing was left to evict. Outside of sections and locks.
 */
bool abd_arc_shrink(struct abd_arc *arc);
/* ---- abd_arc_free.c: freeing what left ------------------------------------------------------- */

/** Free entries that nobody can find or hold, each with its slot. Outside of locks. */
void abd_arc_free_list(struct abd_arc *arc, struct abd_arc_link *freed);
/** The same for those whose records lie in slots, unless evicted_cb is to be called. Under lock. */
void abd_arc_free_slots(struct abd_arc *arc, struct abd_arc_link *freed);

/** What was freed and not given back to the system yet. */
struct abd_arc_loose {
	size_t reserve; /* so much may stay */
	bool has_runs;
};

/** Take all that there is of that; under lock. Give some of it back; outside of locks. */
struct abd_arc_loose abd_arc_loose_take(struct abd_arc *arc);
void abd_arc_loose_trim(struct abd_arc *arc, struct abd_arc_loose loose);

/* ---- abd_arc_callback.c: the eviction callback ----------------------------------------------- */

/**
 * evicted_cb is to be called for these before they are freed, unless they were not evicted. Nobody
 * can see or hold them any more. Outside of locks; abd_arc_callback_run() follows.
 */
void abd_arc_pending_add(struct abd_arc *arc, struct abd_arc_link *freed);
void abd_arc_callback_run_slow(struct abd_arc *arc);
/** The last holds of these were released: call evicted_cb, and free them. Outside of locks. */
void abd_arc_callback_released(struct abd_arc *arc, struct abd_arc_link *freed);
/** Call evicted_cb for all that is pending, and free it. Outside of sections and locks. */
static inline void abd_arc_callback_run(struct abd_arc *arc)
{
	if (ABD_UNLIKELY(arc->evicted_cb != NULL))
		abd_arc_callback_run_slow(arc);
}

bool abd_arc_in_callback_slow(const struct abd_arc *arc);
/** Whether this thread is in the callback of this cache: then it reclaims nothing here. */
static inline bool abd_arc_in_callback(const struct abd_arc *arc)
{
	return ABD_UNLIKELY(arc->evicted_cb != NULL) && abd_arc_in_callback_slow(arc);
}

static inline void abd_arc_require_no_callback(const char *call, const struct abd_arc *arc)
{
	ABD_REQUIRE_IN(call, !abd_arc_in_callback(arc), "called by the evicted_cb of this cache");
}

/* ---- abd_arc_compact.c: emptying slabs ------------------------------------------------------- */

/**
 * Empty slabs of so many bytes, and about a MiB of records at most, by moving their records to
 * others. They become free when readers have been waited for. Returns how many bytes; 0: no slab is
 * worth that. Under lock.
 */
size_t abd_arc_compact_some(struct abd_arc *arc, size_t bytes);

/* ---- quotas: metadata may have one of its own ------------------------------------------------ */

/** The quota of a record. */
static inline unsigned abd_arc_quota_of(const struct abd_arc *arc, bool is_metadata)
{
	return is_metadata && arc->policy.quotas > 1 ? ABD_ARC_QUOTA_METADATA : 0;
}

/** The quota of an entry in a list. The buffer of one that is in none may be freed. Under lock. */
static inline unsigned abd_arc_quota_of_entry(
	const struct abd_arc *arc, struct abd_arc_entry *entry)
{
	if (ABD_LIKELY(arc->policy.quotas == 1) || abd_arc_item_list(&entry->item) == ABD_ARC_NONE)
		return 0;
	return abd_arc_quota_of(arc, abd_arc_entry_is_metadata(entry));
}

/** The most that a record may cost. Under lock. */
static inline size_t abd_arc_quota_cost_max(const struct abd_arc *arc, bool is_metadata)
{
	return abd_arc_policy_cost_max(&arc->policy, abd_arc_quota_of(arc, is_metadata));
}

/* ---- abd_arc_read.c -------------------------------------------------------------------------- */

/** Fill *hold with what is held. */
void abd_arc_hold_fill(abd_arc_hold_t *hold, void *handle, struct abd_arc_entry *entry);
/** What an error leaves in *hold, and a release. */
static inline void abd_arc_hold_clear(abd_arc_hold_t *hold)
{
	*hold = (abd_arc_hold_t){NULL, 0, 0, false, NULL};
}

/** The entry of a hold that has not been released: else, that call has broken its contract. */
struct abd_arc_entry *abd_arc_hold_check(const char *call, const abd_arc_hold_t *hold);
/** abd_arc_hold() and abd_arc_read() without checks, and whether the policy is to learn of it. */
int abd_arc_hold_touch(struct abd_arc *arc, struct abd_arc_thread *thread, uint64_t hash,
	const abd_arc_key_t *key, abd_arc_hold_t *hold, bool touch);
ssize_t abd_arc_read_touch(struct abd_arc *arc, struct abd_arc_thread *thread, uint64_t hash,
	const abd_arc_key_t *key, void *dst, size_t off, size_t size, bool touch);
/** What follows when entry, which a read has found and holds, is read and let go. */
ssize_t abd_arc_read_found(struct abd_arc *arc, struct abd_arc_thread *thread, void *handle,
	struct abd_arc_entry *entry, void *dst, size_t off, size_t size, bool touch);
/** The same for a hold. Returns 0, or -EBADMSG, and then it is not held any more. */
int abd_arc_hold_found(struct abd_arc *arc, struct abd_arc_thread *thread, void *handle,
	struct abd_arc_entry *entry, abd_arc_hold_t *hold, bool touch);

/* ---- abd_arc_put.c --------------------------------------------------------------------------- */

/** Where a record's bytes come from: the caller's memory or, if that is NULL, a buffer. */
struct abd_arc_source {
	const void *buf;
	abd_t *abd;
	size_t stored_size; /* bytes there */
	size_t logical_size;
	uint32_t effort; /* as abd_lz4_compress_effort() */
	bool as_is;      /* don't compress: a block already, or to be kept plain */
	bool give;       /* abd may become the record's buffer */
	bool given;      /* it has */
	bool ended;      /* the fill that a put ends has ended */
};

/**
 * Whether the sizes of a source with an abd agree with these flags of abd_arc_fill_commit(), and if
 * they want it, whether its block is sound. Returns 0, -EINVAL, -EBADMSG or -ENOMEM.
 */
int abd_arc_put_check(struct abd_arc *arc, const struct abd_arc_source *source, unsigned flags);
/**
 * Put a record, where flags are those of abd_arc_put_flags(). If filling is not NULL, it ends
 * there: then -ESTALE when it was overtaken. If handle is not NULL, it holds the record afterwards.
 */
int abd_arc_put_source(struct abd_arc *arc, uint64_t hash, const abd_arc_key_t *key, unsigned flags,
	struct abd_arc_source *source, struct abd_arc_filling *filling, void **handle);

/* ---- abd_arc_record.c: records as they are stored -------------------------------------------- */

/** A record on its way into the cache. */
struct abd_arc_record {
	const void *buf; /* what will be stored: the caller's memory, or scratch; or NULL: abd */
	abd_t *abd;
	bool give; /* abd becomes the entry's buffer */
	size_t stored_size;
	size_t logical_size;
	bool compressed;
	void *scratch; /* the index, if there is one, and behind it the block */
	size_t scratch_size;
	size_t index_size; /* of the index; 0: there is none */
};

/** Where an entry has its record. */
enum abd_arc_place {
	ABD_ARC_IN_SLOT,   /* all of it behind the entry */
	ABD_ARC_SPLIT,     /* its last part, less than a page; the pages before it are elsewhere */
	ABD_ARC_IN_BUFFER, /* in a buffer of its own */
};

/** Compress the record, or decide to store it as it is. Returns 0 or -ENOMEM. */
int abd_arc_record_begin(const struct abd_arc *arc, struct abd_arc_record *record,
	const struct abd_arc_source *source);
/** Bytes of the index that a record of this size may have; 0: none. */
size_t abd_arc_record_index_size(const struct abd_arc *arc, size_t size);
void abd_arc_record_end(struct abd_arc_record *record);
/** Whether the source's bytes are a block of its record. Returns 0, -EBADMSG or -ENOMEM. */
int abd_arc_record_verify(const struct abd_arc_source *source);
/** Make size bytes at data, in the entry's slot, its buffer. */
void abd_arc_record_place(struct abd_arc_entry *entry, void *data, size_t size, bool is_metadata);
/** Copy the record's stored bytes to their place. False: no memory. */
bool abd_arc_record_store(const struct abd_arc *arc, const struct abd_arc_record *record,
	struct abd_arc_entry *entry, enum abd_arc_place place, bool is_metadata);
/** What a split record takes of its slot, behind the entry; 0: such a record is not split. */
size_t abd_arc_record_split_bytes(size_t size);
/** Make a split buffer, behind head bytes of the slot, the entry's. NULL: no memory, or no room. */
abd_t *abd_arc_record_split(const struct abd_arc *arc, struct abd_arc_entry *entry, size_t head,
	size_t size, bool is_metadata);
/** End the entry's buffer; its slot stays. */
void abd_arc_record_free(struct abd_arc_entry *entry);

/**
 * The memory that a buffer takes in addition to the entry: an estimate for size bytes, which is
 * right if the provider refuses no order; and what an existing buffer takes.
 */
size_t abd_arc_record_estimate(size_t size);
size_t abd_arc_record_bytes(const abd_t *abd);
/** Whether the stored bytes still match their checksum; true in a cache without checksums. */
bool abd_arc_record_is_sound(const struct abd_arc *arc, struct abd_arc_entry *entry);

/** Count a record that comes into the cache (more) or leaves it. Under lock. */
void abd_arc_record_count(struct abd_arc *arc, struct abd_arc_entry *entry, bool more);
/** Retire an entry that is in neither index nor policy any more. Under lock. */
void abd_arc_record_retire(struct abd_arc *arc, struct abd_arc_entry *entry);

/** Memory for the part of a record that is decoded but not wanted. All zero: none. */
struct abd_arc_scratch {
	void *buf;
	size_t size;
	bool is_own; /* the library's memory, because the engine's allocator refused */
};

/** Get scratch of so many bytes. Returns 0 or -ENOMEM. Outside of read-side sections. */
int abd_arc_scratch_get(struct abd_arc_scratch *scratch, size_t size);
void abd_arc_scratch_put(struct abd_arc_scratch *scratch);
/**
 * Read [off, off + size), which lies within the record, into dst. Returns 0, -EBADMSG or -ENOMEM.
 * The entry is held.
 */
int abd_arc_record_read(
	const struct abd_arc *arc, struct abd_arc_entry *entry, void *dst, size_t off, size_t size);

#endif
