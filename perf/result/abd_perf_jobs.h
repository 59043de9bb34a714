/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Jobs: a job reads for a given time, in one mode, with one number of threads, from one kind of
 * data. after/finish.py writes them in fio's terms.
 */
#ifndef ABD_PERF_JOBS_H
#define ABD_PERF_JOBS_H

#include "abd_perf_latency.h"

#include <jansson.h>
#include <stddef.h>

struct abd_perf_job {
	char name[96];
	const char *data, *mode;
	unsigned threads;
	size_t read_size, record_size, file_size;
	double runtime_s, ramp_s; /* asked for */
	double taken_ns;          /* by the wall clock */
};

/**
 * Put a job at the end of the list: how long each read took, and the ns that a read took of the
 * whole crew in each slice.
 */
void abd_perf_jobs_add(const struct abd_perf_job *job, const struct abd_perf_latency *latency,
	const double *ns, unsigned slices);
/** The list: the value of "jobs". */
json_t *abd_perf_jobs_list(void);

#endif
