/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ARC: an adaptive replacement cache of records, compressed where that pays, in buffers of this
 * library.
 *
 * A hit takes no lock and writes no cache line that another thread uses, except:
 *
 *   - each hit_batch-th noted hit of a thread (64 by default) tries the cache's lock, to report the
 *     batch to the policy;
 *   - a thread's first call takes a lock; so does a hit of an evicted or damaged record, and a hit
 *     by a thread that uses more than 64 shards in turn;
 *   - a hold is counted in the record if the record was evicted, if the hold is a copy of another
 *     hold, or if no slot is found free among the 48 slots for holds that each thread has.
 *
 * The look-up is wait-free. It is a read-side section of liburcu-bp, which ends when the record is
 * noted in a block that belongs to the thread; the record is read after that. So no thread waits
 * for a thread that reads, however long the read takes. If a signal handler jumps out of a call
 * that reads, because its destination can't be written, the record (of a batch, up to 16 records)
 * stays held until the thread reads a record that is there, or ends; but if a callback of the
 * engine's made the call, for good. Memory that the call had taken to decode is lost. A jump must
 * not leave any other call: what that call holds would stay held. Threads need not register. A
 * thread's block serves all caches; it takes at most 16 KiB, which thread_bytes counts. It is freed
 * when the thread has ended and has no holds left.
 *
 * The process may use liburcu as well. But a call that may wait for readers breaks its contract
 * inside a read-side section of liburcu-bp: it would wait for its own thread. Such calls are
 * abd_arc_destroy(), abd_arc_resize(), abd_arc_trim(), abd_arc_hold_drop(), and all that put, fill
 * or remove, except abd_arc_fill_abandon(). While a section of the process's own lasts, puts may
 * wait for it. A wait takes microseconds; but 10 ms and more if the system stopped a thread in the
 * 50 ns of its look-up, as it does where more threads run than processors. liburcu ends the process
 * in three cases: it gets no thread key when it is loaded; it gets no memory (some 128 bytes) when
 * a thread first uses a cache; membarrier(2) was allowed and is then forbidden. Where membarrier(2)
 * is forbidden from the start, everything works.
 *
 * The capacity counts bytes of memory: slabs of records and entries, with the free room in them;
 * runs of large records, with their waste; structs and run tables; the index; the ghost lists; and
 * evicted records that may still be read. Held records that were evicted, replaced or removed can
 * take the cache over its capacity. Each also keeps the slab that it lies in (4 to 256 KiB), where
 * only records of about its size find room: where one record in 16 was held in a full cache of 32
 * MiB of 1,000-byte records, 2.4 MiB were left for records of 20,000 bytes. Several threads that
 * put at the same time can take it over its capacity too, until their calls return, if there is too
 * little left to evict for all of them.
 *
 * A large cache consists of shards, each with a lock and an equal part of the capacity:
 * config.shards says more. Where this file speaks of the cache's lock, or of sizes that depend on
 * the capacity, it means a shard's lock and a shard's part.
 *
 * Stored records of 4 KiB or more start at multiples of 64 bytes, smaller ones at multiples of 16.
 * A small record lies in one piece in a slab of the cache. How large it may be depends on the
 * capacity: 3.9 KiB from 4 MiB up, 7 KiB from 128 MiB, 14 KiB from 256 MiB. A larger record lies in
 * runs; up to 128 KiB, its last bytes lie in a slab. Slabs are not memory of abd_allocator_set().
 * When the sizes of records change, the cache moves records and uses slabs of one size for another.
 * So its resident memory is at most 1.1 times the capacity plus 8 MiB, whatever sizes come in
 * whatever order.
 *
 * Buffers that abd_arc_put_abd() took over are the exception: they stay where they were allocated.
 * Those below 4 KiB share pages, and the allocator gives a page back only when all buffers in it
 * are free. What such pages hold beside records comes on top of the capacity, and resident_bytes
 * does not count it. Freeing a buffer that was taken over calls the engine's own free function, if
 * there is one: while that function blocks, puts that need room wait for it.
 *
 * Reads, holds and abd_arc_contains() find an evicted record until its memory is freed, held or
 * not. It no longer counts as an entry. While the counter damaged is 0, puts is the sum of entries,
 * replaces, removes and evictions: a record is counted once, by what took it out first.
 *
 * Contract for all calls that take an arc: the arc has not been destroyed; the caller is not in a
 * signal handler (for cancelled threads see buffer.h); after fork() the child does not use its
 * parent's arcs. A record that a thread holds when it ends stays held until another thread releases
 * it.
 *
 * Source: Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache" (FAST 2003).
 * OpenZFS: module/zfs/arc.c.
 */
#ifndef ABD_ARC_H
#define ABD_ARC_H

#include <abd/buffer.h>
#include <abd/version.h>

#if !ABD_HAS_ARC
#error "this libabd was built without the cache: ABD_WITH_ARC"
#endif

ABD_BEGIN_DECLS

typedef struct abd_arc abd_arc_t;

/** What identifies a record. OpenZFS: the pool's id, and dva and birth in struct arc_buf_hdr. */
typedef struct abd_arc_key {
	uint64_t pool;
	uint64_t dva[2];
	uint64_t birth;
} abd_arc_key_t;

/** The smallest capacity, in bytes. */
#define ABD_ARC_CAPACITY_MIN ((size_t)64 << 10)
/** The largest record, in bytes before compression: what one lz4 block may hold. */
#define ABD_ARC_RECORD_MAX ((size_t)0x7e000000)
/** The largest hit_batch. */
#define ABD_ARC_HIT_BATCH_MAX 256
/** The most shards. */
#define ABD_ARC_SHARDS_MAX 64

/** Flags of a cache: bits 16 to 31. No call that takes flags of a record knows them. */
enum abd_arc_flags {
	/** keep a fletcher_4 of each stored record (32 bytes); verify it on each read and hold */
	ABD_ARC_CHECKSUM = 1 << 16,
	/**
	 * the first put of a key only remembers the key, the second one stores the record: so
	 * records that are put once take no room from others. abd_arc_put() says more
	 */
	ABD_ARC_SECOND_TIME = 1 << 17,
	/**
	 * keep no ghosts, so that their memory holds records: a ghost takes 37 bytes, and there are
	 * up to as many ghosts as records. For engines that decide themselves which records come
	 * in. A record that comes back after its eviction is a new one, also for
	 * ABD_ARC_SECOND_TIME. Records that were used once are evicted before the others
	 */
	ABD_ARC_NO_GHOSTS = 1 << 20,
	/**
	 * abd_arc_destroy() calls evicted_cb for each record that is still there, what is worth
	 * least first
	 */
	ABD_ARC_DESTROY_EVICTS = 1 << 21,
};

/** Flags of a record: bits 0 to 15. abd_arc_create() refuses them. */
enum abd_arc_put_flag {
	/** the record is the engine's metadata: counted apart, its buffer has ABD_FLAG_META */
	ABD_ARC_METADATA = 1 << 0,
	/** abd_arc_hold_or_fill() returns -EAGAIN where it would wait */
	ABD_ARC_NOWAIT = 1 << 1,
	/** the bytes are an lz4 block already */
	ABD_ARC_STORED = 1 << 2,
	/** keep the bytes as they are, uncompressed */
	ABD_ARC_PLAIN = 1 << 3,
	/** the policy does not learn of this use */
	ABD_ARC_NO_TOUCH = 1 << 4,
	/** with ABD_ARC_STORED: decode the block once before it is stored */
	ABD_ARC_VERIFY = 1 << 5,
};

