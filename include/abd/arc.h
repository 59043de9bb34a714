/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ARC: an adaptive replacement cache of records, compressed where that pays, in buffers of this
 * library.
 *
 * A hit takes no lock and writes no cache line that another thread uses, with these exceptions. One
 * noted hit in hit_batch (64) tries the cache's lock, to report the batch to the policy. A thread's
 * first call takes a lock; so does a hit of an evicted or damaged record, and a hit of a thread
 * that uses more than 64 shards by turns. A hold for which no free slot is found among the thread's
 * 48, a copy of a hold, and a hold of an evicted record are counted in the record.
 *
 * The look-up is wait-free. It is a read-side section of liburcu-bp; what it finds is noted in a
 * block that belongs to the thread, and read when the section has ended. So no thread waits for one
 * that reads, however long that takes. An abd_arc_read() that a signal handler leaves by a jump
 * keeps its record until the thread reads again, unless the record had been evicted; other calls
 * must not be left so, because what they hold stays held. Threads need not register. A thread has
 * one block for all caches, at most 16 KiB: thread_bytes counts them. It is freed when the thread
 * ends and has no holds left.
 *
 * The process may use liburcu as well. But a call that may wait for readers must not be made in a
 * read-side section of liburcu-bp: it would wait for its own thread, and this breaks its contract.
 * These are abd_arc_destroy(), all that put, fill (but not abd_arc_fill_abandon()) or remove, and
 * abd_arc_hold_drop(), abd_arc_resize() and abd_arc_trim(). A section of the process's own that
 * lasts long keeps puts waiting. liburcu ends the process if it gets no thread key when it is
 * loaded, no memory for some 128 bytes when a thread first uses a cache, or if membarrier(2) is
 * forbidden after it was allowed; if it is forbidden from the start, everything works.
 *
 * The capacity counts bytes of memory: slabs of records and entries with what is free in them, runs
 * of large records with their waste, structs and run tables, the cache's index, its ghost lists,
 * and evicted records that may still be read. Held records that were evicted, replaced or removed
 * can take the cache over its capacity. So can what several threads put at the same time, if there
 * is nothing left to evict for all of it, until their calls return.
 *
 * A large cache consists of shards, each with a lock and an equal part of the capacity:
 * config.shards says more. Where this file speaks of the cache's lock, or of sizes that depend on
 * the capacity, it means a shard's lock and a shard's part.
 *
 * Stored records of 4 KiB or more start at multiples of 64 bytes, smaller ones at multiples of 16.
 * Up to a size that depends on the capacity (3.9 KiB from 4 MiB up, 7 KiB from 128, 14 KiB from
 * 256) they lie in one piece, in slabs of the cache's own, not in memory of abd_allocator_set(). Up
 * to 128 KiB only the end of a larger one lies there, the rest in runs. When the sizes of records
 * change, records are moved, and slabs of one size become slabs of another: so resident memory is
 * at most 1.1 times the capacity, and 8 MiB, whatever sizes come in whatever order. Buffers that
 * abd_arc_put_abd() took over are the exception: they stay where they were allocated. Several of
 * those below 4 KiB share a page, which the allocator gives back only when all of them are free.
 * This memory comes on top, and resident_bytes does not count it. When such a buffer is freed, an
 * engine's own free function is called: while it blocks, puts that need room wait for it.
 *
 * Reads, holds and abd_arc_contains() find an evicted record until its memory is freed, held or
 * not. It no longer counts as an entry. While damaged is 0,
 * puts is always the sum of entries, replaces, removes and evictions: a record is counted where it
 * was first taken out.
 *
 * Contract for all calls that take an arc: the arc has not been destroyed; the caller is not in a
 * signal handler (buffer.h says what holds of cancelled threads); after fork() the child does not
 * use its parent's arcs. A record that a thread holds when it ends stays held until another thread
 * releases it.
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

