/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flush-copy: copy, and have the copy out of the CPU's caches when the call returns, for persistent
 * memory, DAX files and device memory.
 *
 * Two ways lead there: stores that go around the cache, or plain stores and a write-back of each
 * line. Which is faster depends on how many threads write at once, on the size and on the machine.
 * So the caller says what it knows, who else writes, and the library chooses by size from a table
 * that it can measure anew (abd_flush_calibrate()).
 *
 * For all copies: ranges lie within their buffers, else the contract is broken; both sides are
 * apart, or the same bytes. Nothing outside the destination range is changed, also in cache lines
 * that it shares with other data; but those lines are flushed whole, and other threads may write
 * their other bytes at the same time.
 * Whatever the number of pieces: one fence per call, after the last write.
 *
 * Source: linux-kernel and dm-devel, "x86: introduce memcpy_flushcache_clflushopt", April 2020.
 */
#ifndef ABD_FLUSH_H
#define ABD_FLUSH_H

#include <abd/buffer.h>

ABD_BEGIN_DECLS

/**
 * What the caller knows: one of the first three, with ABD_FLUSH_NODRAIN or without. Other bits
 * break the contract.
 */
enum {
	ABD_FLUSH_AUTO = 0,      /**< nothing: the way that is best for the size */
	ABD_FLUSH_SHARED = 1,    /**< other threads write to the same device at the same time */
	ABD_FLUSH_EXCLUSIVE = 2, /**< this thread is its only writer */
	/** not durable yet on return, but at this thread's next abd_flush_drain() */
	ABD_FLUSH_NODRAIN = 1 << 8,
};

/**
 * How far the flush in use gets data. The memory behind it must do the rest: only persistent memory
 * keeps what reached it.
 */
enum abd_flush_durability {
	/**
	 * Ordered among threads, nothing more: this CPU gives user programs no way to write lines
	 * back, or "portable" is set.
	 */
	ABD_FLUSH_DURABILITY_NONE = 0,
	/**
	 * To where all who read memory see it, devices too (aarch64 dc cvac); a power failure may
	 * still take it.
	 */
	ABD_FLUSH_DURABILITY_COHERENCY = 1,
	/**
	 * To what the platform keeps through a power failure, if the memory is persistent (x86;
	 * aarch64 dc cvap).
	 */
	ABD_FLUSH_DURABILITY_PERSISTENCE = 2,
};

/**
 * Copy size bytes of src from src_off into dst at dst_off, durably.
 *
 * Contract: dst is not made of zeros; flags as above.
 * Units:    bytes. Size 0 copies nothing, and still fences unless ABD_FLUSH_NODRAIN.
 * Returns:  when all bytes are as far as abd_flush_durability() says, also those of this thread's
 *           earlier calls with ABD_FLUSH_NODRAIN; with that flag at once. Can't fail.
 *           After a crash within the call any part of the range may be old or new, at a grain of 8
 *           aligned bytes.
 * Threads:  as for reading src and writing dst.
 * Source:   memcpy_flushcache() in arch/x86/lib/usercopy_64.c of Linux, for memory in one piece.
 */
ABD_API void abd_flush_copy_off(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t size, unsigned flags);

/**
 * abd_flush_copy_off() into plain memory: size bytes of src from src_off into dst [0, size).
 *
 * Units:   src_off and size in bytes.
 * Returns: as abd_flush_copy_off().
 * Threads: src is read, dst written.
 * Source:  as abd_flush_copy_off().
 */
ABD_API void abd_flush_copy_to_buf_off(
	void *dst, const abd_t *src, size_t src_off, size_t size, unsigned flags);

/**
 * abd_flush_copy_off() from plain memory: src [0, size) into dst at dst_off.
 *
 * Units:   dst_off and size in bytes.
 * Returns: as abd_flush_copy_off().
 * Threads: dst is written.
 * Source:  as abd_flush_copy_off().
 */
ABD_API void abd_flush_copy_from_buf_off(
	abd_t *dst, const void *src, size_t dst_off, size_t size, unsigned flags);

/**
 * Wait, by one fence, until all that this thread copied with ABD_FLUSH_NODRAIN is durable. Other
 * threads drain what they copied.
 *
 * Returns: nothing; can't fail.
 * Threads: any.
 * Source:  pmem_drain() of PMDK.
 */
ABD_API void abd_flush_drain(void);

/**
 * How far flush-copies get data on this machine, with the tunable "flush" as it is.
 *
 * Returns: one of enum abd_flush_durability.
 * Threads: any.
 * Source:  pmem2_get_store_granularity() of PMDK asks this of a mapping.
 */
ABD_API enum abd_flush_durability abd_flush_durability(void);

/**
 * Measure on this machine which way is fastest for which size, and choose by that in this process
 * from now on.
 *
 * EXCLUSIVE takes the fastest. AUTO and SHARED take the fastest among the ways around the cache,
 * which many writers do not slow down. The result can be read, and given to later processes, as the
 * tunables flush_auto, flush_shared, flush_exclusive.
 *
 * Units:   takes less than 100 ms of CPU time, and about 2 MiB of ordinary memory for that long.
 *          Persistent memory may behave differently: measure there, and set the tunables.
 * Returns: 0; -ENOMEM, and nothing is changed.
 * Threads: any; copies under way in other threads finish as they began.
 * Source:  linux-kernel, "x86: introduce memcpy_flushcache_clflushopt", April 2020: say where a
 *          threshold comes from.
 */
ABD_API int abd_flush_calibrate(void);

ABD_END_DECLS

#endif
