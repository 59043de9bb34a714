/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fio's fields: io_bytes, bw_bytes and bw (KiB) per second, iops, runtime in ms, latencies in ns.
 * bw and iops are by the wall clock, as in fio.
 */
#include "abd_perf_jobs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* fio's default percentiles, as fio writes them. */
static const char *const abd_perf_jobs_percentile[] = {"1.000000", "5.000000", "10.000000",
	"20.000000", "30.000000", "40.000000", "50.000000", "60.000000", "70.000000", "80.000000",
	"90.000000", "95.000000", "99.000000", "99.500000", "99.900000", "99.950000", "99.990000"};

void abd_perf_jobs_slice(struct abd_perf_job *job, double bytes_per_s)
{
	if (job->slices == 0 || bytes_per_s < job->slice_min)
		job->slice_min = bytes_per_s;
	if (bytes_per_s > job->slice_max)
		job->slice_max = bytes_per_s;
	job->slice_sum += bytes_per_s;
	job->slice_square += bytes_per_s * bytes_per_s;
	job->slices++;
}

/* fio's latency object; all zero when latency is NULL. */
static json_t *abd_perf_jobs_latency(const struct abd_perf_latency *latency, bool percentiles)
{
	static const struct abd_perf_latency none;
	const struct abd_perf_latency *of = latency != NULL ? latency : &none;
	json_t *object = json_pack("{s:I, s:I, s:f, s:f, s:I}", "min", (json_int_t)of->min_ns,
		"max", (json_int_t)of->max_ns, "mean", abd_perf_latency_mean(of), "stddev",
		abd_perf_latency_deviation(of), "N", (json_int_t)of->count);

	if (!percentiles || of->count == 0)
		return object;

	json_t *percentile = json_object();

	for (size_t i = 0;
		i < sizeof(abd_perf_jobs_percentile) / sizeof(abd_perf_jobs_percentile[0]); i++) {
		const char *name = abd_perf_jobs_percentile[i];
		double ns = abd_perf_latency_percentile(of, atof(name));

		json_object_set_new(percentile, name, json_integer((json_int_t)ns));
	}
	json_object_set_new(object, "percentile", percentile);
	return object;
}

/* How the speed varied. A direction without a job (NULL) has the same fields, all zero. */
static void abd_perf_jobs_slices(json_t *object, const struct abd_perf_job *job)
{
	static const struct abd_perf_job none;
	const struct abd_perf_job *of = job != NULL ? job : &none;
	double count = of->slices > 0 ? of->slices : 1, mean = of->slice_sum / count,
	       variance = of->slice_square / count - mean * mean;

	json_object_set_new(object, "bw_min", json_integer((json_int_t)(of->slice_min / 1024)));
	json_object_set_new(object, "bw_max", json_integer((json_int_t)(of->slice_max / 1024)));
	json_object_set_new(object, "bw_agg", json_real(of->slices > 0 ? 100 : 0));
	json_object_set_new(object, "bw_mean", json_real(mean / 1024));
	json_object_set_new(object, "bw_dev", json_real(variance > 0 ? sqrt(variance) / 1024 : 0));
	json_object_set_new(object, "bw_samples", json_integer((json_int_t)of->slices));
}

/* One direction: reads, or one that did not happen (NULL): writes, trims. */
static json_t *abd_perf_jobs_direction(const struct abd_perf_job *job)
{
	const struct abd_perf_latency *latency = job != NULL ? &job->latency : NULL;
	double s = job != NULL ? job->taken_ns / 1e9 : 1;
	json_int_t reads = latency != NULL ? (json_int_t)latency->count : 0;
	json_int_t bytes = job != NULL ? reads * (json_int_t)job->read_size : 0;
	json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:i, s:i}", "io_bytes",
		bytes, "io_kbytes", bytes >> 10, "bw_bytes", (json_int_t)((double)bytes / s), "bw",
		(json_int_t)((double)bytes / 1024 / s), "iops", (double)reads / s, "runtime",
		(json_int_t)(job != NULL ? s * 1000 : 0), "total_ios", reads, "short_ios", 0,
		"drop_ios", 0);

	json_object_set_new(object, "slat_ns", abd_perf_jobs_latency(NULL, false));
	json_object_set_new(object, "clat_ns", abd_perf_jobs_latency(latency, true));
	json_object_set_new(object, "lat_ns", abd_perf_jobs_latency(latency, false));
	abd_perf_jobs_slices(object, job);
	return object;
}

/* In fio's JSON every job option is text, even a number. */
static json_t *abd_perf_jobs_options(const struct abd_perf_job *job)
{
	json_t *options = json_object();

	json_object_set_new(options, "name", json_string(job->name));
	json_object_set_new(options, "rw", json_string("read"));
	json_object_set_new(options, "bs", json_sprintf("%zu", job->read_size));
	json_object_set_new(options, "numjobs", json_sprintf("%u", job->threads));
	json_object_set_new(options, "filesize", json_sprintf("%zu", job->file_size));
	json_object_set_new(options, "runtime", json_sprintf("%g", job->runtime_s));
	json_object_set_new(options, "ramp_time", json_sprintf("%g", job->ramp_s));
	json_object_set_new(options, "time_based", json_string("1"));
	json_object_set_new(options, "group_reporting", json_string("1"));
	json_object_set_new(options, "abd_data", json_string(job->data));
	json_object_set_new(options, "abd_mode", json_string(job->mode));
	json_object_set_new(options, "abd_record_size", json_sprintf("%zu", job->record_size));
	return options;
}

json_t *abd_perf_jobs_list(void)
{
	static json_t *list;

	if (list == NULL)
		list = json_array();
	return list;
}

void abd_perf_jobs_add(const struct abd_perf_job *job)
{
	json_t *list = abd_perf_jobs_list();

	json_array_append_new(list,
		json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "jobname", job->name,
			"groupid", (int)json_array_size(list), "error", 0, "eta", 0, "elapsed",
			(int)(job->taken_ns / 1e9 + job->ramp_s), "job options",
			abd_perf_jobs_options(job), "read", abd_perf_jobs_direction(job), "write",
			abd_perf_jobs_direction(NULL), "trim", abd_perf_jobs_direction(NULL)));
}
