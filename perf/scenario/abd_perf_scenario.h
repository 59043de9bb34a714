/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scenario: a question, measured. It is one record, in a file of its own, named once in
 * abd_perf_scenarios.c. What it times are the paths of its races (abd_perf_race.h); what it claims
 * are the ratios of these (abd_perf_claim, in abd_perf_result.h). What people see of it afterwards
 * is data too: after/columns.py has its tables.
 */
#ifndef ABD_PERF_SCENARIO_H
#define ABD_PERF_SCENARIO_H

#include "abd_perf_options.h"

struct abd_perf_scenario {
	const char *name;
	const char *summary;
	unsigned uses; /* the flags that it can use: ABD_PERF_USES_... */
	/* How long it takes, from a server with 2 cores and 480 MiB of last-level cache, where cold
	 * sets are large. It is only told to people. */
	double normal_s, full_s;
	/* Measure, and add results. 0, or an exit status: then what was measured is wrong, not
	 * slow. */
	int (*run)(const struct abd_perf_options *options);
};

/** All of them, in the order in which they run; NULL behind the last. */
extern const struct abd_perf_scenario *const abd_perf_scenarios[];

/** The one of this name; NULL: there is none. */
const struct abd_perf_scenario *abd_perf_scenario_find(const char *name);

#endif
