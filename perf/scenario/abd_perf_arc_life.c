/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-life: what a cache promises in memory and time, over a life of eight phases:
 *
 *   small     new records of 64 bytes to 1 KiB
 *   large     new records of 32 KiB
 *   mixed     a skewed set of keys is read, and what is missing is put; 64 bytes to 64 KiB
 *   scan      the same, and after each read a new record that is never read
 *   shrink    mixed, while another thread resizes to a quarter
 *   grow      mixed, while it resizes back
 *   burst     mixed, while 4,096 records are held
 *   after     mixed, with all of them released
 *
 * Beside it one thread reads, if there are two CPUs. It has a CPU of its own, as the one that
 * resizes: on the writer's it would be stopped within its section, and the writer wait for it. Of
 * each phase: the most memory that was resident, and how far resident_bytes of the statistics is
 * from it at the end; what the records cost beyond their bytes and 160 bytes each; the time of puts
 * by the wall clock and, for machines that do other things, in CPU time; waits for readers; hits.
 * And for pictures, at moments of each phase: what is resident and used, and the hits since the
 * last one. Of another cache (--cache): what can be seen from outside.
 * --runtime says how long a phase takes: 450 makes it an hour.
 */
#include "abd_perf_crew.h"
#include "abd_perf_data.h"
#include "abd_perf_latency.h"
#include "abd_perf_life.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>

#include <dlfcn.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define ABD_PERF_LIFE_DATA ((size_t)4 << 20)
#define ABD_PERF_LIFE_HOLDS 4096
#define ABD_PERF_LIFE_SAMPLE_NS 5e6 /* between looks at what is resident */
#define ABD_PERF_LIFE_MOMENTS 12    /* of a phase */
#define ABD_PERF_LIFE_NORMAL_S 0.5  /* a phase takes */
#define ABD_PERF_LIFE_FULL_S 5.0

enum abd_perf_life_kind { LIFE_SMALL, LIFE_LARGE, LIFE_MIXED, LIFE_SCAN };

struct abd_perf_life_phase {
	const char *name;
	enum abd_perf_life_kind kind;
	unsigned resize; /* meanwhile, to this part of the capacity; 0: none */
	bool holds;
};

static const struct abd_perf_life_phase abd_perf_life_phases[] = {
	{"small", LIFE_SMALL, 0, false},
	{"large", LIFE_LARGE, 0, false},
	{"mixed", LIFE_MIXED, 0, false},
	{"scan", LIFE_SCAN, 0, false},
	{"shrink", LIFE_MIXED, 4, false},
	{"grow", LIFE_MIXED, 1, false},
	{"burst", LIFE_MIXED, 0, true},
	{"after", LIFE_MIXED, 0, false},
};

#define ABD_PERF_LIFE_PHASES (sizeof(abd_perf_life_phases) / sizeof(abd_perf_life_phases[0]))

/* What was seen at a moment. */
struct abd_perf_life_moment {
	double time; /* in phases since the start */
	double resident;
	struct abd_arc_stats stats;
	uint64_t looked, found; /* since the last one */
};

static abd_arc_t *abd_perf_life_create(size_t capacity)
{
	struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = capacity};

	return abd_arc_create(&config);
}

static const struct abd_perf_life_cache abd_perf_life_own = {abd_perf_life_create, abd_arc_put,
	abd_arc_read, abd_arc_hold, abd_arc_release, abd_arc_resize, abd_arc_stats_get,
	abd_arc_destroy};

struct abd_perf_life {
	const struct abd_perf_life_cache *calls;
	abd_arc_t *arc;
	size_t capacity;
	unsigned char *data;
	char *record, *read; /* what the writer puts, and what it reads into */
	uint64_t random, next, keys;
	double base; /* resident before there was a cache */
	unsigned resize;
	int other_cpu; /* not the writer's, if there are two */
	atomic_bool stop;
	atomic_bool wrong;
	/* of this phase */
	abd_arc_hold_t hold[ABD_PERF_LIFE_HOLDS];
	struct abd_perf_latency wall, cpu;
	uint64_t looked, found;
	double peak;
	/* since the last moment */
	uint64_t looked_before, found_before;
	double peak_now;
	/* Results would take memory that is not the cache's, so they are made when it has ended. */
	struct abd_perf_life_moment moment[ABD_PERF_LIFE_PHASES * ABD_PERF_LIFE_MOMENTS];
	size_t moments;
};

static double abd_perf_life_part(uint64_t *random)
{
	return (double)(abd_perf_random(random) >> 11) / 9007199254740992.0;
}

