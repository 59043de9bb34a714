/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters, summed over all threads when asked for. Fields that say "so far" only grow; the others
 * say what exists now.
 * OpenZFS: abdstats in module/os/linux/zfs/abd_os.c; the names are the same without their prefix.
 */
#ifndef ABD_STATS_H
#define ABD_STATS_H

#include <abd/export.h>

ABD_BEGIN_DECLS

#define ABD_STATS_ORDERS 16

/** One record, no padding: 8-byte fields only. New fields are added at the end. */
struct abd_stats {
	uint64_t struct_size; /**< bytes of all library-owned structs, run tables and gang tables */
	uint64_t linear_cnt;  /**< linear buffers that own their data, single-run ones excluded */
	uint64_t linear_data_size; /**< their bytes */
	uint64_t scatter_cnt; /**< scatter buffers that own their data, single-run ones included */
	uint64_t scatter_data_size;   /**< their bytes */
	uint64_t scatter_chunk_waste; /**< unused bytes behind the data, in their last chunks */
	uint64_t scatter_order[ABD_STATS_ORDERS]; /**< their runs, by order */
	uint64_t scatter_multi_chunk;             /**< scatter buffers with more than one run */
	/** so far: refusals by the provider, after which a buffer took runs of a lower order */
	uint64_t scatter_alloc_retry;
	uint64_t borrow_cnt;        /**< borrows so far */
	uint64_t borrow_copy_cnt;   /**< borrows so far that needed a copy */
	uint64_t borrow_copy_bytes; /**< bytes copied into and out of such copies so far */
	uint64_t resident_regions;  /**< bytes of memory that the provider "regions" has from the
				       system now */
	uint64_t resident_jemalloc; /**< the same for "jemalloc" (runs only) */
	uint64_t resident_malloc;   /**< the same for "malloc"; 0 in checked builds */
	uint64_t resident_pool;     /**< the same for "pool" */
	uint64_t resident_small;    /**< the same for structs, tables and linear buffers of up to
				       4 MiB; 0 in checked builds */
	/** so far: calls that tried to give memory back to the system and were refused, because the
	    process has as many mappings as it may have, or its memory is locked on Linux before
	    5.18. The library tries again later, and at each reap */
	uint64_t refused_cnt;
};

/**
 * Fill *stats. stats_size is the size of the record that the caller was compiled with: a shorter
 * record is filled as far as it goes, and a longer one gets zeroes in the unknown tail.
 *
 * If the record reaches as far as resident_regions, the call asks the system what is resident,
 * which takes about 1 us for each MiB. A page that was only read, never written, counts too,
 * although the system lends the same page of zeroes for all of these.
 *
 * Units:   stats_size in bytes.
 * Returns: 0; -EINVAL when stats_size is no multiple of 8 or is 0.
 * Owner:   *stats is the caller's.
 * Threads: any. Counters are sums over threads, exact while no thread is in another call.
 * Source:  abd_kstats_update() in module/os/linux/zfs/abd_os.c; linux-kernel, "statx: optimize copy
 *          of struct statx to userspace", March 2017.
 */
ABD_API int abd_stats_get(struct abd_stats *stats, size_t stats_size);

ABD_END_DECLS

#endif
