/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of scenarios. To add one, add a line here and a file with its struct (CONTRIBUTING.md).
 */
#include "abd_perf_scenario.h"

#include <stddef.h>

extern const struct abd_perf_scenario abd_perf_arc_read, abd_perf_arc_cached_read,
	abd_perf_arc_scale, abd_perf_arc_life, abd_perf_arc_policy, abd_perf_buffer,
	abd_perf_compare, abd_perf_codec, abd_perf_flush, abd_perf_memory, abd_perf_lz4,
	abd_perf_arc_cached_range;

const struct abd_perf_scenario *const abd_perf_scenarios_all[] = {
	&abd_perf_arc_read,
#if ABD_PERF_WITH_ARC
	&abd_perf_arc_cached_read,
	&abd_perf_arc_cached_range,
	&abd_perf_arc_scale,
	&abd_perf_arc_life,
	&abd_perf_arc_policy,
#endif
	&abd_perf_buffer,
	&abd_perf_compare,
	&abd_perf_codec,
	&abd_perf_lz4,
	&abd_perf_flush,
	&abd_perf_memory,
	NULL,
};
