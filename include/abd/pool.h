/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pool: runs from one region of a fixed size (chunk_provider=pool; pool_size in tuning.h).
 * An engine can register the region once, with io_uring (uring.h) or with a device. How fragmented
 * it is can be asked. Where the process locks what it maps (mlockall(MCL_FUTURE)), all of the
 * region is resident from the start; with MCL_ONFAULT it is not, and what is free goes back as
 * elsewhere.
 */
#ifndef ABD_POOL_H
#define ABD_POOL_H

#include <abd/stats.h>

ABD_BEGIN_DECLS

/**
 * Tell where the pool's region lies, and reserve it if that has not happened yet. The region stays
 * for the life of the process. From this call on abd_cache_reap_now() gives back none of its
 * memory, whether or not the caller registers the region: registered pages must not be replaced.
 *
 * Units:   *size in bytes.
 * Returns: 0, or -ENOMEM when the system refuses pool_size bytes of address space.
 * Owner:   the library.
 * Threads: any.
 */
ABD_API int abd_pool_region(void **base, size_t *size);

/** What is free in the pool. Memory in reserve (reserve_bytes in tuning.h) does not count as free
 * until abd_cache_reap_now() gives it back. 8-byte fields only. */
struct abd_pool_stats {
	uint64_t region_size;                 /**< bytes; 0 before the region is reserved */
	uint64_t free_size;                   /**< bytes in free runs */
	uint64_t largest_free_run;            /**< bytes of the largest free run */
	uint64_t free_runs[ABD_STATS_ORDERS]; /**< free runs of each order */
};

/**
 * Fill *stats.
 *
 * Units:   stats_size in bytes, as for abd_stats_get().
 * Returns: 0; -EINVAL when stats_size is no multiple of 8 or is 0.
 * Owner:   *stats is the caller's.
 * Threads: any.
 * Source:  /proc/buddyinfo of Linux says the same of a kernel's memory.
 */
ABD_API int abd_pool_stats_get(struct abd_pool_stats *stats, size_t stats_size);

ABD_END_DECLS

#endif
