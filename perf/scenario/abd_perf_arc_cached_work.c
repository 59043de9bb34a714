/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a record of arc-cached-read takes (group "work") is counted, not timed: instructions, step
 * by step; the bytes that a borrow copies, by the library's statistics; and all bytes that are read
 * and written: those copied count twice, and to them come the block that is decoded and the record.
 */
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_scenario.h"
#include "abd_perf_steps.h"

#include <stdlib.h>

/* Records from the middle of the set on. A step takes some 4 us: four records took 10 s. */
#define ABD_PERF_CACHED_COUNTED 1

static void abd_perf_cached_counted(void *arg)
{
	const struct abd_perf_cached_walk *walk = arg;

	for (size_t i = 0; i < ABD_PERF_CACHED_COUNTED; i++)
		abd_perf_cached_record(
			walk->set, walk->mode, (walk->at + i) % walk->set->records, walk->dst);
}

void abd_perf_cached_count(const struct abd_perf_cached_set *set)
{
	struct abd_perf_cached_walk walk = {set, 0, malloc(set->record_size), set->records / 2, 0};

	abd_perf_say_step("%s, counted", set->data->name);
	if (walk.dst == NULL)
		abd_perf_say_die(1, "no memory to decode into");
	for (; walk.mode < CACHED_MODES && abd_perf_say_wanted(); walk.mode++) {
		double each = ABD_PERF_CACHED_COUNTED, copied, block = 0;
		long steps;
		struct abd_stats before, after;
		json_t *result;

		abd_stats_get(&before, offsetof(struct abd_stats, resident_regions));
		abd_perf_cached_counted(&walk);
		abd_stats_get(&after, offsetof(struct abd_stats, resident_regions));
		/* What the first reads set up stands by now. */
		steps = abd_perf_steps(abd_perf_cached_counted, &walk);
		copied = (double)(after.borrow_copy_bytes - before.borrow_copy_bytes) / each;
		for (size_t i = 0; i < ABD_PERF_CACHED_COUNTED; i++)
			block +=
				(double)abd_get_size(set->block[(walk.at + i) % set->records].abd) /
				each;
		result = abd_perf_result_add("arc-cached-read", "work", "%s, %s, of a record",
			set->data->name, abd_perf_cached_name[walk.mode]);
		abd_perf_result_text(result, "data", set->data->name);
		abd_perf_result_text(result, "mode", abd_perf_cached_name[walk.mode]);
		if (steps > 0)
			abd_perf_result_value(
				result, "instructions", "instructions", (double)steps / each);
		abd_perf_result_value(result, "copied", "bytes", copied);
		abd_perf_result_value(
			result, "moved", "bytes", 2 * copied + block + (double)set->record_size);
	}
	free(walk.dst);
}
