/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filling it in the order of keys: records and entries then lie in that order too, which visits in
 * random order don't see.
 */
#include "abd_perf_arc_scale_set.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ABD_PERF_SCALE_HUGE ((size_t)2 << 20)

void abd_perf_scale_set_make(struct abd_perf_scale_set *set, size_t records, size_t size,
	const struct abd_perf_options *options)
{
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = ((size_t)1 << 20) + records * (400 + size)};
	char *record = calloc(1, size);

	*set = (struct abd_perf_scale_set){.records = records, .random = options->seed};
	set->arc = abd_arc_create(&config);
	if (set->arc == NULL || record == NULL)
		abd_perf_say_die(1, "no memory for a cache of %zu records", records);
	for (size_t i = 0; i < records; i++) {
		abd_arc_key_t key = abd_perf_scale_key(i);

		if (abd_arc_put(set->arc, &key, record, size) != 0)
			abd_perf_say_die(1, "no memory for %zu records", records);
	}
	free(record);
}

void abd_perf_scale_lines_make(struct abd_perf_scale_set *set)
{
	size_t bytes = set->records * 64;

	set->line = aligned_alloc(ABD_PERF_SCALE_HUGE,
		(bytes + ABD_PERF_SCALE_HUGE - 1) / ABD_PERF_SCALE_HUGE * ABD_PERF_SCALE_HUGE);
	if (set->line == NULL)
		abd_perf_say_die(1, "no memory for %zu cache lines", set->records);
	madvise(set->line, bytes, MADV_HUGEPAGE);
	memset(set->line, 0, bytes);
}

void abd_perf_scale_set_free(struct abd_perf_scale_set *set)
{
	free(set->line);
	abd_arc_destroy(set->arc);
}
