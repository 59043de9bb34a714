/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The record is filled on the stack and copied once to the caller, who gives its size there; after
 * Linux's statx().
 * OpenZFS: abd_kstats_update() in module/os/linux/zfs/abd_os.c.
 */
#include "abd_chunk.h"
#include "abd_contract.h"
#include "abd_region.h"
#include "abd_thread.h"

#include <abd/stats.h>

#include <assert.h>

static_assert(sizeof(struct abd_stats) == (17 + ABD_STATS_ORDERS) * sizeof(uint64_t), "no padding");

int abd_stats_get(struct abd_stats *stats, size_t stats_size)
{
	union {
		struct abd_stats record;
		uint64_t counter[ABD_COUNTER_COUNT];
	} all = {{0}};

	ABD_REQUIRE(stats != NULL, "stats is NULL");
	if (stats_size == 0 || stats_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	abd_thread_counters_sum(all.counter);
	if (stats_size > offsetof(struct abd_stats, resident_regions)) {
		all.record.resident_regions = abd_chunk_resident(&abd_chunk_regions);
		all.record.resident_jemalloc = abd_chunk_resident(&abd_chunk_jemalloc);
		all.record.resident_malloc = abd_chunk_resident(&abd_chunk_malloc);
		all.record.resident_pool = abd_chunk_resident(&abd_chunk_pool);
		all.record.resident_small = abd_chunk_resident_small();
		all.record.refused_cnt = abd_region_refusals();
	}
	abd_record_copy(stats, stats_size, &all, sizeof(all));
	return 0;
}
