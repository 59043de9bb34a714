/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs, in fio's terms, so that tools for fio's JSON can read ours. A job reads for a given time:
 * one mode, one number of threads, one kind of data. All threads are reported together, as with
 * fio's group_reporting.
 * Source: show_thread_status_json() in fio's stat.c, for the names and units of the fields.
 */
#ifndef ABD_PERF_JOBS_H
#define ABD_PERF_JOBS_H

#include "abd_perf_latency.h"

#include <jansson.h>
#include <stddef.h>

struct abd_perf_job {
	char name[96];
	const char *data, *mode; /* also written as job options of our own */
	unsigned threads;
	size_t read_size, record_size, file_size;
	double runtime_s, ramp_s;                             /* asked for */
	double taken_ns;                                      /* by the wall clock */
	struct abd_perf_latency latency;                      /* of each read */
	double slice_min, slice_max, slice_sum, slice_square; /* bytes per second of the slices */
	unsigned slices;
};

/** Add the speed of one slice. */
void abd_perf_jobs_slice(struct abd_perf_job *job, double bytes_per_s);
/** Put a job at the end of the list. */
void abd_perf_jobs_add(const struct abd_perf_job *job);
/** The list: the value of "jobs". */
json_t *abd_perf_jobs_list(void);

#endif
