/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of many small records, whose keys are found from their numbers; and single cache lines,
 * one to a record.
 */
#ifndef ABD_PERF_ARC_SCALE_SET_H
#define ABD_PERF_ARC_SCALE_SET_H

#include "abd_perf_clock.h"
#include "abd_perf_options.h"

#include <abd/abd.h>

struct abd_perf_scale_set {
	abd_arc_t *arc;
	size_t records;
	uint64_t random;
	uint64_t *line; /* 8 words to a record, all 0, on huge pages; or NULL */
	size_t errors;
};

static inline abd_arc_key_t abd_perf_scale_key(uint64_t record)
{
	return (abd_arc_key_t){1, {record * 8, 0}, 1 + record % 7};
}

/* The next record's number. value is always 0 (or 8, a size), but the CPU has to wait for it. */
static inline size_t abd_perf_scale_next(struct abd_perf_scale_set *set, uint64_t value)
{
	/* The product's upper half: as good as a division, and not as slow. */
	uint64_t random = abd_perf_random(&set->random) + (value & 1);

	return (size_t)((unsigned __int128)random * set->records >> 64);
}

/** A cache that holds records of size bytes, all of them. Ends the program when memory does. */
void abd_perf_scale_set_make(struct abd_perf_scale_set *set, size_t records, size_t size,
	const struct abd_perf_options *options);
void abd_perf_scale_set_free(struct abd_perf_scale_set *set);
void abd_perf_scale_lines_make(struct abd_perf_scale_set *set);

#endif
