/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All threads work until a common deadline. Rates are by the wall clock, so a writer that waits for
 * the lock counts as slow. The times of a put and of a read are CPU time, which other processes on
 * the machine don't change.
 */
#include "abd_perf_arc_scale_write.h"
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_clock.h"
#include "abd_perf_crew.h"
#include "abd_perf_data.h"
#include "abd_perf_filter.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <stdlib.h>
#include <time.h>

#define ABD_PERF_SCALE_MEMBERS 4
#define ABD_PERF_SCALE_KEEP 100000 /* records that fit */
#define ABD_PERF_SCALE_HOT 10000   /* those of them that are read */

struct abd_perf_scale_writing {
	abd_arc_t *arc;
	const struct abd_perf_data *data;
	size_t record_size;
	unsigned writers;
	double deadline_ns;
	struct {
		_Alignas(128) uint64_t done, misses; /* in this slice */
		uint64_t next, random;
		double cpu_ns; /* in this slice */
	} member[ABD_PERF_SCALE_MEMBERS];
};

static abd_arc_key_t abd_perf_scale_hot(uint64_t record)
{
	return (abd_arc_key_t){2, {record * 8, 0}, 1};
}

static void abd_perf_scale_put(struct abd_perf_scale_writing *writing, unsigned member)
{
	uint64_t record = writing->member[member].next++ * ABD_PERF_SCALE_MEMBERS + member;
	abd_arc_key_t key = abd_perf_cached_key(record);
	size_t pieces = writing->data->size / writing->record_size;

	if (abd_arc_put(writing->arc, &key,
		    writing->data->bytes + record % pieces * writing->record_size,
		    writing->record_size) != 0)
		abd_perf_say_die(1, "no memory for a record");
}

/* Read one of the hot records. They are read all the time, so the policy keeps them. */
static bool abd_perf_scale_get(struct abd_perf_scale_writing *writing, unsigned member, char *dst)
{
	uint64_t *random = &writing->member[member].random;
	abd_arc_key_t key = abd_perf_scale_hot(abd_perf_random_below(random, ABD_PERF_SCALE_HOT));

	return abd_arc_read(writing->arc, &key, dst, 0, writing->record_size) > 0;
}

static double abd_perf_scale_member(void *arg, unsigned member, uint64_t iterations)
{
	struct abd_perf_scale_writing *writing = arg;
	char *dst = malloc(writing->record_size);
	double begun = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID);
	uint64_t done = 0, misses = 0;

	(void)iterations;
	if (dst == NULL)
		abd_perf_say_die(1, "no memory for a record");
	do { /* at least once, even if this thread begins late */
		for (unsigned i = 0; i < 16; i++) {
			if (member < writing->writers)
				abd_perf_scale_put(writing, member);
			else
				misses += !abd_perf_scale_get(writing, member, dst);
		}
		done += 16;
	} while (abd_perf_clock_wall_ns() < writing->deadline_ns);
	free(dst);
	writing->member[member].done = done;
	writing->member[member].misses = misses;
	writing->member[member].cpu_ns = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID) - begun;
	return 1;
}

struct abd_perf_scale_rates {
	double puts[ABD_PERF_ROUNDS_MAX], evictions[ABD_PERF_ROUNDS_MAX],
		reads[ABD_PERF_ROUNDS_MAX];
	double put_ns[ABD_PERF_ROUNDS_MAX], read_ns[ABD_PERF_ROUNDS_MAX];
};

static void abd_perf_scale_slice(struct abd_perf_scale_writing *writing, struct abd_perf_crew *crew,
	unsigned members, struct abd_perf_scale_rates *rates, unsigned round)
{
	double start = abd_perf_clock_wall_ns(), s;
	struct abd_arc_stats before, after;
	uint64_t puts = 0, reads = 0;
	double put_ns = 0, read_ns = 0;

	abd_arc_stats_get(writing->arc, &before, sizeof(before));
	writing->deadline_ns = start + 100e6;
	abd_perf_crew_run(crew, abd_perf_scale_member, writing, 1);
	s = (abd_perf_clock_wall_ns() - start) / 1e9;
	abd_arc_stats_get(writing->arc, &after, sizeof(after));
	for (unsigned i = 0; i < members; i++) {
		if (i < writing->writers) {
			puts += writing->member[i].done;
			put_ns += writing->member[i].cpu_ns;
		} else {
			reads += writing->member[i].done - writing->member[i].misses;
			read_ns += writing->member[i].cpu_ns;
		}
	}
	rates->put_ns[round] = put_ns / (double)puts;
	rates->read_ns[round] = reads > 0 ? read_ns / (double)reads : 0;
	rates->puts[round] = (double)puts / s;
	rates->reads[round] = (double)reads / s;
	rates->evictions[round] = (double)(after.evictions - before.evictions) / s;
}

