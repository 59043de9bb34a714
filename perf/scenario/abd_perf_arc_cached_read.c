/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-cached-read: OpenZFS's sequential_reads_arc_cached over our own cache. Each thread reads its
 * own file for a given time, in pieces of 128 KiB (16 records). Records hold 8 KiB and are
 * compressed by lz4.
 *
 * Scaling: the cache gets a quarter of the available memory, at most 4 GiB (256 MiB without
 * --full). As in OpenZFS's test, the files take half of that before compression, and there are as
 * many files as the largest number of threads, so fewer threads read fewer files. Threads: 1, one
 * per CPU, and with --full OpenZFS's 64 and 128. Each mode reads for --runtime seconds after
 * --warmup seconds: by default 10 after 1 with --full (OpenZFS: 180), else 0.45 after 0.05.
 *
 * abd_perf_arc_cached_set.h describes the modes, abd_perf_arc_cached_time.h how they take turns.
 * OpenZFS: tests/zfs-tests/tests/perf/regression/sequential_reads_arc_cached.ksh; PR 8580 found
 * about 5 % between the last two.
 */
#include "abd_perf_arc_cached_time.h"
#include "abd_perf_env.h"
#include "abd_perf_jobs.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_CACHED_SOURCE "about 5 % (OpenZFS PR 8580)"
#define ABD_PERF_CACHED_PERCENTILES 4

static const struct {
	const char *name;
	double percent;
} abd_perf_cached_percentile[ABD_PERF_CACHED_PERCENTILES] = {
	{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}};

/* ---- results --------------------------------------------------------------------------------- */

static void abd_perf_cached_conditions(json_t *result, const struct abd_perf_cached_set *set,
	const struct abd_perf_cached_time *time, unsigned threads)
{
	struct abd_arc_stats stats;

	abd_arc_stats_get(set->on, &stats, sizeof(stats));
	abd_perf_result_text(result, "data", set->data->name);
	abd_perf_result_size(result, "record_size", set->record_size);
	abd_perf_result_size(result, "io_size", set->read_size);
	abd_perf_result_number(result, "threads", threads);
	abd_perf_result_number(result, "files", set->files);
	abd_perf_result_number(result, "files_bytes", (double)(set->records * set->record_size));
	abd_perf_result_number(result, "capacity_bytes", (double)stats.capacity_bytes);
	abd_perf_result_number(
		result, "compressed_bytes", (double)stats.stored_bytes / (double)stats.entries);
	abd_perf_result_number(result, "index_bytes_per_record",
		(double)stats.index_bytes / (double)stats.entries);
	abd_perf_result_number(result, "runtime_s", time->runtime_s);
	abd_perf_result_number(result, "ramp_s", time->ramp_s);
}

static void abd_perf_cached_add_speeds(const struct abd_perf_cached_set *set,
	const struct abd_perf_cached_time *time, unsigned threads)
{
	char size[24];
	const char *const *name = abd_perf_cached_name;
	json_t *result = abd_perf_result_add("arc-cached-read", "cached", "%s %s, %u thread%s",
		set->data->name, abd_perf_options_size_text(set->record_size, size, sizeof(size)),
		threads, threads > 1 ? "s" : "");

	abd_perf_cached_conditions(result, set, time, threads);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++)
		abd_perf_result_figure(result, name[mode], "GB/s",
			abd_perf_race_rate(&time->race, mode, (double)set->read_size));
	abd_perf_result_ratio(result, name[CACHED_CACHE], name[CACHED_BARE],
		abd_perf_race_ratio(&time->race, CACHED_CACHE, CACHED_BARE), 1 / 1.03, NULL);
	abd_perf_result_ratio(result, name[CACHED_CACHE], name[CACHED_OPENZFS],
		abd_perf_race_ratio(&time->race, CACHED_CACHE, CACHED_OPENZFS), 0, NULL);
	abd_perf_result_ratio(result, name[CACHED_SCATTER], name[CACHED_OPENZFS],
		abd_perf_race_ratio(&time->race, CACHED_SCATTER, CACHED_OPENZFS), 0, NULL);
	abd_perf_result_ratio(result, name[CACHED_SINGLE], name[CACHED_OPENZFS],
		abd_perf_race_ratio(&time->race, CACHED_SINGLE, CACHED_OPENZFS), 0,
		ABD_PERF_CACHED_SOURCE);
}

static void abd_perf_cached_add_latency(const struct abd_perf_cached_set *set,
	const struct abd_perf_cached_time *time, unsigned threads, unsigned mode)
{
	const struct abd_perf_latency *latency = &time->latency[mode];
	json_t *result = abd_perf_result_add("arc-cached-read", "latency", "%s, %u thread%s, %s",
		set->data->name, threads, threads > 1 ? "s" : "", abd_perf_cached_name[mode]);

	abd_perf_result_text(result, "data", set->data->name);
	abd_perf_result_number(result, "threads", threads);
	abd_perf_result_text(result, "mode", abd_perf_cached_name[mode]);
	abd_perf_result_number(result, "reads", (double)latency->count);
	for (unsigned i = 0; i < ABD_PERF_CACHED_PERCENTILES; i++) {
		double ns =
			abd_perf_latency_percentile(latency, abd_perf_cached_percentile[i].percent);

		abd_perf_result_figure(result, abd_perf_cached_percentile[i].name, "ns",
			(struct abd_perf_summary){
				.median = ns, .low = ns, .high = ns, .rounds = time->race.rounds});
	}
}