/** Why a record was evicted. */
enum abd_arc_evicted_reason {
	ABD_ARC_EVICTED_CAPACITY = 1, /**< others need its room */
	ABD_ARC_EVICTED_RESIZE,       /**< abd_arc_resize() makes the cache smaller */
	ABD_ARC_EVICTED_TRIM,         /**< by abd_arc_trim() */
	/** it was found damaged: abd is NULL, and stored_size 0 */
	ABD_ARC_EVICTED_DAMAGED,
	ABD_ARC_EVICTED_DESTROY, /**< with ABD_ARC_DESTROY_EVICTS: the cache ends */
};

/**
 * A record that was evicted. evicted_cb is called once for each such record, when no thread can
 * find or hold it any more. evicted_cb is not called for a record that a call removed or replaced,
 * before or after its eviction; that had to leave a full page of the index; or that is in the cache
 * when it is destroyed, except with ABD_ARC_DESTROY_EVICTS. A record that is found damaged is
 * reported also if its key has another record by then. A put that makes room may evict the old
 * record of its own key. This put replaces no record, and evicted_cb may be called during it.
 *
 * A record is reported by a thread whose call finds that all readers have left it. Such a call is a
 * put, fill, remove, resize or trim; a release that ends the last hold of an evicted record; a hit,
 * if the record it found had been evicted; or abd_arc_destroy(). Resize, trim, destroy and
 * abd_arc_remove_pool() report all that there is. So does a call that gets no memory, or no room,
 * without that. Other calls report 64 records at most, and leave the rest to the next put or to one
 * of these. The thread has no lock and is in no read-side section, and its call goes on when
 * evicted_cb returns. Other threads may be in evicted_cb at the same time. If another thread puts
 * or removes the key while evicted_cb runs, the engine must decide which of the two counts as
 * first.
 *
 * evicted_cb must return: no exception, jump, cancellation or end of its thread may leave it.
 * evicted_cb may use any cache, but must not destroy, resize or trim this one, remove a pool from
 * it, or use it while it is being destroyed. A record of this cache that evicted_cb itself evicts
 * or releases is reported by a later call. Records that evicted_cb puts into this cache may take it
 * over its capacity until then, by at most a 16th: a put that would take it further returns
 * -ENOSPC. If evicted_cb fills the room that a call makes, the call stops making room when
 * evicted_cb has put some hundred records. evicted_cb must not sleep for a fill that the call which
 * it interrupts has begun, or will end: abd_arc_hold_or_fill() answers -EDEADLK for a fill that is
 * being committed, but not for those of abd_arc_hold_or_fill_many().
 *
 * Owner: *evicted and its buffer are lent until evicted_cb returns; abd_arc_evicted_take() keeps
 *        the buffer.
 */
typedef struct abd_arc_evicted {
	abd_arc_key_t key;
	/** the record as stored, marked ABD_FLAG_META if metadata; NULL if it was taken or is
	 * damaged */
	const abd_t *abd;
	size_t stored_size;  /**< bytes in abd */
	size_t logical_size; /**< bytes of the record */
	unsigned flags;      /**< for abd_arc_put_abd(): ABD_ARC_STORED or ABD_ARC_PLAIN */
	void *entry;         /**< private */
	unsigned reason;     /**< enum abd_arc_evicted_reason */
	/**
	 * how often it was used, as far as the policy has learnt: 1 for the put, and 1 for each hit
	 * that counted as a use. A record that came back after its eviction begins with 2. At most
	 * 63
	 */
	unsigned uses;
} abd_arc_evicted_t;

/**
 * How to make a cache. Every field after the first two may be 0, for its default. New fields are
 * added at the end.
 */
struct abd_arc_config {
	size_t config_size; /**< sizeof(struct abd_arc_config), as the caller knows it */
	/** from ABD_ARC_CAPACITY_MIN to PTRDIFF_MAX, or pool_size if chunk_provider is pool */
	size_t capacity_bytes;
	/**
	 * how many records the index has room for from the start, at most one for each 512 bytes of
	 * the capacity: a larger number counts as that. 0: the index grows as needed
	 */
	size_t expected_entries;
	/**
	 * how many hits a thread gathers before the policy learns of them, at most
	 * ABD_ARC_HIT_BATCH_MAX; 0: 64. 1: the policy learns of each hit at once, for which each
	 * hit takes the lock, and every hit is a use. Otherwise a put and the hits of its first 62
	 * ms are one use of the record, unless more than a 32nd of the capacity came in meanwhile
	 */
	uint32_t hit_batch;
	uint32_t flags; /**< enum abd_arc_flags */
	/**
	 * the smallest record, in bytes, that is compressed by abd_lz4_compress_indexed(), if that
	 * saves an eighth. A read of a range then decodes only the groups that the range lies in,
	 * and their hubs, but the put takes longer. 0: no record has an index
	 */
	uint32_t lz4_index_min;
	/**
	 * the group_size of these indexes: 1, 2, 4, 8, 16 (default), 32 or 64 KiB. Records of one
	 * group, or of more than 64, have no index
	 */
	uint32_t lz4_index_group;
	/** called for each record that was evicted, as abd_arc_evicted_t says; NULL: no call */
	void (*evicted_cb)(abd_arc_evicted_t *evicted, void *arg);
	void *evicted_arg; /**< its second argument */
	/**
	 * how many parts of the cache have a lock each, so that threads can put at the same time: a
	 * power of two up to ABD_ARC_SHARDS_MAX. 1: the paper's algorithm over all records. Each
	 * shard has an equal part of the capacity, at least ABD_ARC_CAPACITY_MIN. The hash of a key
	 * chooses its shard, and a record that is too large for the shard's part is -ENOSPC. 0:
	 * twice as many shards as the process has processors, by its affinity and the quota of its
	 * control groups, but so few that each has 256 MiB or more
	 */
	size_t shards;
	/**
	 * how many bytes of metadata other records do not evict: at most half of the capacity, and
	 * metadata_max_bytes. Other records may use what metadata does not use of these bytes.
	 * Metadata above them competes with all other records. This holds until memory runs out: if
	 * an allocation is refused, the cache is trimmed, or many fills or a very large record need
	 * room, and no other record is left to evict, this metadata is evicted too. So is a record
	 * that has to leave a full page of the index. 0: nothing is kept for metadata
	 */
	size_t metadata_min_bytes;
	/**
	 * how many bytes all metadata may cost. A put of metadata that would exceed this evicts
	 * other metadata first, even while there is room; a single record that costs more is
	 * -ENOSPC. 0: metadata may fill the cache
	 */
	size_t metadata_max_bytes;
	/**
	 * the effort of abd_lz4_compress_effort(), 3 to 12, for records that came back: they take
	 * less memory, and their puts take longer. A record came back if the cache has a ghost of
	 * its key; in a cache with ABD_ARC_SECOND_TIME every record that is compressed counts as
	 * such. 0: no record is compressed with an effort
	 */
	size_t lz4_effort;
};

