/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three columns: whole cached reads of 8 KiB, holds and releases, and for comparison holds of a cache that took a lock on each hit.
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
	double line_ns; /* an atomic operation on a line that another CPU wrote last */
	double told_ns; /* telling one hit, in one thread */
	double read_ns, hold_ns;
};

/* ---- what is shared ---------------------------------------------------------------------------------------------------- */

static _Alignas(128) _Atomic uint64_t abd_perf_model_word;

static double abd_perf_model_member(void *arg, unsigned member, uint64_t iterations)
{
	double start = abd_perf_clock_ns();

	(void)arg, (void)member;
	for (uint64_t i = 0; i < iterations; i++)
		atomic_fetch_add(&abd_perf_model_word, 1);
	return abd_perf_clock_ns() - start;
}

/* The crew's ns per operation are those of the line: it can serve one at a time. */
static double abd_perf_model_line(const struct abd_perf_options *options)
{
	struct abd_perf_crew *crew = abd_perf_crew_make(2, options);
	double ns[ABD_PERF_ROUNDS_MAX];
	unsigned rounds = abd_perf_options_rounds(options);

	if (crew == NULL)
		abd_perf_say_die(1, "2 threads can't be started");
	for (unsigned i = 0; i < rounds; i++)
		ns[i] = abd_perf_crew_run(crew, abd_perf_model_member, NULL, 100000) / 100000;
	abd_perf_crew_end(crew);
	return abd_perf_stat(ns, rounds).median;
}

struct abd_perf_model_hits {
	struct abd_perf_scale_set *set;
	size_t keys;
};

static double abd_perf_model_hit(void *arg, uint64_t iterations)
{
	const struct abd_perf_model_hits *hits = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		abd_arc_key_t key =
			abd_perf_scale_key(abd_perf_random_below(&hits->set->random, hits->keys));
		abd_arc_hold_t hold;

		if (abd_arc_hold(hits->set->arc, &key, &hold) == 0)
			abd_arc_release(&hold);
	}
	return abd_perf_clock_ns() - start;
}

/* Hits on 1,000 records, of which three quarters are told, against hits on 200, which are always among the newest quarter. */
static double abd_perf_model_told(const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_scale_set set;
	struct abd_perf_model_hits all = {&set, 1000}, newest = {&set, 200};
	const struct abd_perf_path path[] = {
		{"told", abd_perf_model_hit, &all}, {"not told", abd_perf_model_hit, &newest}};
	struct abd_arc_stats stats;
	double ns[ABD_PERF_ROUNDS_MAX], told = 0;

	abd_perf_scale_set_make(&set, 1000, sizeof(uint64_t), options);
	abd_perf_model_hit(&all, 100000);
	if (abd_perf_race_run(&race, path, 2, options)) {
		uint64_t before, hits;

		abd_arc_stats_get(set.arc, &stats, sizeof(stats));
		before = stats.hits_told;
		hits = stats.hits;
		abd_perf_model_hit(&all, 100000);
		abd_arc_stats_get(set.arc, &stats, sizeof(stats));
		double share = (double)(stats.hits_told - before) / (double)(stats.hits - hits);

		for (unsigned i = 0; i < race.rounds; i++)
			ns[i] = (race.ns[0][i] - race.ns[1][i]) / share;
		told = abd_perf_stat(ns, race.rounds).median;
	}
	abd_perf_scale_set_free(&set);
	return told > 0 ? told : 0;
}

/* ---- the model ----------------------------------------------------------------------------------------------------------- */

/* Visits per ns of n clients to one server: each thinks for think_ns, then is served for serve_ns. */
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
	double told_ns = model->told_ns + (n > 1 ? ABD_PERF_MODEL_LINES * model->line_ns : 0);
	double think_ns = ABD_PERF_MODEL_BATCH * (hit_ns + told_ns);

	return ABD_PERF_MODEL_BATCH *
	       abd_perf_model_visits(n, think_ns, n > 1 ? model->line_ns : 0) * 1e9;
}

/* The same where each hit takes a lock, and moves its record under it. */
static double abd_perf_model_locked(const struct abd_perf_model *model, unsigned n, double hit_ns)
{
	double line_ns = n > 1 ? model->line_ns : 0;

	return 1e9 * abd_perf_model_visits(
			     n, hit_ns, model->told_ns + (1 + ABD_PERF_MODEL_LINES) * line_ns);
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
	abd_perf_result_figure(
		result, name, "1/s", (struct abd_perf_summary){value, value, value, 0, 1});
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
		abd_perf_result_number(result, "memory_GB/s", reads * ABD_PERF_MODEL_STORED / 1e9);
		abd_perf_model_figure(result, "reads", reads);
		abd_perf_model_figure(
			result, "holds", abd_perf_model_batched(&model, n, model.hold_ns));
		abd_perf_model_figure(result, "holds with a lock each",
			abd_perf_model_locked(&model, n, model.hold_ns));
	}
}