/* The size of a record of the mixed phases follows from its key: 64 bytes to 64 KiB. */
static size_t abd_perf_life_size(uint64_t n)
{
	uint64_t random = n + 1;

	return (size_t)(64 * exp2(10 * abd_perf_life_part(&random)));
}

static abd_arc_key_t abd_perf_life_key(enum abd_perf_life_kind kind, uint64_t n)
{
	return (abd_arc_key_t){kind, {n * 8, 0}, 1};
}

/* A record begins with its number, and the rest is random: lz4 finds nothing there. */
static void abd_perf_life_put(
	struct abd_perf_life *life, enum abd_perf_life_kind kind, uint64_t n, size_t size)
{
	size_t at = abd_perf_random(&life->random) % (ABD_PERF_LIFE_DATA - size) & ~(size_t)63;
	abd_arc_key_t key = abd_perf_life_key(kind, n);

	memcpy(life->record, life->data + at, size);
	memcpy(life->record, &n, sizeof(n));

	double wall = abd_perf_clock_wall_ns(), cpu = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID);

	if (life->calls->put(life->arc, &key, life->record, size) != 0)
		abd_perf_say_die(1, "no memory for a record");
	abd_perf_latency_add(&life->cpu, abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID) - cpu);
	abd_perf_latency_add(&life->wall, abd_perf_clock_wall_ns() - wall);
}

/* Returns whether it was there. */
static bool abd_perf_life_get(struct abd_perf_life *life, uint64_t n, char *dst)
{
	abd_arc_key_t key = abd_perf_life_key(LIFE_MIXED, n);

	if (life->calls->read(life->arc, &key, dst, 0, abd_perf_life_size(n)) < 0)
		return false;
	if (memcmp(dst, &n, sizeof(n)) != 0)
		atomic_store(&life->wrong, true);
	return true;
}

/* A few keys are read often, most of them seldom. */
static uint64_t abd_perf_life_pick(const struct abd_perf_life *life, uint64_t *random)
{
	double part = abd_perf_life_part(random);

	return (uint64_t)(part * part * part * (double)life->keys);
}

static void abd_perf_life_step(struct abd_perf_life *life, enum abd_perf_life_kind kind)
{
	uint64_t n;

	if (kind != LIFE_MIXED)
		abd_perf_life_put(life, kind, life->next++,
			kind == LIFE_LARGE ? 32768 : 64 + abd_perf_random(&life->random) % 961);
	if (kind == LIFE_SMALL || kind == LIFE_LARGE)
		return;
	n = abd_perf_life_pick(life, &life->random);
	life->looked++;
	if (abd_perf_life_get(life, n, life->read))
		life->found++;
	else
		abd_perf_life_put(life, LIFE_MIXED, n, abd_perf_life_size(n));
}

static void *abd_perf_life_reader(void *arg)
{
	struct abd_perf_life *life = arg;
	char *dst = malloc(65536);
	uint64_t random = 12345;

	abd_perf_crew_pin(life->other_cpu);
	while (dst != NULL && !atomic_load(&life->stop))
		abd_perf_life_get(life, abd_perf_life_pick(life, &random), dst);
	free(dst);
	return NULL;
}

static void *abd_perf_life_resizer(void *arg)
{
	struct abd_perf_life *life = arg;

	abd_perf_crew_pin(life->other_cpu);
	if (life->calls->resize(life->arc, life->capacity / life->resize) != 0)
		atomic_store(&life->wrong, true);
	return NULL;
}

/* What is resident because of the cache. */
static double abd_perf_life_resident(const struct abd_perf_life *life)
{
	return (double)abd_perf_env_resident(false) - life->base;
}

static struct abd_arc_stats abd_perf_life_stats(const struct abd_perf_life *life)
{
	struct abd_arc_stats stats = {.puts = 0};

	life->calls->stats_get(life->arc, &stats, sizeof(stats));
	return stats;
}

static void abd_perf_life_sample(struct abd_perf_life *life)
{
	double resident = abd_perf_life_resident(life);

	life->peak = resident > life->peak ? resident : life->peak;
	life->peak_now = resident > life->peak_now ? resident : life->peak_now;
}

static void abd_perf_life_moment(struct abd_perf_life *life, double time)
{
	abd_perf_life_sample(life);
	life->moment[life->moments++] =
		(struct abd_perf_life_moment){time, life->peak_now, abd_perf_life_stats(life),
			life->looked - life->looked_before, life->found - life->found_before};
	life->looked_before = life->looked;
	life->found_before = life->found;
	life->peak_now = 0;
}

