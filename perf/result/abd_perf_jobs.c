/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speeds are by the wall clock, as in fio.
 */
#include "abd_perf_jobs.h"
#include "abd_perf_race.h"

#include <stdlib.h>

/* fio's default percentiles, as fio writes them. */
static const char *const abd_perf_jobs_percentile[] = {"1.000000", "5.000000", "10.000000",
	"20.000000", "30.000000", "40.000000", "50.000000", "60.000000", "70.000000", "80.000000",
	"90.000000", "95.000000", "99.000000", "99.500000", "99.900000", "99.950000", "99.990000"};

json_t *abd_perf_jobs_list(void)
{
	static json_t *list;

	if (list == NULL)
		list = json_array();
	return list;
}

void abd_perf_jobs_add(const struct abd_perf_job *job, const struct abd_perf_latency *latency,
	const double *ns, unsigned slices)
{
	json_t *percentile = json_object(), *speeds = json_array();

	for (size_t i = 0;
		i < sizeof(abd_perf_jobs_percentile) / sizeof(abd_perf_jobs_percentile[0]); i++) {
		const char *name = abd_perf_jobs_percentile[i];

		json_object_set_new(percentile, name,
			json_integer((json_int_t)abd_perf_latency_percentile(latency, atof(name))));
	}
	for (unsigned i = 0; i < slices; i++)
		json_array_append_new(speeds, json_real((double)job->read_size * 1e9 / ns[i]));
	json_array_append_new(abd_perf_jobs_list(),
		json_pack(
			"{s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:f, s:f, "
			"s:o, s:o}",
			"name", job->name, "data", job->data, "mode", job->mode, "threads",
			(int)job->threads, "read_size", (json_int_t)job->read_size, "record_size",
			(json_int_t)job->record_size, "file_size", (json_int_t)job->file_size,
			"runtime_s", job->runtime_s, "ramp_s", job->ramp_s, "taken_s",
			job->taken_ns / 1e9, "reads", (json_int_t)latency->count, "min",
			(json_int_t)latency->min_ns, "max", (json_int_t)latency->max_ns, "mean",
			abd_perf_latency_mean(latency), "stddev",
			abd_perf_latency_deviation(latency), "percentile", percentile, "slices",
			speeds));
}
