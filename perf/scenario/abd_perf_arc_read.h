/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading sets of compressed records in several ways, which take turns: the scenarios arc-read and
 * codec are two studies of it.
 */
#ifndef ABD_PERF_ARC_READ_H
#define ABD_PERF_ARC_READ_H

#include "abd_perf_arc_set.h"
#include "abd_perf_scenario.h"

struct abd_perf_arc_study {
	const char *scenario;
	const struct abd_perf_arc_way *ways;
	const struct abd_perf_claim *claims; /* numbers are those of ways */
	unsigned way_count, claim_count;
	/*
	 * Also of records whose payload is one page, and with a thread for each CPU; cold sets are
	 * left out by --quick alone, else taken with --full alone.
	 */
	bool pages;
};

/** Measure records of these sizes, cut from data. Returns an exit status. */
int abd_perf_arc_study_run(const struct abd_perf_arc_study *study, const struct abd_perf_data *data,
	const size_t *size, size_t count, const struct abd_perf_options *options);

#endif
