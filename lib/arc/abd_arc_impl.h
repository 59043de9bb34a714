/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A shard of a cache: what the files of this layer share. Each of them has a header of its name.
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
 * If the engine wants to know what is evicted, an entry that would be freed is put into pending
 * first: see abd_arc_callback.c.
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

#include "abd_arc_admission.h"
#include "abd_arc_entry.h"
#include "abd_arc_index.h"
#include "abd_arc_store.h"
#include "abd_contract.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>

struct abd_arc_filling;

#define ABD_ARC_FILLING_BUCKETS 64

/** What threads count. */
enum abd_arc_count {
	ABD_ARC_COUNT_HITS,
	ABD_ARC_COUNT_MISSES,
	ABD_ARC_COUNT_DECODES,
	ABD_ARC_COUNT_DROPPED,
	ABD_ARC_COUNT_COUNTED_BYTES, /* cost of entries that count holds; a part may be negative */
	ABD_ARC_COUNTS,
};

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
	void (*evicted_cb)(abd_arc_evicted_t *evicted, void *arg);
	void *evicted_arg;

	/* On a line of its own, apart from what every hit reads. */
	_Alignas(64) pthread_mutex_t reclaim_lock;
	atomic_bool looks_again; /* a slot was cleared: see abd_arc_reclaim_kept() */

	/* For writers. */
	_Alignas(64) pthread_mutex_t lock;
	struct abd_arc_policy policy;
	struct abd_arc_store store;
	/* without places, unless first puts are only remembered */
	struct abd_arc_admission admission;
	size_t capacity;
	size_t goal; /* the capacity that a resize is on its way to */
	/* while a resize makes room, puts that use no more than this need not make it; else 0 */
	size_t ceiling;
	bool is_ending;       /* the cache is being destroyed */
	size_t leeway;        /* then: how far above what is used the ceiling is */
	size_t run_bytes;     /* buffers outside of the store, those about to be made included */
	size_t evicted_bytes; /* slots and buffers of entries that left and are not freed */
	size_t waiting_bytes; /* the part of those that the last look found in slots */
	size_t pinned_bytes;  /* the part of those that are pinned */
	size_t pending_bytes; /* the part of those in pending, or in evicted_cb now */
	size_t puts_of_callbacks; /* so far: records that evicted_cb has put here */
	size_t leaving;           /* entries of the index that are leaving */
	bool trims;               /* what is evicted now must not take memory for ghosts */
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

/** Random bits, that nobody can foretell. */
uint64_t abd_arc_seed(const void *salt);

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

/** Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t abd_arc_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
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

#endif