static void abd_perf_life_add_moment(
	const struct abd_perf_life *life, const struct abd_perf_life_moment *moment)
{
	json_t *result = abd_perf_result_add("arc-life", "moment", "%.2f", moment->time);
	double part = 100 / (double)life->capacity;
	const struct abd_arc_stats *stats = &moment->stats;

	abd_perf_result_number(result, "time", moment->time);
	abd_perf_result_value(result, "capacity", "%", part * (double)stats->capacity_bytes);
	abd_perf_result_value(result, "resident", "%", part * moment->resident);
	abd_perf_result_value(result, "used", "%", part * (double)stats->used_bytes);
	if (stats->stored_bytes > 0)
		abd_perf_result_value(
			result, "records' bytes", "%", part * (double)stats->stored_bytes);
	if (moment->looked > 0)
		abd_perf_result_value(
			result, "hits", "%", 100 * (double)moment->found / (double)moment->looked);
}

/* Work for so many ns. The end is a moment, too: a busy machine may have had no other. */
static void abd_perf_life_work(
	struct abd_perf_life *life, const struct abd_perf_life_phase *phase, double ns)
{
	double start = abd_perf_clock_wall_ns(), now = start, sample = 0;
	unsigned moments = 0;

	for (; now < start + ns && !abd_perf_say_stopped(); now = abd_perf_clock_wall_ns()) {
		if (now > sample + ABD_PERF_LIFE_SAMPLE_NS) {
			abd_perf_life_sample(life);
			sample = now;
		}
		if (now > start + ns * (moments + 1) / ABD_PERF_LIFE_MOMENTS &&
			abd_perf_say_wanted())
			abd_perf_life_moment(
				life, (double)(phase - abd_perf_life_phases) +
					      (double)++moments / ABD_PERF_LIFE_MOMENTS);
		for (unsigned i = 0; i < 16; i++)
			abd_perf_life_step(life, phase->kind);
	}
	abd_perf_life_sample(life);
	if (abd_perf_say_wanted() && !abd_perf_say_stopped())
		abd_perf_life_moment(life, (double)(phase - abd_perf_life_phases) + 1);
}

static size_t abd_perf_life_hold(struct abd_perf_life *life)
{
	size_t held = 0;

	for (unsigned i = 0; i < ABD_PERF_LIFE_HOLDS; i++) {
		abd_arc_key_t key =
			abd_perf_life_key(LIFE_MIXED, abd_perf_life_pick(life, &life->random));

		held += life->calls->hold(life->arc, &key, &life->hold[held]) == 0;
	}
	return held;
}

static void abd_perf_life_add(const struct abd_perf_life *life,
	const struct abd_perf_life_phase *phase, const struct abd_arc_stats *before)
{
	json_t *result = abd_perf_result_add("arc-life", "phase", "%s", phase->name);
	double resident = abd_perf_life_resident(life);
	double puts = (double)life->wall.count;
	struct abd_arc_stats now = abd_perf_life_stats(life);
	double beyond =
		(double)now.used_bytes - (double)now.stored_bytes - 160 * (double)now.entries;

	abd_perf_result_number(result, "puts", puts);
	abd_perf_result_value(result, "resident, most", "%",
		100 * life->peak /
			(double)(phase->resize == 4 ? life->capacity : now.capacity_bytes));
	if (life->calls == &abd_perf_life_own) {
		abd_perf_result_number(result, "waits per 1000 puts",
			1000 * (double)(now.waits - before->waits) / puts);
		abd_perf_result_value(
			result, "resident_bytes", "%", 100 * (double)now.resident_bytes / resident);
		abd_perf_result_value(result, "waste", "%",
			100 * (beyond > 0 ? beyond : 0) / (double)now.used_bytes);
	}
	abd_perf_result_value(result, "p50", "ns", abd_perf_latency_percentile(&life->wall, 50));
	abd_perf_result_value(
		result, "p99.9", "ns", abd_perf_latency_percentile(&life->wall, 99.9));
	abd_perf_result_value(
		result, "p99.999", "ns", abd_perf_latency_percentile(&life->wall, 99.999));
	abd_perf_result_value(result, "longest", "ns", (double)life->wall.max_ns);
	abd_perf_result_value(
		result, "p99.999 CPU", "ns", abd_perf_latency_percentile(&life->cpu, 99.999));
	abd_perf_result_value(result, "longest CPU", "ns", (double)life->cpu.max_ns);
	if (life->looked > 0)
		abd_perf_result_value(
			result, "hits", "%", 100 * (double)life->found / (double)life->looked);
}

static void abd_perf_life_phase(
	struct abd_perf_life *life, const struct abd_perf_life_phase *phase, double ns)
{
	struct abd_arc_stats before = abd_perf_life_stats(life);
	pthread_t resizer;
	size_t held = 0;

