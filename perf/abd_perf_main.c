/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd-perf: the library's own scenarios, and the commands that only it has. A scenario is a line
 * here and a file with its struct (CONTRIBUTING.md).
 */
#include "abd_perf_after.h"
#include "abd_perf_command.h"

#include <stddef.h>

extern const struct abd_perf_scenario abd_perf_arc_read, abd_perf_arc_cached_read,
	abd_perf_arc_scale, abd_perf_arc_life, abd_perf_buffer, abd_perf_compare, abd_perf_codec,
	abd_perf_flush, abd_perf_memory, abd_perf_lz4, abd_perf_sums, abd_perf_statx,
	abd_perf_dedupe, abd_perf_names;

static const struct abd_perf_scenario *const abd_perf_main_scenarios[] = {
#if ABD_PERF_WITH_ARC
	&abd_perf_arc_life, /* first: what is resident is the cache's alone */
#endif
	&abd_perf_arc_read,
#if ABD_PERF_WITH_ARC
	&abd_perf_arc_cached_read,
	&abd_perf_arc_scale,
#endif
	&abd_perf_buffer,
	&abd_perf_compare,
	&abd_perf_dedupe,
	&abd_perf_names,
	&abd_perf_codec,
	&abd_perf_lz4,
	&abd_perf_sums,
	&abd_perf_flush,
	&abd_perf_statx,
	&abd_perf_memory,
	NULL,
};

/* The Python program reads its flags. */
static int abd_perf_count(int argc, char **argv)
{
	(void)argc;
	abd_perf_after_become(argv);
}

int main(int argc, char **argv)
{
	static const struct abd_perf_command more[] = {
		{"tune", "abd-perf tune", abd_perf_tune, "tune",
			"find the best kernels for this machine"},
		{"count", "count", abd_perf_count, "count [FILE]",
			"count instructions, which no other load changes"},
		/* for the scenario memory */
		{"memory-child", "memory-child", abd_perf_memory_child, NULL, NULL},
		{NULL, NULL, NULL, NULL, NULL},
	};

	return abd_perf_command(argc, argv, abd_perf_main_scenarios, more);
}
