/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-cached-read: OpenZFS's sequential_reads_arc_cached over our own cache. Each thread reads its
 * own files in pieces of 128 KiB (16 records), and the time of each read is recorded. Records hold
 * 8 KiB and are compressed by lz4. abd_perf_arc_cached_set.h describes the modes.
 *
 * Scaling: the cache gets a quarter of the available memory, at most 4 GiB (256 MiB without
 * --full). As in OpenZFS's test, the files take half of that before compression, and there are as
 * many files as the largest number of threads. Fewer threads share all of them, so that one thread,
 * too, reads more than could be learnt by heart. Threads: 1 and OpenZFS's 64, and with --full its
 * 128. Each mode reads for about --runtime seconds after --warmup seconds: by default 10 after 1
 * with --full (OpenZFS: 180), else 0.2 after 0.05.
 *
 * OpenZFS: tests/zfs-tests/tests/perf/regression/sequential_reads_arc_cached.ksh; PR 8580 found
 * about 5 % between openzfs's way and single-chunk.
 */
#include "abd_perf_arc_cached_crew.h"
#include "abd_perf_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double percent;
} abd_perf_cached_percentile[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}};

/* ---- results --------------------------------------------------------------------------------- */

static void abd_perf_cached_conditions(json_t *result, const struct abd_perf_cached_crew *crew)
{
	const struct abd_perf_cached_set *set = crew->set;
	struct abd_arc_stats stats;

	abd_arc_stats_get(set->packed, &stats, sizeof(stats));
	abd_perf_result_text(result, "data", set->data->name);
	abd_perf_result_text(result, "state", abd_perf_env_state(stats.stored_bytes));
	abd_perf_result_size(result, "record_size", set->record_size);
	abd_perf_result_size(result, "io_size", set->read_size);
	abd_perf_result_number(result, "threads", crew->threads);
	abd_perf_result_number(result, "files", set->files);
	abd_perf_result_number(result, "files_bytes", (double)(set->records * set->record_size));
	abd_perf_result_number(result, "capacity_bytes", (double)stats.capacity_bytes);
	abd_perf_result_number(
		result, "compressed_bytes", (double)stats.stored_bytes / (double)stats.entries);
	abd_perf_result_number(result, "index_bytes_per_record",
		(double)stats.index_bytes / (double)stats.entries);
	abd_perf_result_number(result, "runtime_s", crew->runtime_s);
	abd_perf_result_number(result, "ramp_s", crew->ramp_s);
}

static void abd_perf_cached_add_speeds(const struct abd_perf_cached_crew *crew, const char *title)
{
	static const struct abd_perf_said rule = {"pr8580", 1.05, "about 5 % (OpenZFS PR 8580)"};
	static const struct abd_perf_claim claims[] = {{CACHED_SINGLE, CACHED_OPENZFS, 0, &rule},
		{CACHED_CACHE, CACHED_BARE, 1 / 1.03, NULL},
		{CACHED_CACHE, CACHED_OPENZFS, 0, NULL}, {CACHED_SCATTER, CACHED_OPENZFS, 0, NULL},
		{CACHED_LINES, CACHED_SINGLE, 0, NULL}};
	struct abd_perf_path path[CACHED_MODES];
	char size[24];
	json_t *result =
		abd_perf_result_add("arc-cached-read", "cached", "%s %s,%s", crew->set->data->name,
			abd_perf_options_size_text(crew->set->record_size, size, sizeof(size)),
			strchr(title, ',') + 1);

	for (unsigned mode = 0; mode < CACHED_MODES; mode++)
		path[mode].name = abd_perf_cached_name[mode];
	abd_perf_cached_conditions(result, crew);
	abd_perf_result_race(
		result, &crew->race, path, (double)crew->set->read_size * crew->threads);
	abd_perf_result_claims(result, &crew->race, path, claims, 5);
}

static void abd_perf_cached_add_mode(
	const struct abd_perf_cached_crew *crew, unsigned mode, const char *title)
{
	const struct abd_perf_latency *latency = &crew->mode[mode].latency;
	const struct abd_perf_cached_set *set = crew->set;
	const char *name = abd_perf_cached_name[mode];
	json_t *result = abd_perf_result_add("arc-cached-read", "latency", "%s, %s", title, name);

	abd_perf_result_text(result, "data", set->data->name);
	abd_perf_result_number(result, "threads", crew->threads);
	abd_perf_result_text(result, "mode", name);
	abd_perf_result_number(result, "reads", (double)latency->count);
	for (unsigned i = 0; i < 4; i++) {
		double ns =
			abd_perf_latency_percentile(latency, abd_perf_cached_percentile[i].percent);
		struct abd_perf_summary value = abd_perf_stat(&ns, 1);

		value.rounds = crew->race.rounds;
		abd_perf_result_figure(result, abd_perf_cached_percentile[i].name, "ns", value);
	}
}