/** The least capacity, in bytes. */
#define ABD_ARC_CAPACITY_MIN ((size_t)64 << 10)
/** The largest record, in bytes before compression: what one lz4 block may hold. */
#define ABD_ARC_RECORD_MAX ((size_t)0x7e000000)
/** The largest hit_batch. */
#define ABD_ARC_HIT_BATCH_MAX 256
/** The most shards. */
#define ABD_ARC_SHARDS_MAX 64

/** Flags of a cache: bits 16 to 31. No call that takes flags of a record knows them. */
enum abd_arc_flags {
	/**
	 * keep a fletcher_4 of each record as stored (32 bytes) and verify it on every read and
	 * hold
	 */
	ABD_ARC_CHECKSUM = 1 << 16,
	/**
	 * store a record when its key is put the second time, and only remember the key the first
	 * time: what is put once then takes no room from what is used. abd_arc_put() says more
	 */
	ABD_ARC_SECOND_TIME = 1 << 17,
	/**
	 * remember nothing of what was evicted. A ghost takes 37 bytes, and
	 * there are up to as many as records; that memory holds records instead. For engines that
	 * decide themselves what may come in: a record that comes back is new, also for
	 * ABD_ARC_SECOND_TIME, and what was used once is evicted before what was used more often
	 */
	ABD_ARC_NO_GHOSTS = 1 << 20,
};

