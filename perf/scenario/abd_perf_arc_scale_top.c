/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same blocks, decoded in the same order: by their buffers' addresses, and through the cache.
 * All in one thread.
 */
#include "abd_perf_arc_scale_top.h"
#include "abd_perf_arc_cached_set.h"
#include "abd_perf_clock.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <stdlib.h>

struct abd_perf_scale_topping {
	const struct abd_perf_cached_set *set;
	unsigned mode;
	size_t at;
	char *dst;
	size_t errors;
};

static double abd_perf_scale_top_run(void *arg, uint64_t iterations)
{
	struct abd_perf_scale_topping *topping = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		topping->errors += !abd_perf_cached_record(
			topping->set, topping->mode, topping->at, topping->dst);
		topping->at = topping->at + 1 < topping->set->records ? topping->at + 1 : 0;
	}
	return abd_perf_clock_ns() - start;
}

static void abd_perf_scale_top_add(size_t records, const struct abd_perf_race *race)
{
	struct abd_perf_result *result =
		abd_perf_result_add("arc-scale", "on top", "%zu records", records);
	double ns[ABD_PERF_ROUNDS_MAX];

	for (unsigned i = 0; i < race->rounds; i++)
		ns[i] = race->ns[1][i] - race->ns[0][i];
	abd_perf_result_number(result, "records", (double)records);
	abd_perf_result_figure(result, "bare decode", "ns", abd_perf_race_ns(race, 0));
	abd_perf_result_figure(result, "cache", "ns", abd_perf_race_ns(race, 1));
	abd_perf_result_figure(result, "on top", "ns", abd_perf_stat(ns, race->rounds));
	abd_perf_result_ratio(result, "cache", "bare decode", abd_perf_race_ratio(race, 1, 0))
		->target = 1 / 1.03;
}

int abd_perf_scale_top(const struct abd_perf_options *options, size_t records)
{
	static struct abd_perf_race race;
	struct abd_perf_data data;
	struct abd_perf_cached_set set = {.options = options,
		.data = &data,
		.record_size = 8192,
		.records = records,
		.capacity = ((size_t)4 << 20) + records * 8192,
		.files = 1};
	char *dst = aligned_alloc(4096, set.record_size);
	struct abd_perf_scale_topping bare = {&set, CACHED_BARE, 0, dst, 0},
				      cache = {&set, CACHED_CACHE, 0, dst, 0};
	const struct abd_perf_path path[] = {{"bare decode", abd_perf_scale_top_run, &bare},
		{"cache", abd_perf_scale_top_run, &cache}};

	if (dst == NULL)
		abd_perf_say_die(1, "no memory to decode into");
	abd_perf_say_step("a cached read of %zu records", records);
	abd_perf_fio_make(&data, options, 64 * ABD_PERF_CACHED_MIB);
	abd_perf_cached_set_make(&set);
	if (abd_perf_race_run(&race, path, 2, options))
		abd_perf_scale_top_add(records, &race);
	abd_perf_cached_set_free(&set);
	free(data.bytes);
	free(dst);
	return bare.errors + cache.errors > 0;
}
