/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-cached-read: OpenZFS's sequential_reads_arc_cached over our own cache. Each thread reads its
 * own file, again from the start after its end, in pieces of 128 KiB (16 records), and the time of
 * each read is recorded. Records hold 8 KiB and are compressed by lz4.
 *
 * Scaling: the cache gets a quarter of the available memory, at most 4 GiB (256 MiB without
 * --full). As in OpenZFS's test, the files take half of that before compression, and there are as
 * many files as the largest number of threads, so fewer threads read fewer files. Threads: 1, one
 * per CPU, and with --full OpenZFS's 64 and 128. Each mode reads for about --runtime seconds after
 * --warmup seconds: by default 10 after 1 with --full (OpenZFS: 180), else 0.2 after 0.05. The
 * modes are the paths of a race, so a ratio is taken within a round.
 *
 * Invariant: only reads of rounds that count are in the latencies.
 * abd_perf_arc_cached_set.h describes the modes.
 * OpenZFS: tests/zfs-tests/tests/perf/regression/sequential_reads_arc_cached.ksh; PR 8580 found
 * about 5 % between the last two.
 */
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_crew.h"
#include "abd_perf_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_CACHED_THREADS 128
#define ABD_PERF_CACHED_SOURCE "about 5 % (OpenZFS PR 8580)"
#define ABD_PERF_CACHED_PERCENTILES 4

static const struct {
	const char *name;
	double percent;
} abd_perf_cached_percentile[ABD_PERF_CACHED_PERCENTILES] = {
	{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}};

/* One thread's state in one mode. */
struct abd_perf_cached_lane {
	size_t at; /* the next record of its file */
	unsigned errors;
	struct abd_perf_latency latency;
};

/* A mode, as a path of the race. */
struct abd_perf_cached_path {
	struct abd_perf_cached_crew *crew;
	unsigned mode;
	struct abd_perf_cached_lane *lane; /* one for each thread */
	double taken_ns;                   /* by the wall clock */
	struct abd_perf_latency latency;   /* of all threads */
};

/* What threads measured together. */
struct abd_perf_cached_crew {
	const struct abd_perf_cached_set *set;
	struct abd_perf_crew *crew;
	unsigned threads;
	char *dst[ABD_PERF_CACHED_THREADS];
	struct abd_perf_cached_path mode[CACHED_MODES];
	struct abd_perf_race race;
	double runtime_s, ramp_s; /* of each mode */
	unsigned errors;          /* reads that failed */
};

/* ---- reading --------------------------------------------------------------------------------- */

/* One read: the next piece of the thread's file. Returns how many records could not be read. */
static unsigned abd_perf_cached_read_one(
	const struct abd_perf_cached_path *path, struct abd_perf_cached_lane *lane, unsigned member)
{
	const struct abd_perf_cached_set *set = path->crew->set;
	size_t per_read = set->read_size / set->record_size;
	size_t file = set->records / set->files, first = file * member + lane->at;
	unsigned errors = 0;

	for (size_t i = 0; i < per_read; i++)
		errors += !abd_perf_cached_record(
			set, path->mode, first + i, path->crew->dst[member] + i * set->record_size);
	lane->at = lane->at + per_read < file ? lane->at + per_read : 0;
	return errors;
}

static double abd_perf_cached_member(void *arg, unsigned member, uint64_t iterations)
{
	const struct abd_perf_cached_path *path = arg;
	struct abd_perf_cached_lane *lane = &path->lane[member];
	double begun = abd_perf_clock_ns(), last = abd_perf_clock_wall_ns(), now;

	for (; iterations > 0; iterations--, last = now) {
		lane->errors += abd_perf_cached_read_one(path, lane, member);
		now = abd_perf_clock_wall_ns();
		if (path->crew->race.counts)
			abd_perf_latency_add(&lane->latency, now - last);
	}
	return abd_perf_clock_ns() - begun;
}

static double abd_perf_cached_path_run(void *arg, uint64_t iterations)
{
	struct abd_perf_cached_path *path = arg;
	double begun = abd_perf_clock_wall_ns(),
	       ns = abd_perf_crew_run(path->crew->crew, abd_perf_cached_member, path, iterations);

	if (path->crew->race.counts)
		path->taken_ns += abd_perf_clock_wall_ns() - begun;
	return ns;
}

static void abd_perf_cached_crew_begin(struct abd_perf_cached_crew *crew)
{
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		crew->mode[mode] = (struct abd_perf_cached_path){.crew = crew,
			.mode = mode,
			.lane = calloc(crew->threads, sizeof(struct abd_perf_cached_lane))};
		if (crew->mode[mode].lane == NULL)
			abd_perf_say_die(1, "no memory for the threads' figures");
	}
	for (unsigned i = 0; i < crew->threads; i++) {
		crew->dst[i] = aligned_alloc(4096, (crew->set->read_size + 4095) / 4096 * 4096);
		if (crew->dst[i] == NULL)
			abd_perf_say_die(1, "no memory to decode into");
	}
	crew->crew = abd_perf_crew_make(crew->threads, crew->set->options);
	if (crew->crew == NULL)
		abd_perf_say_die(1, "%u threads can't be started", crew->threads);
}