/** Flags of a record: bits 0 to 15. abd_arc_create() refuses them. */
enum abd_arc_put_flag {
	/** the engine's metadata: counted apart, in buffers marked ABD_FLAG_META */
	ABD_ARC_METADATA = 1 << 0,
	/** abd_arc_hold_or_fill(): -EAGAIN where it would wait */
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

/**
 * A record that was evicted. evicted_cb is called once for each such record, when nobody can find
 * or hold it any more. It is not called for records that a call removed or replaced, before or
 * after they were evicted; nor for those found damaged, or that had to leave a full page of the
 * index; nor for what is in the cache when it is destroyed. But a put that makes room may evict its
 * own key's old record, and is then no replacement: evicted_cb may be called for that record during
 * the put.
 *
 * Records that were evicted together are reported together, up to about a thousand. The thread
 * that does it is the one whose call finds that all readers have left them: a put, fill, remove,
 * resize or trim; a release that ends the last hold of one; or abd_arc_destroy(), for what was
 * evicted before. A hit does it only if the record it found was evicted. The thread has no lock and
 * is in no read-side section; its call goes on when evicted_cb returns. Other threads may be in
 * evicted_cb at the same time. If a put or remove of the key comes while evicted_cb runs, the
 * engine must decide which of the two counts as first.
 *
 * evicted_cb must return: no exception, jump, cancellation or end of its thread may leave it.
 * evicted_cb may use any cache. But it must not destroy, resize or trim this one, or remove a pool
 * from it; nor use it at all while it is being destroyed. A record that evicted_cb itself evicts or
 * releases from this cache is reported by a later call. Records that it puts there may take the
 * cache over its capacity until then, by a 16th at most: what would take it further is -ENOSPC. If
 * evicted_cb fills the room that a call makes, the call stops making room when evicted_cb has put
 * some hundred records.
 *
 * Owner: *evicted and its buffer are lent until evicted_cb returns; abd_arc_evicted_take() keeps
 *        the buffer.
 */
typedef struct abd_arc_evicted {
	abd_arc_key_t key;
	/** the record as stored; ABD_FLAG_META in abd_flags: metadata. NULL: it was taken. */
	const abd_t *abd;
	size_t stored_size;  /**< bytes in abd */
	size_t logical_size; /**< bytes of the record */
	unsigned flags; /**< of abd_arc_put_abd(): ABD_ARC_STORED, an lz4 block; or ABD_ARC_PLAIN */
	void *entry;    /**< private */
} abd_arc_evicted_t;

/**
 * How to make a cache. Every field after the first two may be 0, for its default. New fields are
 * added at the end.
 */
struct abd_arc_config {
	size_t config_size; /**< sizeof(struct abd_arc_config), as the caller knows it */
	/** from ABD_ARC_CAPACITY_MIN to PTRDIFF_MAX; with the pool, to pool_size */
	size_t capacity_bytes;
	/**
	 * make the index large enough for so many records; default: it grows as needed. The most is
	 * one for each 512 bytes of the capacity: larger numbers count as that
	 */
	size_t expected_entries;
	/**
	 * hits that a thread gathers before the policy learns of them (64), at most
	 * ABD_ARC_HIT_BATCH_MAX. 1: the exact algorithm, with a lock on each hit, where every hit
	 * is a use. Otherwise hits on a new record within 62 ms count as one use with the put,
	 * unless more than a 32nd of the capacity came in meanwhile.
	 */
	uint32_t hit_batch;
	uint32_t flags; /**< enum abd_arc_flags */
	/**
	 * records from so many bytes up are compressed by abd_lz4_compress_indexed(), if that saves
	 * an eighth: a read of a range then decodes only the groups that the range lies in, and
	 * their hubs, but a put takes longer. 0: no record is
	 */
	uint32_t lz4_index_min;
	/**
	 * the group_size for that: 1, 2, 4, 8, 16 (default), 32 or 64 KiB. Records of one group, or
	 * of more than 64, have no index
	 */
	uint32_t lz4_index_group;
	/** called for each record that was evicted, as abd_arc_evicted_t says; NULL: no call */
	void (*evicted_cb)(abd_arc_evicted_t *evicted, void *arg);
	void *evicted_arg; /**< its second argument */
	/**
	 * parts of the cache that have a lock each, so that threads put at the same time: a power
	 * of two up to ABD_ARC_SHARDS_MAX. 1: the paper's algorithm over all records. Each shard
	 * has an equal part of the capacity, at least ABD_ARC_CAPACITY_MIN, and holds the records
	 * whose keys' hashes choose it: so a record that is too large for that part is -ENOSPC. 0:
	 * twice as many as the process has processors, by its affinity and the quota of its control
	 * groups, but with parts of 256 MiB or more, and 1 if hit_batch is 1
	 */
	size_t shards;
	/**
	 * other records do not evict metadata while it costs less than so many bytes together, or
	 * would after that: at most half of the capacity, and metadata_max_bytes. Other records may
	 * use what metadata does not use, and above this it competes like all others. It is no
	 * promise when memory runs out. If an allocation is refused, memory is trimmed, or many
	 * fills or a very large record take it, and no other record is left to evict, this metadata
	 * is evicted too. So is what must leave a full page of the index. 0: nothing is kept for it
	 */
	size_t metadata_min_bytes;
	/**
	 * before a put of metadata would let metadata cost more than this, other metadata is
	 * evicted, even while there is room. A single record of metadata that costs more is
	 * -ENOSPC. 0: metadata may fill the cache
	 */
	size_t metadata_max_bytes;
	/**
	 * records that came back are compressed as abd_lz4_compress_effort() does with this effort,
	 * 3 to 12: they take less memory, and their puts more time. These are the puts of keys that
	 * the cache has a ghost of, and in a cache with ABD_ARC_SECOND_TIME all that it compresses.
	 * 0: no record is
	 */
	size_t lz4_effort;
};

/**
 * A held record. abd is the cached buffer itself. It lasts until the release, whatever becomes of
 * the record meanwhile; any number of threads may read it, and nobody may write it.
 * A hold whose fields are all zero is empty. A call that fills one leaves it empty unless the call
 * holds a record, and abd_arc_release() leaves it empty; to release it then does nothing.
 */
typedef struct abd_arc_held {
	const abd_t *abd;    /**< lz4 block if compressed, else the record */
	size_t stored_size;  /**< bytes in abd */
	size_t logical_size; /**< bytes of the record */
	bool compressed;
	void *entry; /**< private */
} abd_arc_hold_t;

/**
 * A record that the caller is to fetch. abd lasts until the fill ends, and threads use it as they
 * use any buffer. Its content is not initialised: what is committed must have been written.
 * A fill whose fields are all zero is empty: to abandon it does nothing. To commit it breaks the
 * contract, because the record that was fetched would be lost.
 */
typedef struct abd_arc_fetched {
	abd_t *abd;  /**< where to, of size bytes */
	size_t size; /**< bytes in abd */
	void *entry; /**< private */
} abd_arc_fill_t;

/** A read of a batch. The caller sets the fields up to size. */
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
	uint64_t removes;   /**< records removed by a call, unless they were evicted before */
	uint64_t evictions; /**< records removed by the policy */
	uint64_t ghost_hits_recent;   /**< puts of records evicted after one use */
	uint64_t ghost_hits_frequent; /**< puts of records evicted after several uses */
	uint64_t hits_told;           /**< hits that reached the policy */
	/**
	 * hits the policy never learnt of, because its lock was busy when a batch was full, or when
	 * the thread had no room for more
	 */
	uint64_t hits_dropped;
	/** times that readers were waited for, to free what was evicted or the index had left */
	uint64_t grace_periods;
	uint64_t shrinks; /**< times the cache gave up memory because an allocation failed */
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
	uint64_t ghost_recent_bytes; /**< cost of B1's ghosts when they were records in T1: |B1| */
	uint64_t ghost_frequent_bytes; /**< the same for B2 and T2: |B2| */
	uint64_t ghosts;               /**< ghosts in both lists */
	uint64_t target_bytes;         /**< what the records may cost together: c */
	uint64_t target_recent_bytes;  /**< what |T1| should be: p */
	/** part of used_bytes: evicted or removed buffers that may still be read, or are held */
	uint64_t evicted_bytes;
	uint64_t held_bytes; /**< cost of records that are held, cached or not */
	/** part of used_bytes: hash table, entries, ghosts, lz4 indexes, keys remembered */
	uint64_t index_bytes;
	/* so far */
	uint64_t moves; /**< records moved, so that their memory could serve other sizes */
	/* now */
	/**
	 * memory that the cache keeps from the system: used_bytes and a struct for each shard, some
	 * 19 KiB, which does not count against the capacity; with thread_bytes and the free pages
	 * of chunk_provider and of small memory, which all caches of the process share
	 */
	uint64_t resident_bytes;
	/* so far */
	uint64_t waits;      /**< how often a call waited for readers */
	uint64_t remembered; /**< puts that stored nothing, as ABD_ARC_SECOND_TIME wants */
	uint64_t told;       /**< evicted records that evicted_cb was called for */
	/* now */
	/** cost of metadata, if the config has a minimum or maximum for it */
	uint64_t metadata_bytes;
	/** what threads have for all caches of the process: 11 KiB for each that has used one */
	uint64_t thread_bytes;
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
 * compressed with lz4. It is stored as it is when lz4 saves less than an eighth (abd_lz4_pays()),
 * or when samples of it say that lz4 would (abd_lz4_might_pay()).
 *
 * In a cache with ABD_ARC_SECOND_TIME the first put of a key stores nothing, compresses nothing and
 * returns 0; it is counted as remembered. The next put of the key is stored. These are stored at
 * once: a put of a key that the cache has, or has a ghost of; and a fill whose commit wants a hold,
 * or that other threads wait for. Keys are remembered in a table with a place for each 512 to 1,024
 * bytes of the capacity. A newer key may take an older one's place there, and the older one counts
 * as new again: when as many others are put as there are places, 59 % of the keys are forgotten so.
 * Removed keys stay remembered. A resize that makes another table forgets all. Only the put that
 * would store a record says -ENOSPC. A writer writes the device first, then puts: after a put that
 * stored nothing, a fill must read the new bytes from the device.
 *
 * Units:   size in bytes, from 1 to ABD_ARC_RECORD_MAX.
 * Returns: 0; -ENOSPC a record that can never fit beside metadata_min_bytes; -EINVAL size 0;
 *          -ENOMEM no memory, even after the cache gave up all it has. After an error the cache has
 *          the old record of key, or none; and a fill of key that began before the put may still
 *          commit older bytes, unless abd_arc_remove() follows. For what evicted_cb puts, -ENOSPC
 *          is also said where abd_arc_evicted_t says so.
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
 *          -ENOMEM: the range starts inside a compressed record, and there is no memory for off +
 *          size bytes, neither from the engine's allocator nor from the library. Nothing is evicted
 *          for a read. Nothing outside dst [0, size) is written.
 * Threads: any number of readers; wait-free look-up. A record evicted meanwhile is
 *          not freed until this call returns. To read one that was evicted before takes the
 *          cache's lock.
 * Source:  arc_read(), arc_buf_fill() in module/zfs/arc.c.
 */
ABD_API ssize_t abd_arc_read(
	abd_arc_t *arc, const abd_arc_key_t *key, void *dst, size_t off, size_t size);

/**
 * abd_arc_read() into bytes [dst_off, dst_off + size) of a buffer of any kind. Where these lie in
 * one piece, the record is decoded into them; in several runs, a whole record is decoded into the
 * runs, and a part of one is copied into them from memory of the part's size.
 *
 * Contract: dst_off + size is at most dst's size; dst is not written meanwhile, and not of zeros
 *           (abd_get_zeros()).
 * Units:    as abd_arc_read(); dst_off in bytes of dst.
 * Returns:  as abd_arc_read(). -ENOMEM also where there is no memory for a part as above, or for a
 *           window of at most 128 KiB that the decoder needs to write runs. Nothing outside the
 *           range of dst is written.
 * Threads:  as abd_arc_read().
 * Source:   arc_read() in module/zfs/arc.c, whose callback gets the header's abd.
 */
ABD_API ssize_t abd_arc_read_abd(abd_arc_t *arc, const abd_arc_key_t *key, abd_t *dst,
	size_t dst_off, size_t off, size_t size);

/**
 * abd_arc_read() with flags: ABD_ARC_NO_TOUCH reads without teaching the policy, as a backup wants
 * that passes through all records once.
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
 * Whether the cache has a record of key: whether abd_arc_hold() would find it now. This is no hit,
 * and the policy does not learn of it.
 *
 * Returns: true or false.
 * Threads: any; wait-free look-up. If the record was evicted, it takes the cache's lock.
 * Source:  arc_cached() in module/zfs/arc.c.
 */
ABD_API bool abd_arc_contains(abd_arc_t *arc, const abd_arc_key_t *key);

/**
 * Hold the cached buffer of key itself, without a copy, for any length of time.
 *
 * Units:   the hold's stored_size and logical_size in bytes.
 * Returns: 0 and *hold filled; -ENOENT not cached; -EBADMSG damaged (only with ABD_ARC_CHECKSUM).
 *          After an error *hold is empty. It needs no memory.
 * Owner:   the caller holds the record until any thread calls abd_arc_release(). The record may be
 *          evicted, replaced or removed meanwhile; its memory then comes on top of the capacity
 *          until it is released. Reads and holds still find a record that was evicted while it is
 *          held, except in two cases: the cache moved it to another place after the hold was
 *          taken, or it had to leave a full page of the index.
 * Threads: any; wait-free look-up. The head of this file says when a hit takes a lock.
 * Source:  arc_buf_alloc_impl() in module/zfs/arc.c.
 */
ABD_API int abd_arc_hold(abd_arc_t *arc, const abd_arc_key_t *key, abd_arc_hold_t *hold);

/**
 * End a hold. An empty one is left as it is.
 *
 * Contract: *hold is empty, or a hold of which no copy has been released.
 * Returns:  nothing; *hold is left empty.
 * Owner:    the caller no longer holds the record.
 * Threads:  any, not only the one that took the hold. If the record was evicted, it takes the
 *           cache's lock.
 * Source:   arc_buf_destroy() in module/zfs/arc.c.
 */
ABD_API void abd_arc_release(abd_arc_hold_t *hold);

/**
 * Hold a held record a second time: what two owners need who release it at different times. It is
 * no look-up and no hit, and succeeds also when the cache no longer has the record.
 *
 * Contract: *hold came from a call of this cache, and is not released before the call returns; copy
 *           is another struct.
 * Returns:  0 and *copy filled. It needs no memory.
 * Owner:    each of the two is released alone, in any order.
 * Threads:  any, also one that has not taken the hold. Counts it in the record.
 * Source:   arc_buf_alloc_impl() in module/zfs/arc.c, for a header that has a buffer already.
 */
ABD_API int abd_arc_hold_dup(const abd_arc_hold_t *hold, abd_arc_hold_t *copy);

/**
 * Read bytes [off, off + size) of a held record into dst, decompressing them: abd_arc_read() of
 * what is held, also when the cache no longer has it.
 *
 * Contract: *hold came from a call of this cache, and has not been released.
 * Units:    as abd_arc_read().
 * Returns:  as abd_arc_read(), but never -ENOENT. -EBADMSG: the record is dropped from the cache,
 *           and its hold still has to be released.
 * Owner:    nothing changes hands; the record stays held.
 * Threads:  any, several at a time, until the hold is released. Takes a lock only in a thread's
 *           first call, and if the record is damaged. No hit is counted.
 * Source:   arc_buf_fill() in module/zfs/arc.c.
 */
ABD_API ssize_t abd_arc_hold_read(const abd_arc_hold_t *hold, void *dst, size_t off, size_t size);

/**
 * Forget the record that is held, unless its key has another record by now. For a caller that finds
 * the record wrong or too old, while other threads may be replacing it. Another record of the same
 * bytes may be taken for the one that is held.
 *
 * Contract: *hold is a hold of this cache, and has not been released.
 * Returns:  0; -ENOENT: the cache no longer has the record, and nothing has changed.
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
 * fetched for several keys at once, which is what a cache of many records waits for.
 *
 * Contract: each dst holds its size bytes, and no two of them overlap.
 * Units:    as abd_arc_read(). n may be 0, and keys may occur twice.
 * Returns:  how many of the results are not negative. Each ios[i].result is size, or the error of
 *           its own read; the other reads go on.
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
 * Forget all records of a pool, those that are held included. Fills of the pool that have begun end
 * with -ESTALE. What is put into the pool, or begun to be filled, during the call may stay.
 *
 * Units:   the result in records.
 * Returns: how many there were, with those that were evicted and are held; never an error.
 * Owner:   nothing changes hands; held records stay valid for their holders. The memory of the
 *          others is free when the call returns.
 * Threads: any. Looks at all records of the cache, without its lock. Removes a few at a time with
 *          the lock, and pauses now and then, so that puts beside it go on. Waits for readers.
 * Source:  arc_flush() in module/zfs/arc.c.
 */
ABD_API ssize_t abd_arc_remove_pool(abd_arc_t *arc, uint64_t pool);

/**
 * Visit all records, in no order. A record that is in the cache from begin to end of the call is
 * visited once, also if it is replaced meanwhile. Others that come or go may be visited or not. One
 * that was evicted is not, held or not.
 *
 * visit gets a copy of the key, and the sizes of the record that was there a moment ago; it returns
 * 0 to go on. It may use the cache, but not destroy it.
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
 * the pool, where chunk_provider is pool) and counts against the capacity. From 4 KiB up, its runs
 * are whole pages at page boundaries, as O_DIRECT wants them.
 *
 * flags: ABD_ARC_NOWAIT, ABD_ARC_NO_TOUCH, and ABD_ARC_METADATA for the record that is filled in.
 *
 * Units:   size in bytes: room for what the caller will fetch, from 1 to ABD_ARC_RECORD_MAX. It
 *          matters only if there is no record: one that is there is held, however large size is.
 * Returns: 0: *hold holds the record, and *fill is empty. 1: *fill is the caller's to fill, and
 *          *hold is empty. Otherwise an error, and both are empty: -EDEADLK this thread itself
 *          began the fill of key; -EAGAIN another one did, and flags say NOWAIT; -ENOSPC a buffer
 *          that can never fit, or does not beside those of other fills (it would take the cache
 *          over its capacity by more than a 16th); -EINVAL size 0, also if the record is there, or
 *          an unknown flag; -ENOMEM as abd_arc_put(), and the thread that has waited longest gets
 *          the fill. A record that is found damaged is dropped, and is to be filled.
 * Owner:   the fill is the thread's that got it, until abd_arc_fill_commit() or
 *          abd_arc_fill_abandon(), which any thread may call. If its thread ends before, that
 *          abandons it: its buffer is freed, so transfers into it must have ended.
 * Threads: any. Look-up as abd_arc_hold(). A thread that finds no record takes the cache's lock.
 *          A thread that waits sleeps, for as long as the filler takes.
 * Source:  arc_read() in module/zfs/arc.c, for a header whose read is in progress.
 */
ABD_API int abd_arc_hold_or_fill(abd_arc_t *arc, const abd_arc_key_t *key, size_t size,
	unsigned flags, abd_arc_hold_t *hold, abd_arc_fill_t *fill);

/**
 * End a fill: the first bytes of fill->abd become the record of its key, and all who wait for it
 * wake. flags say what the bytes are: 0: the record, to be compressed as by abd_arc_put();
 * ABD_ARC_PLAIN: the record, kept as it is; ABD_ARC_STORED: an lz4 block. For the latter two,
 * a buffer of 4 KiB and more that is full (stored_size is fill->size) becomes the record's, with no
 * byte copied, unless more than a 16th of it is padding. A damaged block is found when it is read;
 * with ABD_ARC_STORED | ABD_ARC_VERIFY this call decodes it once, and finds that. ABD_ARC_VERIFY
 * without ABD_ARC_STORED is -EINVAL.
 *
 * Contract: *fill came from abd_arc_hold_or_fill() and was not ended yet; stored_size is at most
 *           fill->size.
 * Units:    stored_size in bytes of fill->abd; logical_size in bytes of the record: the same,
 *           except for ABD_ARC_STORED, where it is more.
 * Returns:  0, and *hold holds the record, unless hold is NULL. -ESTALE: the key's record was put
 *           or removed since the fill began, so that what was fetched may be older; nothing is
 *           stored, and all who wait look again. Other errors, after which the thread that has
 *           waited longest gets the fill, or all look again as after -ESTALE: -EINVAL flags or
 *           sizes as above are broken; -EBADMSG what was to be verified is no block of a record of
 *           logical_size; -ENOSPC, -ENOMEM as abd_arc_put().
 *           After an error *hold is empty. 0 also if hold is NULL and the key is only
 *           remembered, as ABD_ARC_SECOND_TIME wants.
 * Owner:    the fill has ended, whatever is returned, and *fill is left empty. hold is the
 *           caller's to release.
 * Threads:  any, not only the one that began the fill. May wait for readers.
 * Source:   arc_read_done() in module/zfs/arc.c.
 */
ABD_API int abd_arc_fill_commit(abd_arc_fill_t *fill, size_t stored_size, size_t logical_size,
	unsigned flags, abd_arc_hold_t *hold);

/**
 * End a fill without a record. Of those who wait, the one that came first wakes and gets to fill;
 * the others go on waiting. If the key's record was put or removed since the fill began, all wake
 * and look again.
 *
 * Contract: *fill is empty, or came from abd_arc_hold_or_fill() and was not ended yet.
 * Returns:  nothing; *fill is left empty.
 * Owner:    the fill has ended; its buffer is freed.
 * Threads:  any, not only the one that began the fill.
 * Source:   arc_read_done() in module/zfs/arc.c, after an error.
 */
ABD_API void abd_arc_fill_abandon(abd_arc_fill_t *fill);

/**
 * Store a buffer as the record of key, and replace the record that key had. The buffer becomes the
 * cache's. flags and logical_size are those of abd_arc_fill_commit(). With ABD_ARC_PLAIN or
 * ABD_ARC_STORED no byte is copied from 64 bytes up, however much of the buffer's memory is
 * padding: so a record in a buffer of abd_alloc_for_io() stays in its pages. Without these flags
 * the record is compressed; if that saves less than an eighth, the buffer is kept as it is, unless
 * more than a 16th of it is padding. The record is metadata if the buffer is (ABD_FLAG_META).
 *
 * Contract: nobody uses or views the buffer or borrows from it, and it is in no gang.
 * Units:    logical_size in bytes of the record: the buffer's size, except for ABD_ARC_STORED,
 *           where it is more.
 * Returns:  0; -EINVAL: flags or sizes are broken, or the cache can't take the buffer: a gang, one
 *           that does not own its memory (a view, zeros, abd_get_from_buf()), or one in a struct of
 *           the caller's (abd_alloc_linear_struct()); -EBADMSG: with ABD_ARC_VERIFY, abd is no
 *           block of a record of logical_size; -ENOSPC, -ENOMEM as abd_arc_put().
 * Owner:    the cache, which frees it at once if the key is only remembered. After an error the
 *           buffer is still the caller's, and unchanged.
 * Threads:  as abd_arc_put().
 * Source:   arc_write_ready() in module/zfs/arc.c, which may share the buffer with the header.
 */
ABD_API int abd_arc_put_abd(
	abd_arc_t *arc, const abd_arc_key_t *key, abd_t *abd, size_t logical_size, unsigned flags);

/**
 * Change the capacity, evicting what no longer fits.
 *
 * Units:   capacity_bytes in bytes of memory.
 * Returns: 0; -EINVAL for less than ABD_ARC_CAPACITY_MIN for each shard, or more than PTRDIFF_MAX;
 *          -ENOSPC: chunk_provider is pool, and capacity_bytes is more than pool_size; or
 *          metadata_min_bytes is more than half of capacity_bytes. The capacity is unchanged after
 *          an error.
 * Threads: any. When the cache becomes smaller, this call evicts in steps, waits for readers, and
 *          the index shrinks. Until it returns, as much may be in use as before.
 * Source:  arc_reduce_target_size() in module/zfs/arc.c.
 */
ABD_API int abd_arc_resize(abd_arc_t *arc, size_t capacity_bytes);

/**
 * Give memory back to the system, as an engine wants when the system is short of it: free what
 * waits to be freed, then evict, at last what metadata_min_bytes keeps. The capacity stays, so the
 * cache grows again as records come. Stops when so many bytes are free, or no record is left, or
 * the time is up; the step that has begun in one shard, with its wait for readers, comes on top.
 *
 * Units:   bytes of used_bytes; max_ns in nanoseconds; 0: nothing is evicted; UINT64_MAX: no limit.
 * Returns: by how many bytes used_bytes fell. Records that are held are evicted in their turn, and
 *          their memory is free only when they are released.
 * Threads: any; others go on meanwhile. Waits for readers.
 * Source:  arc_reduce_target_size() and arc_evict() in module/zfs/arc.c.
 */
ABD_API size_t abd_arc_trim(abd_arc_t *arc, size_t bytes, uint64_t max_ns);

/**
 * Keep the buffer of an evicted record, so that it need not be copied. Its memory no longer counts
 * for the cache. It can be given to another one by abd_arc_put_abd().
 *
 * Contract: called by evicted_cb, for the record that it was called with, which was not taken yet.
 * Returns:  the buffer, of stored_size bytes, and evicted->abd is NULL; or NULL: it has no memory
 *           of its own, but lies in a slab of the cache, if only with its end, or there is no
 *           memory for its struct. Then it can be copied from evicted->abd.
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
 * Threads: any; counters are sums over threads that continue to count; exact while no thread does.
 * Source:  arc_kstat_update() in module/zfs/arc.c.
 */
ABD_API int abd_arc_stats_get(abd_arc_t *arc, struct abd_arc_stats *stats, size_t stats_size);

ABD_END_DECLS

#endif