/**
 * A held record. abd is the cached buffer itself. It is valid until the release, whatever becomes
 * of the record meanwhile; any number of threads may read it, and nobody may write it.
 * A hold whose fields are all zero is empty, and releasing it does nothing. A call that takes a
 * hold leaves *hold empty if it holds no record, and abd_arc_release() leaves it empty.
 */
typedef struct abd_arc_held {
	const abd_t *abd;    /**< lz4 block if compressed, else the record */
	size_t stored_size;  /**< bytes in abd */
	size_t logical_size; /**< bytes of the record */
	bool compressed;
	void *entry; /**< private */
} abd_arc_hold_t;

/**
 * A record that the caller is to fetch into abd. abd is valid until the fill ends, and is used like
 * any buffer. Its content is not initialised: bytes that are committed must have been written.
 * A fill whose fields are all zero is empty. Abandoning it does nothing. Committing it breaks the
 * contract, because the record that was fetched would be lost.
 */
typedef struct abd_arc_fetched {
	abd_t *abd;  /**< the cache's memory for the record */
	size_t size; /**< bytes in abd */
	void *entry; /**< private */
} abd_arc_fill_t;

/**
 * What lies in a buffer that becomes a record, in parts: perhaps a header of the engine's, then the
 * record's bytes, then room that was not needed. A field that is 0 or NULL says that there is none.
 * The calls that take it copy what it leads to.
 */
typedef struct abd_arc_record {
	size_t off;          /**< where the record's bytes begin in the buffer */
	size_t stored_size;  /**< how many there are */
	size_t logical_size; /**< bytes of the record: more than stored_size for an lz4 block */
	/** 0: the record; ABD_ARC_PLAIN; ABD_ARC_STORED; ABD_ARC_STORED | ABD_ARC_VERIFY */
	unsigned flags;
	/**
	 * the block's index, of abd_lz4_index_size() bytes, as a file may have it: reads of a part
	 * then decode only what they need, also in a cache without lz4_index_min. One of more than
	 * 64 groups is left out
	 */
	const struct abd_lz4_index *index;
	/**
	 * the fletcher_4 of the record's bytes, 4 words: a cache with ABD_ARC_CHECKSUM then need
	 * not sum them up. Not with flags 0
	 */
	const uint64_t *checksum;
} abd_arc_record_t;

/** One read of a batch. The caller sets all fields but result. */
typedef struct abd_arc_io {
	abd_arc_key_t key;
	void *dst; /**< holds at least size bytes */
	size_t off, size;
	ssize_t result; /**< what abd_arc_read() would have returned */
} abd_arc_io_t;

/** Counters and gauges of one cache. 8-byte fields only; new ones are added at the end. */
struct abd_arc_stats {
	/* so far */
	uint64_t hits;      /**< reads and holds that found their record */
	uint64_t misses;    /**< reads and holds that did not */
	uint64_t decodes;   /**< lz4 blocks decoded */
	uint64_t damaged;   /**< records dropped because checksum or lz4 found them damaged */
	uint64_t puts;      /**< records stored, replacements included */
	uint64_t replaces;  /**< puts that found their key present */
	uint64_t removes;   /**< records removed by a call, unless they had been evicted before */
	uint64_t evictions; /**< records removed by the policy */
	uint64_t ghost_hits_recent;   /**< puts of records evicted after one use */
	uint64_t ghost_hits_frequent; /**< puts of records evicted after several uses */
	uint64_t hits_told;           /**< hits that reached the policy */
	/**
	 * hits that the policy did not learn of, because the cache's lock was busy when their
	 * thread had no more room to note hits
	 */
	uint64_t hits_dropped;
	uint64_t grace_periods; /**< waits for readers of evicted records or of the index's lines */
	uint64_t shrinks;       /**< times the cache gave up memory because an allocation failed */
	/* now */
	uint64_t capacity_bytes;
	uint64_t used_bytes;            /**< everything that counts against the capacity */
	uint64_t stored_bytes;          /**< bytes of the records as stored */
	uint64_t logical_bytes;         /**< bytes of the records before compression */
	uint64_t metadata_stored_bytes; /**< the part of stored_bytes that is metadata */
	uint64_t entries;               /**< records */
	uint64_t metadata_entries;      /**< how many of the entries are metadata */
	uint64_t recent_bytes;          /**< cost of records used once: |T1| */
	uint64_t frequent_bytes;        /**< cost of records used more often: |T2| */
	uint64_t ghost_recent_bytes;    /**< what the records of B1's ghosts cost in T1: |B1| */
	uint64_t ghost_frequent_bytes;  /**< the same for B2 and T2: |B2| */
	uint64_t ghosts;                /**< ghosts in both lists */
	uint64_t target_bytes;          /**< what the records may cost together: c */
	uint64_t target_recent_bytes;   /**< what |T1| should be: p */
	/** part of used_bytes: evicted or removed buffers that are held or may still be read */
	uint64_t evicted_bytes;
	uint64_t held_bytes; /**< cost of held records, whether the cache still has them or not */
	/** part of used_bytes: hash table, entries, ghosts, lz4 indexes, keys remembered */
	uint64_t index_bytes;
	/* so far */
	uint64_t moves; /**< records moved, so that their memory could serve other sizes */
	/* now */
	/**
	 * memory that the system can't use because of this cache: used_bytes; a struct of some
	 * 18 KiB for each shard, which the capacity does not count; thread_bytes; and the free
	 * pages of chunk_provider and of small memory. All caches of the process share the last two
	 */
	uint64_t resident_bytes;
	/* so far */
	uint64_t waits;      /**< grace_periods, and waits for readers before the index shrank */
	uint64_t remembered; /**< puts that only remembered their key (ABD_ARC_SECOND_TIME) */
	uint64_t told;       /**< evicted records that evicted_cb was called for */
	/* now */
	uint64_t metadata_bytes; /**< cost of metadata; 0 if the config sets no bounds for it */
	/** memory of threads for all caches of the process: some 10 KiB for each that has used one
	 */
	uint64_t thread_bytes;
};

/** What a save wrote, or a load read. 8-byte fields only; new ones are added at the end. */
struct abd_arc_saved {
	uint64_t records;      /**< records written, or read into the cache */
	uint64_t stored_bytes; /**< bytes of these records as stored */
	uint64_t file_bytes;   /**< bytes of the file written or read */
	/** records that a load left out: the cache has their keys, or has no room for them; or they
	 * are large, and there was no memory for them */
	uint64_t skipped;
	/** records that a save left out, because their checksum found them damaged; places in the
	 * file that a load found damaged, each with one record or several */
	uint64_t damaged;
	/** 1 if a save wrote all records but those, or a load came to the file's end or filled the
	 * cache; else 0 */
	uint64_t is_complete;
};