static void abd_perf_cached_add_job(const struct abd_perf_cached_set *set,
	const struct abd_perf_cached_time *time, unsigned threads, unsigned mode)
{
	static struct abd_perf_job filled;
	struct abd_perf_job *job = &filled;

	*job = (struct abd_perf_job){.data = set->data->name};
	snprintf(job->name, sizeof(job->name), "%s, %u thread%s, %s", set->data->name, threads,
		threads > 1 ? "s" : "", abd_perf_cached_name[mode]);
	job->mode = abd_perf_cached_name[mode];
	job->threads = threads;
	job->read_size = set->read_size;
	job->record_size = set->record_size;
	job->file_size = set->records / set->files * set->record_size;
	job->runtime_s = time->runtime_s;
	job->ramp_s = time->ramp_s;
	job->taken_ns = time->taken_ns[mode];
	job->latency = time->latency[mode];
	for (unsigned i = 0; i < time->race.rounds; i++)
		abd_perf_jobs_slice(job, (double)set->read_size * 1e9 / time->race.ns[mode][i]);
	abd_perf_jobs_add(job);
}

static int abd_perf_cached_threads_run(const struct abd_perf_cached_set *set, unsigned threads)
{
	static struct abd_perf_cached_time time;

	abd_perf_say_step("%s, %u thread%s", set->data->name, threads, threads > 1 ? "s" : "");
	if (!abd_perf_cached_time_run(&time, set, threads))
		return 0;
	abd_perf_cached_add_speeds(set, &time, threads);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		abd_perf_cached_add_latency(set, &time, threads, mode);
		abd_perf_cached_add_job(set, &time, threads, mode);
	}
	if (time.errors == 0)
		return 0;
	abd_perf_say_warn("%u reads failed while measuring", time.errors);
	return 1;
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static size_t abd_perf_cached_read_size(const struct abd_perf_options *options)
{
	return options->io_size != 0 ? options->io_size : ABD_PERF_CACHED_READ;
}

/*
 * The numbers of threads: the one asked for; or 1, one per CPU, and with --full OpenZFS's 64 and
 * 128.
 */
static unsigned abd_perf_cached_threads(const struct abd_perf_options *options, unsigned threads[4])
{
	unsigned count = 1;

	threads[0] = options->threads != 0 ? options->threads : 1;
	if (options->threads != 0)
		return 1;
	if (options->cpu_count > 1 && options->cpu_count < ABD_PERF_CACHED_THREADS)
		threads[count++] = options->cpu_count;
	if (!options->quick && options->cpu_count != 64)
		threads[count++] = 64;
	if (!options->quick)
		threads[count++] = ABD_PERF_CACHED_THREADS;
	return count;
}

static size_t abd_perf_cached_capacity(const struct abd_perf_options *options)
{
	size_t most = (options->quick ? 256 : 4096) * ABD_PERF_CACHED_MIB,
	       memory = abd_perf_env_memory() / 4;

	return memory < most ? memory : most;
}

static int abd_perf_cached_data_run(const struct abd_perf_data *data, size_t record_size,
	const struct abd_perf_options *options)
{
	unsigned threads[4], count = abd_perf_cached_threads(options, threads);
	unsigned files = threads[0];
	size_t capacity = abd_perf_cached_capacity(options), per_read, file;
	size_t read_size = abd_perf_cached_read_size(options);
	int status = 0;

	for (unsigned i = 1; i < count; i++)
		files = threads[i] > files ? threads[i] : files;
	per_read = read_size / record_size;
	file = capacity / 2 / files / read_size * per_read;

	struct abd_perf_cached_set set = {.options = options,
		.data = data,
		.record_size = record_size,
		.read_size = read_size,
		.records = file * files,
		.capacity = capacity,
		.files = files};

	abd_perf_cached_set_make(&set);
	if (!abd_perf_cached_set_check(&set)) {
		abd_perf_say_warn("a record was not what it should be");
		status = 1;
	}
	for (unsigned i = 0; i < count && status == 0 && !abd_perf_stop_wanted(); i++)
		status = abd_perf_cached_threads_run(&set, threads[i]);
	abd_perf_cached_set_free(&set);
	return status;
}

static int abd_perf_cached_run(const struct abd_perf_options *options)
{
	size_t record_size = options->record_size != 0 ? options->record_size : 8192;
	size_t read_size = abd_perf_cached_read_size(options);
	struct abd_perf_data data[2];
	unsigned threads[4];
	int status = 0;

	if (read_size > 16 * ABD_PERF_CACHED_MIB || read_size % record_size != 0)
		abd_perf_say_die(2,
			"arc-cached-read reads whole records, 16m at most: not %zu bytes at a time "
			"from records of %zu",
			read_size, record_size);
	if (options->threads > ABD_PERF_CACHED_THREADS)
		abd_perf_say_die(2, "arc-cached-read takes at most %u threads, as its source",
			ABD_PERF_CACHED_THREADS);
	abd_perf_fio_make(&data[0], options, 64 * ABD_PERF_CACHED_MIB);
	abd_perf_files_load(&data[1], options, 64 * ABD_PERF_CACHED_MIB);
	abd_perf_say_begin("arc-cached-read", 2 * abd_perf_cached_threads(options, threads));
	for (unsigned i = 0; i < 2 && status == 0 && !abd_perf_stop_wanted(); i++)
		status = abd_perf_cached_data_run(&data[i], record_size, options);
	for (unsigned i = 0; i < 2; i++)
		free(data[i].bytes);
	return status;
}

const struct abd_perf_scenario abd_perf_arc_cached_read = {
	.name = "arc-cached-read",
	.summary =
		"sequential reads out of the cache: ours, OpenZFS's way, and bare decoding as the limit",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_THREADS | ABD_PERF_USES_RECORD_SIZE |
		ABD_PERF_USES_IO_SIZE,
	.normal_s = 12,
	.full_s = 480,
	.headline = true,
	.run = abd_perf_cached_run,
};