static void abd_perf_scale_crew(const struct abd_perf_options *options,
	struct abd_perf_scale_writing *writing, unsigned readers)
{
	static struct abd_perf_scale_rates rates;
	unsigned members = writing->writers + readers;
	struct abd_perf_crew *crew = abd_perf_crew_make(members, options);
	unsigned rounds = abd_perf_options_rounds(options), done = 0;

	if (crew == NULL)
		abd_perf_say_die(1, "%u threads can't be started", members);
	abd_perf_scale_slice(writing, crew, members, &rates, 0); /* warms up */
	for (; done < rounds && !abd_perf_stop_wanted(); done++)
		abd_perf_scale_slice(writing, crew, members, &rates, done);
	abd_perf_crew_end(crew);
	if (done == 0)
		return;

	char size[24];
	struct abd_perf_result *result =
		abd_perf_result_add("arc-scale", "writing", "%s, %u writer%s, %u reader%s",
			abd_perf_options_size_text(writing->record_size, size, sizeof(size)),
			writing->writers, writing->writers > 1 ? "s" : "", readers,
			readers != 1 ? "s" : "");

	abd_perf_result_size(result, "record_size", writing->record_size);
	abd_perf_result_number(result, "writers", writing->writers);
	abd_perf_result_number(result, "readers", readers);
	abd_perf_result_figure(result, "puts", "1/s", abd_perf_stat(rates.puts, done));
	abd_perf_result_figure(result, "evictions", "1/s", abd_perf_stat(rates.evictions, done));
	abd_perf_result_figure(result, "a put", "ns", abd_perf_stat(rates.put_ns, done));
	if (readers == 0)
		return;
	abd_perf_result_figure(result, "reads", "1/s", abd_perf_stat(rates.reads, done));
	abd_perf_result_figure(result, "a read", "ns", abd_perf_stat(rates.read_ns, done));
}

/* Put the hot records, and use each again; then put more until the cache evicts. */
static void abd_perf_scale_write_fill(struct abd_perf_scale_writing *writing)
{
	/* A read within 62 ms of the put would count as the same use. */
	const struct timespec later = {.tv_nsec = 100000000};
	struct abd_arc_stats stats;
	bool done = true;
	char byte;

	for (uint64_t i = 0; i < ABD_PERF_SCALE_HOT; i++) {
		abd_arc_key_t key = abd_perf_scale_hot(i);

		done &= abd_arc_put(writing->arc, &key, writing->data->bytes,
				writing->record_size) == 0;
	}
	nanosleep(&later, NULL);
	for (uint64_t i = 0; i < ABD_PERF_SCALE_HOT; i++) {
		abd_arc_key_t key = abd_perf_scale_hot(i);

		done &= abd_arc_read(writing->arc, &key, &byte, 0, 1) == 1;
	}
	if (!done)
		abd_perf_say_die(1, "no memory for a record");

	do {
		for (unsigned i = 0; i < 1000; i++)
			abd_perf_scale_put(writing, 0);
		abd_arc_stats_get(writing->arc, &stats, sizeof(stats));
	} while (stats.evictions < 1000);
}

void abd_perf_scale_write(const struct abd_perf_options *options, size_t record_size)
{
	size_t stored = record_size < 1536 ? 64 + record_size : 4096;
	struct abd_arc_config config = {.config_size = sizeof(config),
		.capacity_bytes = ABD_PERF_SCALE_KEEP * (stored + 200)};
	struct abd_perf_data data;
	struct abd_perf_scale_writing writing = {.data = &data, .record_size = record_size};

	abd_perf_fio_make(&data, options, (size_t)8 << 20);
	writing.arc = abd_arc_create(&config);
	if (writing.arc == NULL)
		abd_perf_say_die(1, "no memory for a cache");
	for (unsigned i = 0; i < ABD_PERF_SCALE_MEMBERS; i++)
		writing.member[i].random = options->seed + i;
	writing.writers = 1;
	abd_perf_scale_write_fill(&writing);
	for (unsigned writers = 1; writers <= 2; writers++) {
		for (unsigned readers = 0; readers <= writers && !abd_perf_stop_wanted();
			readers += writers) {
			abd_perf_say_step("%u writers, %u readers", writers, readers);
			writing.writers = writers;
			if (abd_perf_filter_passes())
				abd_perf_scale_crew(options, &writing, readers);
		}
	}
	abd_arc_destroy(writing.arc);
	free(data.bytes);
}