/**
 * Make a cache.
 *
 * Units:   the config's capacity_bytes in bytes of memory, expected_entries in records, hit_batch
 *          in hits.
 * Returns: the cache, or NULL with errno EINVAL (config_size, capacity_bytes, hit_batch, flags,
 *          lz4_index_group, lz4_effort, shards or metadata_min_bytes out of range), E2BIG (the
 *          config is longer than this version knows, and the rest is not zero), ENOSPC
 *          (chunk_provider is pool, and capacity_bytes is more than pool_size), ENOMEM.
 * Owner:   the caller, until abd_arc_destroy(). *config is copied.
 * Threads: any.
 * Source:  arc_init() in module/zfs/arc.c.
 */
ABD_API abd_arc_t *abd_arc_create(const struct abd_arc_config *config)
	__attribute__((warn_unused_result));

/**
 * Destroy a cache and all its records.
 *
 * Contract: no other call with this arc is in progress or follows; nothing is held, or being
 *           filled.
 * Returns:  nothing; NULL is ignored.
 * Owner:    the caller has no cache any more.
 * Threads:  one; no other thread uses this arc.
 * Source:   arc_fini() in module/zfs/arc.c.
 */
ABD_API void abd_arc_destroy(abd_arc_t *arc);

/**
 * Store size bytes of buf as the record of key, and replace the record that key had. The record is
 * compressed with lz4. It is stored as it is if that saves less than an eighth (abd_lz4_pays()), or
 * if samples of the record say so (abd_lz4_might_pay()).
 *
 * In a cache with ABD_ARC_SECOND_TIME the first put of a key compresses and stores nothing, returns
 * 0, and is counted in remembered. The next put of the key stores the record. A put is stored at
 * once if the cache has a record or a ghost of its key; so is a fill if its commit wants a hold or
 * other threads wait for it. Keys are remembered in a table with one place of 4 bytes for each 512
 * to 1,024 bytes of the capacity, all of which is cleared when the cache is made: of 16 GiB, 128
 * MiB in 50 ms. A newer key may take the place of an older one, which then counts as new
 * again. Once as many other keys were put as the table has places, about 3 in 5 of the older keys
 * are forgotten. Removed keys stay remembered. A resize that changes the number of places forgets
 * all keys. Only a put that would store its record returns -ENOSPC. A writer must write the device
 * first, then put: after a put that stored nothing, a fill reads the new bytes from the device.
 *
 * Units:   size in bytes, from 1 to ABD_ARC_RECORD_MAX.
 * Returns: 0. Errors: -EINVAL size is 0; -ENOSPC the record can never fit beside
 *          metadata_min_bytes, or evicted_cb puts more than abd_arc_evicted_t allows; -ENOMEM no
 *          memory, even after the cache gave up all it has. After an error the cache has the old
 *          record of key, or none. A fill of key that began before the failed put may still commit
 *          older bytes, unless abd_arc_remove() follows the put.
 * Owner:   nothing changes hands; buf is copied.
 * Threads: any. Readers see the old record or the new one, whole. May wait for readers (a grace
 *          period).
 * Source:  arc_write() and arc_read_done() in module/zfs/arc.c.
 */
ABD_API int abd_arc_put(abd_arc_t *arc, const abd_arc_key_t *key, const void *buf, size_t size);

/**
 * abd_arc_put() with flags: 0 or ABD_ARC_METADATA.
 *
 * Units:   size in bytes.
 * Returns: as abd_arc_put(); -EINVAL also for any other flag.
 * Owner:   nothing changes hands; buf is copied.
 * Threads: as abd_arc_put().
 * Source:  the type in struct arc_buf_hdr, data or metadata.
 */
ABD_API int abd_arc_put_flags(
	abd_arc_t *arc, const abd_arc_key_t *key, const void *buf, size_t size, unsigned flags);

/**
 * Read bytes [off, off + size) of the record of key into dst, decompressing them.
 *
 * Units:   off and size are bytes of the record before compression; dst holds at least size bytes.
 * Returns: size. Errors: -ENOENT not cached; -EINVAL range outside the record; -EBADMSG the stored
 *          record is damaged: it is counted and dropped, and the content of dst is undefined;
 *          -ENOMEM the range starts inside a compressed record, and neither the engine's allocator
 *          nor the library has off + size bytes of memory. A read evicts nothing. Nothing outside
 *          dst [0, size) is written.
 * Threads: any number of readers; wait-free look-up. If the record is evicted meanwhile, it is not
 *          freed until this call returns. A read of a record that had been evicted before takes
 *          the cache's lock.
 * Source:  arc_read(), arc_buf_fill() in module/zfs/arc.c.
 */
ABD_API ssize_t abd_arc_read(
	abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off, size_t size);

/**
 * abd_arc_read() into bytes [dst_off, dst_off + size) of a buffer of any kind. If these lie in one
 * piece, the record is decoded into them. If they lie in several runs, a whole record is decoded
 * into the runs; a part of a record is decoded into memory of the part's size, and copied.
 *
 * The pieces of an iovec are a buffer too (abd_from_iov()):
 *
 *     abd_t *dst = abd_from_iov(iov, iov_count);
 *     ssize_t got = dst != NULL ? abd_arc_read_abd(arc, key, dst, 0, 0, size) : -errno;
 *
 *     abd_free(dst);
 *
 * Contract: dst_off + size is at most dst's size; nobody else uses dst meanwhile; dst is not from
 *           abd_get_zeros().
 * Units:    as abd_arc_read(); dst_off in bytes of dst.
 * Returns:  as abd_arc_read(). -ENOMEM also if there is no memory for a part, as above, or for the
 *           window, at most 128 KiB, that the decoder needs to write runs. Nothing outside the
 *           range of dst is written.
 * Threads:  as abd_arc_read().
 * Source:   arc_read() in module/zfs/arc.c, whose callback gets the header's abd.
 */
ABD_API ssize_t abd_arc_read_abd(abd_arc_t *arc, const abd_arc_key_t *key, abd_t *dst,
	size_t dst_off, size_t off, size_t size);

/**
 * abd_arc_read() with flags. With ABD_ARC_NO_TOUCH the policy does not learn of the read: for a
 * backup, which reads all records once.
 *
 * Units:   as abd_arc_read().
 * Returns: as abd_arc_read(); -EINVAL also for another flag.
 * Threads: as abd_arc_read().
 * Source:  ARC_FLAG_NO_BUF and prefetches in arc_access(), module/zfs/arc.c.
 */
ABD_API ssize_t abd_arc_read_flags(abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off,
	size_t size, unsigned flags);

/**
 * Read the whole record of key into dst, for a caller that does not know its size.
 *
 * Units:   capacity in bytes of dst; *size_needed in bytes of the record before compression.
 * Returns: the record's size, which is *size_needed too; -ENOSPC: dst is too small for
 *          *size_needed bytes, and is unchanged. Other errors leave *size_needed unchanged:
 *          -ENOENT, -EBADMSG and -ENOMEM as abd_arc_read(). A call that returns the size or
 *          -ENOSPC counts as one hit.
 * Threads: as abd_arc_hold().
 * Source:  arc_read() in module/zfs/arc.c, whose header knows the size.
 */
ABD_API ssize_t abd_arc_read_all(
	abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t capacity, size_t *size_needed);

