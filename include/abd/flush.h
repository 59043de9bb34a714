/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flush-copies, for persistent memory, DAX files and device memory. When the call returns, or with
 * ABD_FLUSH_NODRAIN when abd_flush_drain() returns, the copied bytes have come as far as
 * abd_flush_durability() says.
 *
 * There are two ways: stores that go around the cache, or plain stores and a write-back of each
 * line. Which is faster depends on how many threads write at once, on the size and on the machine.
 * So the caller says who else writes, and the library chooses by size, as a plan says (tuning.h).
 * abd_flush_calibrate() measures new plans.
 *
 * Contract for all copies: ranges lie within their buffers. Source and destination do not overlap,
 * unless they are exactly the same bytes.
 *
 * Nothing outside the destination range is changed. Cache lines that the range shares with other
 * data may be flushed whole; other threads may write the other bytes of those lines at the same
 * time.
 * A call issues one fence, after the last write, whatever the number of pieces; with
 * ABD_FLUSH_NODRAIN it issues none.
 *
 * Source: linux-kernel and dm-devel, "x86: introduce memcpy_flushcache_clflushopt", April 2020.
 */
#ifndef ABD_FLUSH_H
#define ABD_FLUSH_H

#include <abd/buffer.h>

ABD_BEGIN_DECLS

/**
 * What the caller knows: one of the first three flags, with or without ABD_FLUSH_NODRAIN. Other
 * bits break the contract.
 */
enum {
	ABD_FLUSH_AUTO = 0,      /**< the caller knows nothing: choose by size */
	ABD_FLUSH_SHARED = 1,    /**< other threads write to the same device at the same time */
	ABD_FLUSH_EXCLUSIVE = 2, /**< this thread is its only writer */
	/**
	 * The copy is durable only after this thread's next abd_flush_drain(). Copies that go
	 * around the cache are written a whole line at a time, if each begins where the last one
	 * ended, at a multiple of 8 bytes, and has such a size, as in a log of small entries.
	 */
	ABD_FLUSH_NODRAIN = 1 << 8,
};

/**
 * How far a flush-copy moves data. Only persistent memory keeps the data that reached it.
 */
enum abd_flush_durability {
	/**
	 * Writes are ordered among threads, nothing more: user programs can't write back lines on
	 * this CPU, or "portable" is set.
	 */
	ABD_FLUSH_DURABILITY_NONE = 0,
	/**
	 * To the point where every reader of memory sees the data, devices too (aarch64 dc cvac).
	 * A power failure may still lose it.
	 */
	ABD_FLUSH_DURABILITY_COHERENCY = 1,
	/**
	 * To the point where the platform keeps the data through a power failure, if the memory is
	 * persistent (x86; aarch64 dc cvap).
	 */
	ABD_FLUSH_DURABILITY_PERSISTENCE = 2,
};

/**
 * Copy size bytes of src from src_off into dst at dst_off, durably.
 *
 * Contract: dst is not made of zeros; flags as above.
 * Units:    bytes. Size 0 copies nothing, and still fences unless ABD_FLUSH_NODRAIN.
 * Returns:  nothing; can't fail. Without ABD_FLUSH_NODRAIN the call returns when all bytes have
 *           come as far as abd_flush_durability() says, those of this thread's earlier calls with
 *           the flag included. With the flag it does not wait. After a crash within the call, each
 *           8 aligned bytes of the range are either old or new.
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
 * Wait, by one fence, until everything that this thread copied with ABD_FLUSH_NODRAIN is durable.
 * Each thread must drain its own copies.
 *
 * Returns: nothing; can't fail.
 * Threads: any.
 * Source:  pmem_drain() of PMDK.
 */
ABD_API void abd_flush_drain(void);

/**
 * How far flush-copies move data on this machine, with the tunable "flush" as it is set now.
 *
 * Returns: one of enum abd_flush_durability.
 * Threads: any.
 * Source:  pmem2_get_store_granularity() of PMDK asks this of a mapping.
 */
ABD_API enum abd_flush_durability abd_flush_durability(void);

/**
 * Measure on this machine which way is fastest for each size. From now on this process chooses by
 * the result.
 *
 * EXCLUSIVE takes the fastest way. AUTO and SHARED take the fastest among the ways around the
 * cache, which many writers do not slow down. The tunables flush_auto, flush_shared and
 * flush_exclusive hold the result; later processes can be given their values.
 *
 * Units:   takes less than 100 ms of CPU time, and about 2 MiB of ordinary memory during the call.
 *          Persistent memory may behave differently: measure there, and set the tunables.
 * Returns: 0; -ENOMEM, and nothing is changed.
 * Threads: any; copies under way in other threads finish as they began.
 * Source:  linux-kernel, "x86: introduce memcpy_flushcache_clflushopt", April 2020: say where a
 *          threshold comes from.
 */
ABD_API int abd_flush_calibrate(void);

ABD_END_DECLS

#endif