static int abd_perf_cached_threads_run(const struct abd_perf_cached_set *set, unsigned threads)
{
	static struct abd_perf_cached_crew crew;
	char title[64];

	snprintf(title, sizeof(title), "%s, %u thread%s", set->data->name, threads,
		threads > 1 ? "s" : "");
	abd_perf_say_step("%s", title);
	if (!abd_perf_cached_measure(&crew, set, threads))
		return 0;
	abd_perf_cached_add_speeds(&crew, title);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++)
		abd_perf_cached_add_mode(&crew, mode, title);
	if (crew.errors == 0)
		return 0;
	abd_perf_say_warn("%u reads failed while measuring", crew.errors);
	return 1;
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static unsigned abd_perf_cached_threads(const struct abd_perf_options *options, unsigned threads[3])
{
	threads[0] = options->threads != 0 ? options->threads : 1;
	threads[1] = 64;
	threads[2] = ABD_PERF_CACHED_THREADS;
	return options->threads != 0 ? 1 : options->quick ? 2 : 3;
}

/* Whether one of the steps with this data is wanted: making the data takes long. */
static bool abd_perf_cached_wanted(const char *data, const unsigned *threads, unsigned count)
{
	bool wanted = abd_perf_say_wants("%s, counted", data);

	for (unsigned i = 0; i < count; i++)
		wanted |= abd_perf_say_wants(
			"%s, %u thread%s", data, threads[i], threads[i] > 1 ? "s" : "");
	return wanted;
}

static int abd_perf_cached_data_run(struct abd_perf_cached_set *set)
{
	const struct abd_perf_options *options = set->options;
	size_t most = (options->quick ? 256 : 4096) * ABD_PERF_CACHED_MIB;
	unsigned threads[3], count = abd_perf_cached_threads(options, threads);
	int status = 0;

	set->capacity = abd_perf_env_memory() / 4;
	set->capacity = set->capacity < most ? set->capacity : most;
	set->files = threads[count - 1];
	set->records = set->capacity / 2 / set->files / set->read_size *
		       (set->read_size / set->record_size) * set->files;
	abd_perf_cached_set_make(set);
	if (!abd_perf_cached_set_check(set)) {
		abd_perf_say_step("%s, %u threads", set->data->name, threads[0]);
		abd_perf_say_warn("a record was not what it should be");
		status = 1;
	}
	for (unsigned i = 0; i < count && status == 0 && !abd_perf_say_stopped(); i++)
		status = abd_perf_cached_threads_run(set, threads[i]);
	if (status == 0 && !abd_perf_say_stopped())
		abd_perf_cached_count(set);
	abd_perf_cached_set_free(set);
	return status;
}

static int abd_perf_cached_run(const struct abd_perf_options *options)
{
	struct abd_perf_cached_set set = {.options = options,
		.record_size = options->record_size != 0 ? options->record_size : 8192,
		.read_size = options->io_size != 0 ? options->io_size : ABD_PERF_CACHED_READ};
	unsigned threads[3], count = abd_perf_cached_threads(options, threads);
	bool files = true;
	int status = 0;

	if (set.read_size > 16 * ABD_PERF_CACHED_MIB || set.read_size % set.record_size != 0)
		abd_perf_say_die(2,
			"arc-cached-read reads whole records, 16m at most: not %zu bytes at a time "
			"from records of %zu",
			set.read_size, set.record_size);
	if (options->threads > ABD_PERF_CACHED_THREADS)
		abd_perf_say_die(2, "arc-cached-read takes at most %u threads, as its source",
			ABD_PERF_CACHED_THREADS);
	abd_perf_say_begin("arc-cached-read", 2 * (count + 1));
	for (unsigned i = 0; i < 2 && status == 0 && !abd_perf_say_stopped(); i++) {
		struct abd_perf_data data = {.name = i == 0 ? "fio" : "files"};

		if (!abd_perf_cached_wanted(data.name, threads, count))
			continue;
		if (i == 0)
			abd_perf_fio_make(&data, options, 64 * ABD_PERF_CACHED_MIB);
		else
			files = abd_perf_files_load(&data, options, 64 * ABD_PERF_CACHED_MIB);
		set.data = &data;
		if (files)
			status = abd_perf_cached_data_run(&set);
		free(data.bytes);
	}
	return status == 0 && !files ? ABD_PERF_LEFT_OUT : status;
}

const struct abd_perf_scenario abd_perf_arc_cached_read = {
	.name = "arc-cached-read",
	.summary = "sequential reads out of the cache (OpenZFS PR 8580): ours, OpenZFS's way with "
		   "the rule off and on, and bare decoding as the limit",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_THREADS | ABD_PERF_USES_RECORD_SIZE |
		ABD_PERF_USES_IO_SIZE,
	.normal_s = 12,
	.full_s = 580,
	.normal_phase_s = 0.2,
	.full_phase_s = 10,
	.claim = {"arc-cached-read: .*", 12},
	/* The 95 % interval of 9 medians is that of the second and the eighth. */
	.headline = {"arc-cached-read: fio, 1 thread", 9, 2},
	.run = abd_perf_cached_run,
};