/**
 * Whether abd_arc_hold() would find a record of key now. The call counts as no hit, and the policy
 * does not learn of it.
 *
 * Returns: true or false.
 * Threads: any; wait-free look-up. Takes the cache's lock if the record was evicted.
 * Source:  arc_cached() in module/zfs/arc.c.
 */
ABD_API bool abd_arc_contains(abd_arc_t *arc, const abd_arc_key_t *key);

/**
 * Hold the cached buffer of key itself, without a copy, for any length of time.
 *
 * Units:   the hold's stored_size and logical_size in bytes.
 * Returns: 0 and *hold filled; -ENOENT not cached; -EBADMSG damaged (only with ABD_ARC_CHECKSUM).
 *          After an error *hold is empty. The call allocates no memory.
 * Owner:   the caller holds the record until any thread calls abd_arc_release(). The record may be
 *          evicted, replaced or removed meanwhile; its memory then comes on top of the capacity
 *          until it is released. Reads and holds still find a held record after its eviction,
 *          except in two cases: the cache moved it to another place after the hold was taken, or
 *          it had to leave a full page of the index.
 * Threads: any; wait-free look-up. The head of this file says when a hit takes a lock.
 * Source:  arc_buf_alloc_impl() in module/zfs/arc.c.
 */
ABD_API int abd_arc_hold(abd_arc_t *arc, const abd_arc_key_t *key, abd_arc_hold_t *hold);

/**
 * End a hold. Releasing an empty one does nothing.
 *
 * Contract: *hold is empty or was not released before, not by a copy of the struct either.
 * Returns:  nothing; *hold is left empty.
 * Owner:    the caller no longer holds the record.
 * Threads:  any, not only the one that took the hold. Takes the cache's lock if the record was
 *           evicted.
 * Source:   arc_buf_destroy() in module/zfs/arc.c.
 */
ABD_API void abd_arc_release(abd_arc_hold_t *hold);

/**
 * Hold a held record a second time, for two owners that release it at different times. The call
 * counts as no hit, and succeeds also when the cache no longer has the record.
 *
 * Contract: *hold is not released before the call returns; copy is another struct.
 * Returns:  0 and *copy filled. The call allocates no memory.
 * Owner:    each of the two is released alone, in any order.
 * Threads:  any, not only the one that took the hold. The copy is counted in the record.
 * Source:   arc_buf_alloc_impl() in module/zfs/arc.c, for a header that has a buffer already.
 */
ABD_API int abd_arc_hold_dup(const abd_arc_hold_t *hold, abd_arc_hold_t *copy);

/**
 * Read bytes [off, off + size) of a held record into dst, decompressing them, also when the cache
 * no longer has the record.
 *
 * Contract: *hold has not been released.
 * Units:    as abd_arc_read().
 * Returns:  as abd_arc_read(), but never -ENOENT. After -EBADMSG the record is dropped from the
 *           cache, and its hold still has to be released.
 * Owner:    nothing changes hands; the record stays held.
 * Threads:  any, several at a time, until the hold is released. Takes a lock only in a thread's
 *           first call, and if the record is damaged. No hit is counted.
 * Source:   arc_buf_fill() in module/zfs/arc.c.
 */
ABD_API ssize_t abd_arc_hold_read(const abd_arc_hold_t *hold, void *dst, size_t off, size_t size);

/**
 * Forget the held record, unless its key has another record by now: for a caller that finds the
 * record wrong or too old while other threads may replace it. If the other record has the same
 * bytes, the call may forget that one.
 *
 * Contract: *hold is a hold of this cache, and has not been released.
 * Returns:  0; -ENOENT the cache no longer has the record, and nothing has changed.
 * Owner:    the record stays held, and valid.
 * Threads:  any.
 * Source:   arc_freed() in module/zfs/arc.c.
 */
ABD_API int abd_arc_hold_drop(abd_arc_t *arc, const abd_arc_hold_t *hold);

/**
 * Forget the record of key.
 *
 * Returns: 0; -ENOENT when there is none.
 * Owner:   nothing changes hands; a held record stays valid for its holders.
 * Threads: any.
 * Source:  arc_freed() in module/zfs/arc.c.
 */
ABD_API int abd_arc_remove(abd_arc_t *arc, const abd_arc_key_t *key);

/**
 * abd_arc_read() of n ranges, one after another. The memory that their look-ups go through is
 * fetched for several keys at once: waiting for this memory is most of a look-up among many
 * records.
 *
 * Contract: each dst holds its size bytes, and no two of them overlap.
 * Units:    as abd_arc_read(). n may be 0, and keys may occur twice.
 * Returns:  how many of the results are not negative. Each ios[i].result is size or the error of
 *           that read, which does not stop the others.
 * Threads:  as abd_arc_read().
 * Source:   dmu_buf_hold_array_by_dnode() in module/zfs/dmu.c issues the reads of all blocks of a
 *           range before it waits for one.
 */
ABD_API size_t abd_arc_read_many(abd_arc_t *arc, abd_arc_io_t *ios, size_t n);

/**
 * abd_arc_hold() of n keys, one after another; the memory that the look-ups go through, and the
 * first bytes of each record, are fetched for several keys at once.
 *
 * Units:   n keys, holds and results. n may be 0, and keys may occur twice.
 * Returns: how many records are held. Each results[i] is 0, and then holds[i] is the caller's to
 *          release; or the error of abd_arc_hold(), and then holds[i] is empty.
 * Owner:   as abd_arc_hold(): each hold is released alone.
 * Threads: as abd_arc_hold().
 * Source:  as abd_arc_read_many().
 */
ABD_API size_t abd_arc_hold_many(
	abd_arc_t *arc, const abd_arc_key_t *keys, abd_arc_hold_t *holds, int *results, size_t n);

/**
 * Forget all records of a pool, held ones too. Fills of the pool that began before the call end
 * with -ESTALE. Records that are put, and fills that begin, during the call may stay.
 *
 * Units:   the result in records.
 * Returns: how many records it forgot, evicted ones that are held included; never an error.
 * Owner:   nothing changes hands; held records stay valid for their holders. The memory of the
 *          others is free when the call returns.
 * Threads: any. The call looks at all records of the cache without its lock, removes a few at a
 *          time with it, and pauses now and then, so that puts of other threads go on. Waits for
 *          readers.
 * Source:  arc_flush() in module/zfs/arc.c.
 */
ABD_API ssize_t abd_arc_remove_pool(abd_arc_t *arc, uint64_t pool);

/**
 * Visit all records, in no order. A record that is in the cache from begin to end of the call is
 * visited once, also if it is replaced meanwhile. A record that comes or goes meanwhile may be
 * visited or not. A record that was evicted before is not visited, held or not.
 *
 * visit gets a copy of the key, and the sizes that the record had a moment ago; it returns 0 to go
 * on. It may use the cache, but not destroy it.
 *
 * Units:   stored_size in bytes as stored; logical_size in bytes before compression.
 * Returns: 0, or what visit returned to end the walk.
 * Threads: any. Takes no lock of the cache, and is in no section while visit runs.
 * Source:  none in OpenZFS; the cursor of Redis's SCAN.
 */