static void abd_perf_cached_crew_end(struct abd_perf_cached_crew *crew)
{
	abd_perf_crew_end(crew->crew);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		struct abd_perf_cached_path *path = &crew->mode[mode];

		for (unsigned i = 0; i < crew->threads; i++) {
			abd_perf_latency_merge(&path->latency, &path->lane[i].latency);
			crew->errors += path->lane[i].errors;
		}
		free(path->lane);
	}
	for (unsigned i = 0; i < crew->threads; i++)
		free(crew->dst[i]);
}

/* Measure with threads threads, a file each. False: not one round was complete. */
static bool abd_perf_cached_measure(
	struct abd_perf_cached_crew *crew, const struct abd_perf_cached_set *set, unsigned threads)
{
	struct abd_perf_options options = *set->options;
	struct abd_perf_path path[CACHED_MODES];
	bool quick = options.quick, measured;

	memset(crew, 0, sizeof(*crew));
	crew->set = set;
	crew->threads = threads;
	crew->runtime_s = options.runtime_s > 0 ? options.runtime_s : quick ? 0.2 : 10;
	crew->ramp_s = options.warmup_s >= 0 ? options.warmup_s : quick ? 0.05 : 1;
	options.runtime_s = crew->runtime_s * CACHED_MODES;
	options.warmup_s = crew->ramp_s * CACHED_MODES;
	abd_perf_cached_crew_begin(crew);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++)
		path[mode] = (struct abd_perf_path){
			abd_perf_cached_name[mode], abd_perf_cached_path_run, &crew->mode[mode]};
	measured = abd_perf_race_run(&crew->race, path, CACHED_MODES, &options);
	abd_perf_cached_crew_end(crew);
	return measured;
}

/* ---- results --------------------------------------------------------------------------------- */

