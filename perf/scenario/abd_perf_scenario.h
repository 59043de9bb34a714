/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scenario: a question, measured. Each is one file that exports one record, named once in
 * abd_perf_scenarios.c.
 */
#ifndef ABD_PERF_SCENARIO_H
#define ABD_PERF_SCENARIO_H

#include "abd_perf_options.h"

struct abd_perf_scenario {
	const char *name;
	const char *summary;
	unsigned uses; /* ABD_PERF_USES_... */
	/*
	 * Measure, and add results. 0, or an exit status: then what was measured is wrong, not
	 * slow.
	 */
	int (*run)(const struct abd_perf_options *options);
	/* Print this scenario's results as tables. */
	void (*print)(void);
};

/*
 * How long it takes: measured on one machine, to tell people before they start and to tell how much
 * is left.
 */
struct abd_perf_planned {
	const struct abd_perf_scenario *scenario;
	double normal_s, full_s;
};

/** All of them, in the order they run; scenario is NULL behind the last. */
extern const struct abd_perf_planned abd_perf_plan[];

/* in builds with the cache */
extern const struct abd_perf_scenario abd_perf_arc_cached_read, abd_perf_arc_scale;
extern const struct abd_perf_scenario abd_perf_arc_read, abd_perf_buffer, abd_perf_compare;
extern const struct abd_perf_scenario abd_perf_codec;
extern const struct abd_perf_scenario abd_perf_flush, abd_perf_flush_calibrate;
extern const struct abd_perf_scenario abd_perf_dedupe, abd_perf_names, abd_perf_pool;
extern const struct abd_perf_scenario abd_perf_stats_copy;

#endif