ABD_API int abd_arc_each(abd_arc_t *arc,
	int (*visit)(const abd_arc_key_t *key, size_t stored_size, size_t logical_size, void *arg),
	void *arg);

/**
 * Hold the record of key as abd_arc_hold() does, or begin to fill it in if there is none. One
 * thread fills a key at a time; others that ask for it sleep until the fill has ended, and then
 * hold the record. The filler fetches the record into fill->abd, which is memory of the cache (of
 * the pool, if chunk_provider is pool) and counts against the capacity. From 4 KiB up, its runs are
 * whole pages at page boundaries, as O_DIRECT wants them.
 *
 * flags: ABD_ARC_NOWAIT, ABD_ARC_NO_TOUCH, and ABD_ARC_METADATA for the record that is filled in.
 *
 * Units:   size in bytes: room for what the caller will fetch, from 1 to ABD_ARC_RECORD_MAX. A
 *          record that is found is held, whatever size says.
 * Returns: 0: *hold holds the record, and *fill is empty. 1: *fill is the caller's to fill, and
 *          *hold is empty. After an error both are empty. Errors: -EDEADLK this thread itself began
 *          the fill of key, or is committing it; -EAGAIN somebody else did, and flags say
 *          ABD_ARC_NOWAIT; -ENOSPC the buffer can never fit, or beside the buffers of other fills
 *          would take the cache over its capacity by more than a 16th; -EINVAL size is 0 (also if
 *          the record is there), or a flag is unknown; -ENOMEM as abd_arc_put(), and the thread
 *          that has waited longest gets the fill. -ENOMEM also in a thread that is ending, after
 *          the library's own destructor has run: abd_arc_hold_or_fill_async() works there. A record
 *          that is found damaged is dropped, as if there were none.
 * Owner:   the fill belongs to the thread that got it, until abd_arc_fill_commit() or
 *          abd_arc_fill_abandon(), which any thread may call. If the thread ends before, the fill
 *          is abandoned and its buffer freed: transfers into it must have ended.
 * Threads: any. Look-up as abd_arc_hold(). A thread that finds no record takes the cache's lock. A
 *          thread that waits sleeps for as long as the filler takes.
 * Source:  arc_read() in module/zfs/arc.c, for a header whose read is in progress.
 */
ABD_API int abd_arc_hold_or_fill(abd_arc_t *arc, const abd_arc_key_t *key, size_t size,
	unsigned flags, abd_arc_hold_t *hold, abd_arc_fill_t *fill);

/**
 * abd_arc_hold_or_fill() with a limit for the time that the thread sleeps. The limit is an argument
 * of a call of its own, because flags have no room for a time.
 *
 * Units:   timeout_ns in nanoseconds, counted from the first look-up, for all waits of the call
 *          together; UINT64_MAX: no limit. Other arguments as abd_arc_hold_or_fill().
 * Returns: as abd_arc_hold_or_fill(); -ETIMEDOUT: another thread was still filling the key when the
 *          time was up. Both structs are empty then, and the caller no longer waits.
 * Owner:   as abd_arc_hold_or_fill().
 * Threads: as abd_arc_hold_or_fill(). A thread whose time is up may still wait for the cache's
 *          lock.
 * Source:  none in OpenZFS, where a read waits for its device.
 */
ABD_API int abd_arc_hold_or_fill_timed(abd_arc_t *arc, const abd_arc_key_t *key, size_t size,
	unsigned flags, uint64_t timeout_ns, abd_arc_hold_t *hold, abd_arc_fill_t *fill);

/**
 * abd_arc_hold_or_fill() for an engine that has no thread for each request: it runs on io_uring,
 * coroutines or a reactor. The call does not sleep until another fill ends, and the fill that it
 * begins belongs to no thread: any thread may end it, and only abd_arc_fill_commit(),
 * abd_arc_fill_commit_record() and abd_arc_fill_abandon() do. A transfer into its buffer may
 * outlive the thread that submitted it.
 *
 * If the key is being filled already, the call returns -EINPROGRESS, and ready(arg) is called once,
 * when that fill has ended. The caller then asks again. An abandoned fill does not end while
 * threads sleep for it in abd_arc_hold_or_fill(): the one that has waited longest gets it.
 *
 * ready is called by the thread that ends the fill, within its call or, if a thread with an open
 * fill of abd_arc_hold_or_fill() ends, while it ends. This may be before
 * abd_arc_hold_or_fill_async() has returned. That thread has no lock, and is in no read-side
 * section. ready must return: no exception, jump, cancellation or end of its thread may leave it.
 * It may use any cache, but must not destroy this one; it asks again by the calls whose fills
 * belong to no thread. If it ends a fill, that fill's ready functions are called within; an engine
 * whose stack is short has ready only note arg, and asks later.
 *
 * flags: as abd_arc_hold_or_fill(). With ABD_ARC_NOWAIT -EAGAIN comes in the place of -EINPROGRESS,
 * and ready, which may then be NULL, is not called.
 *
 * Contract: ready is not NULL, or flags have ABD_ARC_NOWAIT.
 * Units:    as abd_arc_hold_or_fill().
 * Returns:  0, 1 or an error as abd_arc_hold_or_fill(), but never -EDEADLK; ready is not called.
 *           -EINPROGRESS: both structs are empty, and ready will be called, unless
 *           abd_arc_forget_ready() takes it back. -ENOMEM also if there is no memory to note ready.
 * Owner:    arg is lent until ready is called or taken back. The fill is the engine's.
 * Threads:  any; ready may be called in any thread. May wait for readers, as a put.
 * Source:   arc_read() in module/zfs/arc.c with ARC_FLAG_NOWAIT, whose done callback is added to
 *           the header's list while its read is in progress.
 */
ABD_API int abd_arc_hold_or_fill_async(abd_arc_t *arc, const abd_arc_key_t *key, size_t size,
	unsigned flags, abd_arc_hold_t *hold, abd_arc_fill_t *fill, void (*ready)(void *arg),
	void *arg);

/**
 * Take back a ready function that waits for a fill of key, as an engine does whose request was
 * cancelled.
 *
 * Returns: 0: ready(arg) is not called for one -EINPROGRESS that returned for key, ready and arg.
 *          -ENOENT: it was called, or another thread is about to call it or calls it now. The
 *          engine must keep what arg leads to until ready has run.
 * Owner:   after 0 arg is the engine's again.
 * Threads: any.
 * Source:  none in OpenZFS, whose reads can't be cancelled.
 */
ABD_API int abd_arc_forget_ready(
	abd_arc_t *arc, const abd_arc_key_t *key, void (*ready)(void *arg), void *arg);

