/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three columns: whole cached reads of 8 KiB, holds and releases, and for comparison holds of a
 * cache that took a lock on each hit.
 */
#include "abd_perf_arc_scale_model.h"
#include "abd_perf_arc_scale_set.h"
#include "abd_perf_crew.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define ABD_PERF_MODEL_BATCH 64 /* hits told at once: the cache's default */
#define ABD_PERF_MODEL_CPUS 128
#define ABD_PERF_MODEL_STORED \
	2862                   /* bytes of memory that an 8 KiB record of fio's data is read from */
#define ABD_PERF_MODEL_LINES 3 /* of a record told: its own and its neighbours' in the list */

struct abd_perf_model {
	double line_ns; /* until a line that another CPU wrote last is here, to be written */
	double told_ns; /* telling one hit, the lists' lines being out of the cache */
	double read_ns, hold_ns;
};

/* ---- what is shared -------------------------------------------------------------------------- */

#define ABD_PERF_MODEL_TURNS 2000
#define ABD_PERF_MODEL_TRIES 200

static _Alignas(128) _Atomic uint64_t abd_perf_model_turn;

/* Two threads write one word in turns: each turn, the line comes over once. */
static double abd_perf_model_member(void *arg, unsigned member, uint64_t iterations)
{
	(void)arg;
	for (uint64_t i = member; i < iterations; i += 2) {
		while (atomic_load_explicit(&abd_perf_model_turn, memory_order_acquire) != i)
			continue;
		atomic_store_explicit(&abd_perf_model_turn, i + 1, memory_order_release);
	}
	return 1;
}

/*
 * The best of some hundred: a turn is slow when one of the two was interrupted, and never fast by
 * chance.
 */
static double abd_perf_model_line(const struct abd_perf_options *options)
{
	struct abd_perf_crew *crew = abd_perf_crew_make(2, options);
	double least_ns = 1e9;

	if (crew == NULL)
		abd_perf_say_die(1, "2 threads can't be started");
	for (unsigned i = 0; i < ABD_PERF_MODEL_TRIES; i++) {
		double start = abd_perf_clock_wall_ns(), ns;

		atomic_store(&abd_perf_model_turn, 0);
		abd_perf_crew_run(crew, abd_perf_model_member, NULL, ABD_PERF_MODEL_TURNS);
		ns = (abd_perf_clock_wall_ns() - start) / ABD_PERF_MODEL_TURNS;
		least_ns = ns < least_ns ? ns : least_ns;
	}
	abd_perf_crew_end(crew);
	return least_ns;
}

#define ABD_PERF_MODEL_KEYS 80000

struct abd_perf_model_hits {
	struct abd_perf_scale_set set;
	size_t at; /* all keys in turn while below the set's records, then some of them at random */
};

static double abd_perf_model_hit(void *arg, uint64_t iterations)
{
	struct abd_perf_model_hits *hits = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		size_t record =
			hits->at < hits->set.records
				? hits->at++
				: abd_perf_random_below(&hits->set.random, ABD_PERF_MODEL_KEYS);
		abd_arc_key_t key = abd_perf_scale_key(record);
		abd_arc_hold_t hold;

		if (abd_arc_hold(hits->set.arc, &key, &hold) == 0)
			abd_arc_release(&hold);
	}
	return abd_perf_clock_ns() - start;
}

/* How many of the hits so far were told. */
static double abd_perf_model_told_share(struct abd_perf_model_hits *hits)
{
	struct abd_arc_stats before, after;

	abd_arc_stats_get(hits->set.arc, &before, sizeof(before));
	abd_perf_model_hit(hits, 4 * ABD_PERF_MODEL_KEYS);
	abd_arc_stats_get(hits->set.arc, &after, sizeof(after));
	return (double)(after.hits_told - before.hits_told) / (double)(after.hits - before.hits);
}

/*
 * The same keys, in a cache of which they are most, so that hits on them are told, and in one of
 * which they are the newest fifth, so that none is. They and their neighbours in the lists are more
 * than the second-level cache holds.
 */
static double abd_perf_model_told(const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	static struct abd_perf_model_hits most, newest;
	const struct abd_perf_path path[] = {
		{"told", abd_perf_model_hit, &most}, {"not told", abd_perf_model_hit, &newest}};
	double ns[ABD_PERF_ROUNDS_MAX], told = 0;

	most.at = newest.at = 0;
	abd_perf_scale_set_make(&most.set, ABD_PERF_MODEL_KEYS * 5 / 4, sizeof(uint64_t), options);
	abd_perf_scale_set_make(&newest.set, ABD_PERF_MODEL_KEYS * 5, sizeof(uint64_t), options);
	abd_perf_model_hit(&most, most.set.records);
	abd_perf_model_hit(&newest, newest.set.records);

	/* The first look only brings the keys to the front. */
	abd_perf_model_told_share(&newest);
	double share = abd_perf_model_told_share(&most) - abd_perf_model_told_share(&newest);

	if (share > 0.1 && abd_perf_race_run(&race, path, 2, options)) {
		for (unsigned i = 0; i < race.rounds; i++)
			ns[i] = (race.ns[0][i] - race.ns[1][i]) / share;
		/* a difference of two: take its worst */
		told = abd_perf_stat(ns, race.rounds).high;
	}
	abd_perf_scale_set_free(&most.set);
	abd_perf_scale_set_free(&newest.set);
	return told > 0 ? told : 0;
}