	abd_perf_say_step("%s", phase->name);
	memset(&life->wall, 0, sizeof(life->wall));
	memset(&life->cpu, 0, sizeof(life->cpu));
	life->looked = life->found = life->looked_before = life->found_before = 0;
	life->peak = 0;
	life->resize = phase->resize;
	if (phase->holds)
		held = abd_perf_life_hold(life);
	if (phase->resize > 0 && pthread_create(&resizer, NULL, abd_perf_life_resizer, life) != 0)
		abd_perf_say_die(1, "a thread can't be started");
	abd_perf_life_work(life, phase, ns);
	if (phase->resize > 0)
		pthread_join(resizer, NULL);
	while (held > 0)
		life->calls->release(&life->hold[--held]);
	if (life->wall.count > 0 && !abd_perf_say_stopped() && abd_perf_say_wanted())
		abd_perf_life_add(life, phase, &before);
}

static double abd_perf_life_seconds(const struct abd_perf_options *options)
{
	if (options->runtime_s > 0)
		return options->runtime_s;
	return options->mode == ABD_PERF_FULL    ? ABD_PERF_LIFE_FULL_S
	       : options->mode == ABD_PERF_QUICK ? 0.2
						 : ABD_PERF_LIFE_NORMAL_S;
}

/* The cache that --cache names. It stays loaded. */
static const struct abd_perf_life_cache *abd_perf_life_load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	const struct abd_perf_life_cache *cache =
		library != NULL ? dlsym(library, "abd_perf_life_cache") : NULL;

	if (cache == NULL)
		abd_perf_say_die(EX_NOINPUT, "--cache: %s", dlerror());
	return cache;
}

static int abd_perf_life_run(const struct abd_perf_options *options)
{
	static struct abd_perf_life life;
	pthread_t reader;
	bool reads;

	/* Also so that all of it is resident before there is a cache. */
	memset(&life, 0, sizeof(life));
	life.calls =
		options->cache != NULL ? abd_perf_life_load(options->cache) : &abd_perf_life_own;
	life.capacity = (size_t)(options->mode == ABD_PERF_FULL ? 256 : 64) << 20;
	life.random = options->seed;
	life.other_cpu = options->cpus[options->cpu_count > 1];
	life.keys = life.capacity / 4096; /* some twice what fits */
	life.data = malloc(ABD_PERF_LIFE_DATA);
	life.record = malloc(65536);
	life.read = malloc(65536);
	if (life.data == NULL || life.record == NULL || life.read == NULL)
		abd_perf_say_die(1, "no memory for data");
	for (size_t i = 0; i < ABD_PERF_LIFE_DATA; i++)
		life.data[i] = (unsigned char)(abd_perf_random(&life.random) >> 32);
	memset(life.record, 1, 65536);
	memset(life.read, 1, 65536);
	/* What other scenarios left would go back to the system later, and count as the cache's. */
	abd_cache_reap_now();
	malloc_trim(0);
	life.base = (double)abd_perf_env_resident(false);
	life.arc = life.calls->create(life.capacity);
	if (life.arc == NULL)
		abd_perf_say_die(1, "no memory for a cache");
	abd_perf_say_begin("arc-life", (unsigned)ABD_PERF_LIFE_PHASES);
	reads = options->cpu_count > 1 &&
		pthread_create(&reader, NULL, abd_perf_life_reader, &life) == 0;
	for (size_t i = 0; i < ABD_PERF_LIFE_PHASES && !abd_perf_say_stopped(); i++)
		abd_perf_life_phase(
			&life, &abd_perf_life_phases[i], 1e9 * abd_perf_life_seconds(options));
	atomic_store(&life.stop, true);
	if (reads)
		pthread_join(reader, NULL);
	life.calls->destroy(life.arc);
	for (size_t i = 0; i < life.moments; i++)
		abd_perf_life_add_moment(&life, &life.moment[i]);
	free(life.record);
	free(life.read);
	free(life.data);
	return atomic_load(&life.wrong);
}

const struct abd_perf_scenario abd_perf_arc_life = {
	.name = "arc-life",
	.summary = "a cache's memory and times over phases: small, large, scan, resizes, holds",
	.uses = ABD_PERF_USES_CACHE,
	.normal_s = 8 * ABD_PERF_LIFE_NORMAL_S,
	.full_s = 8 * ABD_PERF_LIFE_FULL_S,
	.normal_phase_s = ABD_PERF_LIFE_NORMAL_S,
	.full_phase_s = ABD_PERF_LIFE_FULL_S,
	.run = abd_perf_life_run,
};