/**
 * Ask for n keys: hold what is there, and begin to fill what is not, so that the buffers of all
 * fills go into one submission to the device. The look-ups overlap as those of abd_arc_hold_many(),
 * and all come before the first fill begins. The call does not sleep until another fill ends.
 * The fills belong to no thread, as those of abd_arc_hold_or_fill_async().
 *
 * flags: ABD_ARC_NO_TOUCH and ABD_ARC_METADATA, for all keys; ABD_ARC_NOWAIT changes nothing.
 *
 * Contract: hold and fill structs of holds and fills own nothing yet.
 * Units:    n keys, sizes, holds, fills and results; sizes[i] in bytes, as size of
 *           abd_arc_hold_or_fill(). n may be 0.
 * Returns:  how many results are not negative. Each results[i] is what abd_arc_hold_or_fill_async()
 *           with ABD_ARC_NOWAIT returns for its key: 0, and holds[i] is filled; 1, and fills[i] is;
 *           or an error, and both are empty; the other keys go on. -EAGAIN: the key is being
 *           filled, also by this call, if it occurs twice.
 * Owner:    each hold is released alone, and each fill ended alone, by any thread.
 * Threads:  any. May wait for readers, as a put.
 * Source:   dmu_buf_hold_array_by_dnode() in module/zfs/dmu.c issues the reads of all blocks of a
 *           range before it waits for one.
 */
ABD_API size_t abd_arc_hold_or_fill_many(abd_arc_t *arc, const abd_arc_key_t *keys,
	const size_t *sizes, unsigned flags, abd_arc_hold_t *holds, abd_arc_fill_t *fills,
	int *results, size_t n);

/**
 * End a fill: the first stored_size bytes of fill->abd become the record of its key, and all
 * threads that wait for it wake. flags say what the bytes are. 0: the record, which is compressed
 * as by abd_arc_put(). ABD_ARC_PLAIN: the record, which is kept as it is. ABD_ARC_STORED: an lz4
 * block. In the last two cases fill->abd itself becomes the record's buffer and no byte is copied,
 * if it is full (stored_size is fill->size), has 4 KiB or more, and at most a 16th of its memory is
 * padding. A damaged block is found by the first read; with ABD_ARC_STORED | ABD_ARC_VERIFY by this
 * call, which then decodes the block once. ABD_ARC_VERIFY without ABD_ARC_STORED is -EINVAL.
 *
 * Contract: *fill came from a call that begins fills and was not ended yet; stored_size is at most
 *           fill->size.
 * Units:    stored_size in bytes of fill->abd; logical_size in bytes of the record: more than
 *           stored_size with ABD_ARC_STORED, else the same.
 * Returns:  0, and *hold holds the record, unless hold is NULL. After an error *hold is empty.
 *           -ESTALE: a record of the key was put or removed since the fill began, so that the
 *           fetched bytes may be older. Nothing is stored, and all threads that wait look again.
 *           Other errors: -EINVAL flags or sizes are not as above; -EBADMSG the block that was to
 *           be verified is not one of a record of logical_size bytes; -ENOSPC, -ENOMEM as
 *           abd_arc_put(). Then the thread that has waited longest gets the fill; but if a record
 *           of the key was put or removed, all look again. If hold is NULL, 0 may also mean that
 *           the key is only remembered (ABD_ARC_SECOND_TIME).
 * Owner:    the fill has ended, whatever is returned, and *fill is left empty. hold is the
 *           caller's to release.
 * Threads:  any, not only the one that began the fill. May wait for readers.
 * Source:   arc_read_done() in module/zfs/arc.c.
 */
ABD_API int abd_arc_fill_commit(abd_arc_fill_t *fill, size_t stored_size, size_t logical_size,
	unsigned flags, abd_arc_hold_t *hold);

/**
 * abd_arc_fill_commit() of a record in parts: behind a header, with an index, with a known
 * checksum. If off is 0, a buffer of 4 KiB and more becomes the record's with no byte copied, also
 * if it has room behind the record: less than half of its last run (abd_alloc()), which for 4 KiB
 * << n is the whole buffer. But if more than a 16th of its memory is padding or room, or off is not
 * 0, the record's bytes are copied once, into memory of their size.
 *
 * Contract: *fill came from a call that begins fills and was not ended yet; record->index, if not
 *           NULL, leads to as many bytes as its group_size and logical_size say, and
 *           record->checksum to 4 words.
 * Units:    as abd_arc_record_t.
 * Returns:  as abd_arc_fill_commit(); -EINVAL also if the record's bytes pass the end of fill->abd,
 *           or overlap the index, or if flags allow no index or checksum; -EBADMSG if the index is
 *           none of a record and block of these sizes. With ABD_ARC_VERIFY -EBADMSG also if
 *           checksum is not that of the bytes, or if the index is not the block's: each of its
 *           points, and each match of the block, must be as struct abd_lz4_index says.
 * Owner:    as abd_arc_fill_commit(); *record and what it leads to stay the caller's.
 * Threads:  any, not only the one that began the fill. May wait for readers.
 * Source:   arc_read_done() in module/zfs/arc.c.
 */
ABD_API int abd_arc_fill_commit_record(
	abd_arc_fill_t *fill, const abd_arc_record_t *record, abd_arc_hold_t *hold);

/**
 * End a fill without a record. The thread that has waited longest wakes and gets the fill; the
 * others go on waiting. If no thread sleeps for the fill, it ends, and the ready functions that
 * wait for it are called. If a record of the key was put or removed since the fill began, all wake
 * and look again.
 *
 * Contract: *fill is empty, or came from a call that begins fills and was not ended yet.
 * Returns:  nothing; *fill is left empty.
 * Owner:    the fill has ended; its buffer is freed.
 * Threads:  any, not only the one that began the fill.
 * Source:   arc_read_done() in module/zfs/arc.c, after an error.
 */
ABD_API void abd_arc_fill_abandon(abd_arc_fill_t *fill);

/**
 * Store a buffer as the record of key, and replace the record that key had. The buffer becomes the
 * cache's. flags and logical_size are those of abd_arc_fill_commit(). With ABD_ARC_PLAIN or
 * ABD_ARC_STORED a buffer of 64 bytes or more is not copied, however much of its memory is padding:
 * so a record in a buffer of abd_alloc_for_io() stays in its pages. Without these flags the record
 * is compressed; if that saves less than an eighth, the buffer is kept as it is, unless more than a
 * 16th of it is padding. The record is metadata if the buffer has ABD_FLAG_META.
 *
 * Contract: nobody uses or views the buffer or borrows from it, and it is in no gang.
 * Units:    logical_size in bytes of the record: more than abd's size with ABD_ARC_STORED, else the
 *           same.
 * Returns:  0. Errors: -EINVAL flags or sizes are not as above, or the cache can't take the buffer:
 *           a gang, one that does not own its memory (a view, zeros, abd_get_from_buf()), or one
 *           in a struct of the caller's (abd_alloc_linear_struct()); -EBADMSG with ABD_ARC_VERIFY:
 *           abd is no lz4 block of a record of logical_size bytes; -ENOSPC, -ENOMEM as
 *           abd_arc_put().
 * Owner:    the cache, which frees it at once if the key is only remembered. After an error the
 *           buffer is still the caller's, and unchanged.
 * Threads:  as abd_arc_put().
 * Source:   arc_write_ready() in module/zfs/arc.c, which may share the buffer with the header.
 */
ABD_API int abd_arc_put_abd(
	abd_arc_t *arc, const abd_arc_key_t *key, abd_t *abd, size_t logical_size, unsigned flags);