/* ---- the model ------------------------------------------------------------------------------- */

/*
 * Visits per ns of n clients to one server: each thinks for think_ns, then is served for serve_ns.
 */
static double abd_perf_model_visits(unsigned n, double think_ns, double serve_ns)
{
	double waiting = 0, rate = 0;

	for (unsigned k = 1; k <= n; k++) {
		double response_ns = serve_ns * (1 + waiting);

		rate = k / (think_ns + response_ns);
		waiting = rate * response_ns;
	}
	return rate;
}

/* Hits per s of n CPUs, when a hit takes hit_ns without telling anybody. */
static double abd_perf_model_batched(const struct abd_perf_model *model, unsigned n, double hit_ns)
{
	double think_ns = ABD_PERF_MODEL_BATCH * (hit_ns + model->told_ns);

	return ABD_PERF_MODEL_BATCH *
	       abd_perf_model_visits(n, think_ns, n > 1 ? model->line_ns : 0) * 1e9;
}

/* The same where each hit takes a lock, and moves its record under it. */
static double abd_perf_model_locked(const struct abd_perf_model *model, unsigned n, double hit_ns)
{
	double line_ns = n > 1 ? model->line_ns : 0;

	return 1e9 * abd_perf_model_visits(n, hit_ns, model->told_ns + line_ns);
}

/*
 * How long a line may take before so many CPUs lose a tenth of what they would do without sharing
 * anything.
 */
static double abd_perf_model_line_most(
	const struct abd_perf_model *model, unsigned n, double hit_ns)
{
	double wanted = 0.9 * n * abd_perf_model_batched(model, 1, hit_ns), low = 0, high = 1e6;

	while (high - low > 0.1) {
		struct abd_perf_model other = *model;

		other.line_ns = (low + high) / 2;
		if (abd_perf_model_batched(&other, n, hit_ns) >= wanted)
			low = other.line_ns;
		else
			high = other.line_ns;
	}
	return low;
}

static double abd_perf_model_cost(const char *group, const char *figure)
{
	double ns = 0;

	/* The last of the group: the most records. */
	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (strcmp(result->scenario, "arc-scale") == 0 && strcmp(result->group, group) == 0)
			ns = abd_perf_result_find_figure(result, figure)->value.median;
	}
	return ns;
}

static void abd_perf_model_figure(struct abd_perf_result *result, const char *name, double value)
{
	/* Computed, not measured: no interval. */
	abd_perf_result_figure(result, name, "1/s",
		(struct abd_perf_summary){
			.median = value, .low = value, .high = value, .rounds = 1});
}

void abd_perf_scale_model(const struct abd_perf_options *options)
{
	struct abd_perf_model model = {.read_ns = abd_perf_model_cost("on top", "cache"),
		.hold_ns = abd_perf_model_cost("hit", "hold")};

	if (model.read_ns == 0 || model.hold_ns == 0)
		return; /* ended early */
	abd_perf_say_step("what hits share");
	model.line_ns = abd_perf_model_line(options);
	model.told_ns = abd_perf_model_told(options);
	for (unsigned n = 1; n <= ABD_PERF_MODEL_CPUS; n *= 2) {
		struct abd_perf_result *result =
			abd_perf_result_add("arc-scale", "model", "%u CPU%s", n, n > 1 ? "s" : "");
		double reads = abd_perf_model_batched(&model, n, model.read_ns);

		abd_perf_result_number(result, "cpus", n);
		abd_perf_result_number(result, "line_ns", model.line_ns);
		abd_perf_result_number(result, "told_ns", model.told_ns);
		abd_perf_result_number(result, "read_ns", model.read_ns);
		abd_perf_result_number(result, "hold_ns", model.hold_ns);
		abd_perf_result_number(result, "line_most_read_ns",
			abd_perf_model_line_most(&model, n, model.read_ns));
		abd_perf_result_number(result, "line_most_hold_ns",
			abd_perf_model_line_most(&model, n, model.hold_ns));
		abd_perf_result_number(result, "memory_GB/s", reads * ABD_PERF_MODEL_STORED / 1e9);
		abd_perf_model_figure(result, "reads", reads);
		abd_perf_model_figure(
			result, "holds", abd_perf_model_batched(&model, n, model.hold_ns));
		abd_perf_model_figure(result, "holds with a lock each",
			abd_perf_model_locked(&model, n, model.hold_ns));
	}
}
