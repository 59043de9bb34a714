/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One record, filled on the stack and copied once to the caller, who says how large it is there:
 * what statx() taught.
 * OpenZFS: abd_kstats_update() in module/os/linux/zfs/abd_os.c.
 */
#include "abd_contract.h"
#include "abd_counter.h"

#include <abd/stats.h>

#include <assert.h>

static_assert(sizeof(struct abd_stats) == (11 + ABD_STATS_ORDERS) * sizeof(uint64_t), "no padding");

int abd_stats_get(struct abd_stats *stats, size_t stats_size)
{
	uint64_t sum[ABD_COUNTER_COUNT];

	ABD_REQUIRE(stats != NULL, "record is NULL");
	if (stats_size == 0 || stats_size % sizeof(uint64_t) != 0)
		return -EINVAL;
	abd_thread_counters_sum(sum);
	abd_record_copy(stats, stats_size, sum, sizeof(sum));
	return 0;
}