/**
 * abd_arc_put_abd() of a record in parts, as abd_arc_fill_commit_record() says. No byte is copied
 * if off is 0 and the record's bytes fill the buffer; nor if it has room behind them, is a buffer
 * in pages (abd_alloc(), abd_alloc_for_io()) and no more than a 16th of its memory is padding or
 * room.
 *
 * Contract: as abd_arc_put_abd() and abd_arc_fill_commit_record().
 * Units:    as abd_arc_record_t.
 * Returns:  as abd_arc_put_abd(), and the errors of abd_arc_fill_commit_record() for parts that
 *           don't fit.
 * Owner:    as abd_arc_put_abd(); *record and what it leads to stay the caller's.
 * Threads:  as abd_arc_put().
 * Source:   arc_write_ready() in module/zfs/arc.c.
 */
ABD_API int abd_arc_put_record(
	abd_arc_t *arc, const abd_arc_key_t *key, abd_t *abd, const abd_arc_record_t *record);

/**
 * Change the capacity, evicting what no longer fits.
 *
 * Units:   capacity_bytes in bytes of memory.
 * Returns: 0. Errors: -EINVAL capacity_bytes is less than ABD_ARC_CAPACITY_MIN for each shard, or
 *          more than PTRDIFF_MAX; -ENOSPC chunk_provider is pool, and capacity_bytes is more than
 *          pool_size, or metadata_min_bytes is more than half of capacity_bytes. After an error the
 *          capacity is unchanged.
 * Threads: any. When the capacity becomes less, the call evicts in steps, waits for readers and
 *          shrinks the index. Until it returns, as much memory may be in use as before.
 * Source:  arc_reduce_target_size() in module/zfs/arc.c.
 */
ABD_API int abd_arc_resize(abd_arc_t *arc, size_t capacity_bytes);

/**
 * Give memory back to the system when it is short of memory. The call frees records that wait to be
 * freed, then evicts records, last those that metadata_min_bytes keeps. The capacity stays, so the
 * cache grows again as records come. The call stops when used_bytes has fallen by bytes, when no
 * record is left, or after max_ns; a step that it has begun in one shard, with its wait for
 * readers, takes more time than that.
 *
 * Units:   bytes of used_bytes; max_ns in nanoseconds; 0: nothing is evicted; UINT64_MAX: no limit.
 * Returns: by how many bytes used_bytes fell. Held records are evicted in their turn, but their
 *          memory is free only when they are released.
 * Threads: any; others go on meanwhile. Waits for readers.
 * Source:  arc_reduce_target_size() and arc_evict() in module/zfs/arc.c.
 */
ABD_API size_t abd_arc_trim(abd_arc_t *arc, size_t bytes, uint64_t max_ns);

/**
 * Write all records to a file, a pipe or a socket, for abd_arc_load(): as they are stored, with
 * their keys, and their order and place in the policy's lists. The records that are worth most come
 * first. A record that is put, replaced, removed or evicted during the call may be written or not.
 * With ABD_ARC_CHECKSUM one that is damaged is left out, and counted; the save is complete without.
 * To replace an older save, write another file, fsync() it, and rename it.
 *
 * Contract: saved holds at least saved_size bytes.
 * Units:    saved_size in bytes, as abd_arc_stats_get(). The file has each record's bytes as
 *           stored, its index, if any, and 72 bytes for each; and 104 in all. While it runs, the
 *           call needs some 70 bytes for each record, with what qsort() takes, and 70 KiB.
 * Returns:  0; -EINVAL: saved_size is no multiple of 8 or is 0; -ENOMEM; -EIO: fd accepts no byte;
 *           others as writev(). After an error *saved says how many records the file has whole, and
 *           how many bytes it has.
 * Owner:    nothing changes hands. Some 32 records are held while they are being written.
 * Threads:  any; others use the cache meanwhile. No lock is held while the call writes. The policy
 *           does not learn of it, and no hit is counted.
 * Source:   l2arc_log_blk_commit() in module/zfs/arc.c.
 */
ABD_API int abd_arc_save(abd_arc_t *arc, int fd, struct abd_arc_saved *saved, size_t saved_size);

/**
 * Read a save of abd_arc_save() from fd, at its present place, and put the records into the cache,
 * until there is no room for more. They evict and replace nothing, and go behind all records that
 * the cache has. Capacity, shards, flags and machine may be others than those of the saved cache.
 *
 * Records that are cut off or damaged are left out: each has a checksum. The worst that a forged
 * file can do is to bring records with bytes of its author's choice. Lz4 blocks are not decoded
 * here: a wrong one is found when it is read. Nor are their indexes verified: by a forged one a
 * range may come back with other bytes than the record has when it is read whole, but with none
 * that are not made of its block. For a record of more than 1 MiB as stored the call needs memory
 * of that size; if there is none, the record is left out, and those behind it are read. Keys must
 * still name the same bytes: if blocks may have changed since the save, their records must be
 * removed, or get other keys, before anybody reads them.
 *
 * Contract: saved holds at least saved_size bytes.
 * Units:    saved_size in bytes, as abd_arc_stats_get().
 * Returns:  0, also if the file is cut off or damaged: *saved says so; -EBADMSG: fd is not at the
 *           begin of a save of this version; -EINVAL: saved_size is no multiple of 8 or is 0;
 *           -ENOMEM, but not for want of memory for so large a record; others as read().
 *           After an error *saved says what was read into the cache.
 * Owner:    nothing changes hands; the place of fd is undefined afterwards.
 * Threads:  any; others use the cache meanwhile. May wait for readers.
 * Source:   l2arc_rebuild() in module/zfs/arc.c.
 */
ABD_API int abd_arc_load(abd_arc_t *arc, int fd, struct abd_arc_saved *saved, size_t saved_size);

/**
 * Keep the buffer of an evicted record, so that it need not be copied. Its memory no longer counts
 * for the cache. abd_arc_put_abd() can give it to another cache.
 *
 * Contract: called by evicted_cb, for the record that it was called with, which was not taken yet.
 * Returns:  the buffer, of stored_size bytes, and evicted->abd is NULL; or NULL if the record is
 *           damaged, if the buffer or its end lies in a slab of the cache, or if there is no memory
 *           for its struct. In the latter two cases the record can be copied from evicted->abd.
 * Owner:    the caller, until abd_free().
 * Threads:  the one that is in evicted_cb.
 * Source:   none in OpenZFS, where l2arc_write_buffers() writes what is still cached.
 */
ABD_API abd_t *abd_arc_evicted_take(abd_arc_evicted_t *evicted) __attribute__((warn_unused_result));

/**
 * Fill *stats. stats_size is the size of the record that the caller was compiled with: a shorter
 * record is filled as far as it goes, and a longer one gets zeroes in the unknown tail.
 *
 * Units:   stats_size in bytes.
 * Returns: 0; -EINVAL when stats_size is no multiple of 8 or is 0.
 * Owner:   *stats is the caller's.
 * Threads: any. Counters are sums over threads, exact while no thread is in another call.
 * Source:  arc_kstat_update() in module/zfs/arc.c.
 */
ABD_API int abd_arc_stats_get(abd_arc_t *arc, struct abd_arc_stats *stats, size_t stats_size);

ABD_END_DECLS

#endif