static void abd_perf_cached_conditions(json_t *result, const struct abd_perf_cached_crew *crew)
{
	const struct abd_perf_cached_set *set = crew->set;
	struct abd_arc_stats stats;

	abd_arc_stats_get(set->on, &stats, sizeof(stats));
	abd_perf_result_text(result, "data", set->data->name);
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

/* "fio 8k, 2 threads": of the data, or of the data and the size of records. */
static const char *abd_perf_cached_title(const struct abd_perf_cached_crew *crew, bool sized)
{
	static char title[64];
	char size[24] = "";

	if (sized)
		abd_perf_options_size_text(crew->set->record_size, size + 1, sizeof(size) - 1);
	size[0] = sized ? ' ' : '\0';
	snprintf(title, sizeof(title), "%s%s, %u thread%s", crew->set->data->name, size,
		crew->threads, crew->threads > 1 ? "s" : "");
	return title;
}

static void abd_perf_cached_add_speeds(const struct abd_perf_cached_crew *crew)
{
	static const struct abd_perf_claim claims[] = {{CACHED_CACHE, CACHED_BARE, 1 / 1.03, NULL},
		{CACHED_CACHE, CACHED_OPENZFS, 0, NULL}, {CACHED_SCATTER, CACHED_OPENZFS, 0, NULL},
		{CACHED_SINGLE, CACHED_OPENZFS, 0, ABD_PERF_CACHED_SOURCE}};
	struct abd_perf_path path[CACHED_MODES];
	json_t *result = abd_perf_result_add(
		"arc-cached-read", "cached", "%s", abd_perf_cached_title(crew, true));

	for (unsigned mode = 0; mode < CACHED_MODES; mode++)
		path[mode].name = abd_perf_cached_name[mode];
	abd_perf_cached_conditions(result, crew);
	abd_perf_result_race(result, &crew->race, path, (double)crew->set->read_size);
	abd_perf_result_claims(result, &crew->race, path, claims, 4);
}

static void abd_perf_cached_add_latency(const struct abd_perf_cached_crew *crew, unsigned mode)
{
	const struct abd_perf_latency *latency = &crew->mode[mode].latency;
	json_t *result = abd_perf_result_add("arc-cached-read", "latency", "%s, %s",
		abd_perf_cached_title(crew, false), abd_perf_cached_name[mode]);

	abd_perf_result_text(result, "data", crew->set->data->name);
	abd_perf_result_number(result, "threads", crew->threads);
	abd_perf_result_text(result, "mode", abd_perf_cached_name[mode]);
	abd_perf_result_number(result, "reads", (double)latency->count);
	for (unsigned i = 0; i < ABD_PERF_CACHED_PERCENTILES; i++) {
		double ns =
			abd_perf_latency_percentile(latency, abd_perf_cached_percentile[i].percent);
		struct abd_perf_summary value = abd_perf_stat(&ns, 1);

		value.rounds = crew->race.rounds;
		abd_perf_result_figure(result, abd_perf_cached_percentile[i].name, "ns", value);
	}
}

static void abd_perf_cached_add_job(const struct abd_perf_cached_crew *crew, unsigned mode)
{
	const struct abd_perf_cached_set *set = crew->set;
	struct abd_perf_job job = {.data = set->data->name,
		.mode = abd_perf_cached_name[mode],
		.threads = crew->threads,
		.read_size = set->read_size,
		.record_size = set->record_size,
		.file_size = set->records / set->files * set->record_size,
		.runtime_s = crew->runtime_s,
		.ramp_s = crew->ramp_s,
		.taken_ns = crew->mode[mode].taken_ns};

	snprintf(
		job.name, sizeof(job.name), "%s, %s", abd_perf_cached_title(crew, false), job.mode);
	abd_perf_result_job(
		&job, &crew->mode[mode].latency, crew->race.ns[mode], crew->race.rounds);
}

static int abd_perf_cached_threads_run(const struct abd_perf_cached_set *set, unsigned threads)
{
	static struct abd_perf_cached_crew crew;

	abd_perf_say_step("%s, %u thread%s", set->data->name, threads, threads > 1 ? "s" : "");
	if (!abd_perf_cached_measure(&crew, set, threads))
		return 0;
	abd_perf_cached_add_speeds(&crew);
	for (unsigned mode = 0; mode < CACHED_MODES; mode++) {
		abd_perf_cached_add_latency(&crew, mode);
		abd_perf_cached_add_job(&crew, mode);
	}
	if (crew.errors == 0)
		return 0;
	abd_perf_say_warn("%u reads failed while measuring", crew.errors);
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
	size_t most = abd_perf_options_twice(
		       options, "set", (options->quick ? 256 : 4096) * ABD_PERF_CACHED_MIB),
	       memory = abd_perf_env_memory() / 4;

	return memory < most ? memory : most;
}

/* Whether one of the steps with this data is wanted: making the data takes long. */
static bool abd_perf_cached_wanted(
	const struct abd_perf_data *data, const struct abd_perf_options *options)
{
	unsigned threads[4], count = abd_perf_cached_threads(options, threads);
	bool wanted = false;

	for (unsigned i = 0; i < count; i++)
		wanted |= abd_perf_say_wants(
			"%s, %u thread%s", data->name, threads[i], threads[i] > 1 ? "s" : "");
	return wanted;
}

static int abd_perf_cached_data_run(const struct abd_perf_data *data, size_t record_size,
	const struct abd_perf_options *options)
{
	unsigned threads[4], count = abd_perf_cached_threads(options, threads);
	unsigned files = threads[0];
	size_t capacity = abd_perf_cached_capacity(options), per_read, file;
	size_t read_size = abd_perf_cached_read_size(options);
	int status = 0;

	for (unsigned i = 0; i < count; i++)
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
		abd_perf_say_step("%s, %u threads", data->name, threads[0]);
		abd_perf_say_warn("a record was not what it should be");
		status = 1;
	}
	for (unsigned i = 0; i < count && status == 0 && !abd_perf_say_stopped(); i++)
		status = abd_perf_cached_threads_run(&set, threads[i]);
	abd_perf_cached_set_free(&set);
	return status;
}

static int abd_perf_cached_run(const struct abd_perf_options *options)
{
	size_t record_size = options->record_size != 0 ? options->record_size : 8192;
	size_t read_size = abd_perf_cached_read_size(options);
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
	abd_perf_say_begin("arc-cached-read", 2 * abd_perf_cached_threads(options, threads));
	for (unsigned i = 0; i < 2 && status == 0 && !abd_perf_say_stopped(); i++) {
		struct abd_perf_data data = {.name = i == 0 ? "fio" : "files"};

		if (!abd_perf_cached_wanted(&data, options))
			continue;
		if (i == 0)
			abd_perf_fio_make(&data, options, 64 * ABD_PERF_CACHED_MIB);
		else
			abd_perf_files_load(&data, options, 64 * ABD_PERF_CACHED_MIB);
		status = abd_perf_cached_data_run(&data, record_size, options);
		free(data.bytes);
	}
	return status;
}

const struct abd_perf_scenario abd_perf_arc_cached_read = {
	.name = "arc-cached-read",
	.summary =
		"sequential reads out of the cache: ours, OpenZFS's way, and bare decoding as the limit",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_THREADS | ABD_PERF_USES_RECORD_SIZE |
		ABD_PERF_USES_IO_SIZE,
	.normal_s = 10,
	.full_s = 480,
	.normal_phase_s = 0.2,
	.full_phase_s = 10,
	/* The 95 % interval of 9 medians is that of the second and the eighth. */
	.headline = {"arc-cached-read: fio, 1 thread", 9, 2},
	.run = abd_perf_cached_run,
};
