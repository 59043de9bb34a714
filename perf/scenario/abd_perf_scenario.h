/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scenario measures the answer to one question. It is one struct in a file of its own, listed in
 * abd_perf_main.c. It times the paths of its races (abd_perf_race.h), and claims ratios of
 * these (abd_perf_claim in abd_perf_result.h). after/columns.py describes its tables. This header
 * includes all that scenarios have in common.
 */
#ifndef ABD_PERF_SCENARIO_H
#define ABD_PERF_SCENARIO_H

#include "abd_perf_clock.h"
#include "abd_perf_env.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

struct abd_perf_scenario {
	const char *name;
	const char *summary;
	unsigned uses; /* the flags that it can use: ABD_PERF_USES_... */
	/*
	 * Seconds it takes, without and with --full: the mean of two machines of 2 cores, one
	 * with 32 MiB of last-level cache (AMD Zen 4) and one with 300 (Intel Emerald Rapids),
	 * where cold sets are larger, or left out. Only used to show how long measuring takes.
	 */
	double normal_s, full_s;
	/* Of these, what each phase takes that --runtime sets; 0: it races samples. */
	double normal_phase_s, full_phase_s;
	/*
	 * What stands at the top of the page: its steps as a regular expression, NULL: none; the
	 * processes that measure them; the seconds they take each.
	 */
	struct {
		const char *steps;
		unsigned processes;
		double seconds;
	} headline;
	/*
	 * `run sources`: the steps that measure what one of the library's five sources claimed, and
	 * the seconds they take; NULL: none.
	 */
	struct {
		const char *steps;
		double seconds;
	} claim;
	/*
	 * Measure, and add results. Returns 0; 1 when a result was wrong; ABD_PERF_LEFT_OUT, after
	 * a warning that says why, when there is nothing to measure it with.
	 */
	int (*run)(const struct abd_perf_options *options);
};

enum { ABD_PERF_LEFT_OUT = 2 };

/** This program's scenarios, in the order in which they are measured; NULL after the last. */
extern const struct abd_perf_scenario *const *abd_perf_scenarios;

/** The command that the scenario memory starts. argv: name, source, pattern, bytes. */
int abd_perf_memory_child(int argc, char **argv);

/** The scenario of this name; NULL: there is none. */
const struct abd_perf_scenario *abd_perf_scenario_find(const char *name);

#endif
