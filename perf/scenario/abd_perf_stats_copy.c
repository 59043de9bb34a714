/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stats-copy: filling a caller's struct field by field through a guard, against filling one on the
 * stack and copying it once.
 *
 * Source: linux-kernel, "statx: optimize copy of struct statx to userspace", March 2017: 10,000,000
 * calls took 1.46 s with fstat, 5.53 s with statx and a guarded store per field, and 1.57 s with
 * statx and one copy of a struct filled on the stack. So abd_stats_get() copies once;
 * docs/one-copy.md explains it.
 */
#include "abd_perf_clock.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stats_copy_work.h"

#include <abd/abd.h>

#include <string.h>

enum { GUARDED, MEMSET, INITIALISER };

static const struct abd_perf_claim abd_perf_stats_claims[] = {
	{MEMSET, GUARDED, 0, "statx() 3.5 times as fast with one copy (5.53 s to 1.57 s)"},
	{INITIALISER, MEMSET, 0, "no difference: gcc 4.8 and 6.3 zeroed all 256 bytes for both"}};

/* ---- filling --------------------------------------------------------------------------------- */

struct abd_perf_stats_fill {
	bool (*fill)(struct abd_perf_stats_record *to, const struct abd_perf_stats_known *known);
	struct abd_perf_stats_known known;
	struct abd_perf_stats_record record;
	bool refused;
};

static double abd_perf_stats_fill_run(void *arg, uint64_t iterations)
{
	struct abd_perf_stats_fill *work = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		work->refused |= !work->fill(&work->record, &work->known);
		abd_perf_keep(work);
	}
	return abd_perf_clock_ns() - start;
}

static double abd_perf_stats_get_run(void *arg, uint64_t iterations)
{
	struct abd_stats *stats = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++) {
		abd_stats_get(stats, sizeof(*stats));
		abd_perf_keep(stats);
	}
	return abd_perf_clock_ns() - start;
}

/* Whether all ways write the same bytes as the first. */
static bool abd_perf_stats_check(struct abd_perf_stats_fill *work, bool plant)
{
	for (unsigned i = 0; i < ABD_PERF_STATS_WAYS; i++) {
		memset(&work[i].record, 0x5a, sizeof(work[i].record));
		abd_perf_stats_fill_run(&work[i], 1);
		if (plant && i == MEMSET)
			work[i].record.spare[13] = 1;
		if (work[i].refused ||
			memcmp(&work[i].record, &work[0].record, sizeof(work[i].record)) != 0) {
			abd_perf_say_warn(
				"'%s' filled the record wrong", abd_perf_stats_ways[i].name);
			return false;
		}
	}
	return true;
}

static void abd_perf_stats_fill_record(
	const struct abd_perf_race *race, const struct abd_perf_path *path)
{
	struct abd_perf_result *result =
		abd_perf_result_add("stats-copy", "fill", "filling a record of 256 bytes");

	abd_perf_result_number(result, "fields", 23);
	abd_perf_result_race(result, race, path, 0);
	abd_perf_result_claims(result, race, path, abd_perf_stats_claims, 2);
}

static int abd_perf_stats_fill(const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	static struct abd_perf_stats_fill work[ABD_PERF_STATS_WAYS];
	static struct abd_stats stats;
	struct abd_perf_path path[ABD_PERF_STATS_WAYS + 1];
	uint64_t random = options->seed;
	unsigned char known[sizeof(work[0].known)];

	abd_perf_say_step("filling a record of 256 bytes");
	for (size_t i = 0; i < sizeof(known); i++)
		known[i] = (unsigned char)abd_perf_random(&random);
	for (unsigned i = 0; i < ABD_PERF_STATS_WAYS; i++) {
		work[i].fill = abd_perf_stats_ways[i].fill;
		memcpy(&work[i].known, known, sizeof(known));
		path[i] = (struct abd_perf_path){
			abd_perf_stats_ways[i].name, abd_perf_stats_fill_run, &work[i]};
	}
	path[ABD_PERF_STATS_WAYS] =
		(struct abd_perf_path){"abd_stats_get", abd_perf_stats_get_run, &stats};
	if (!abd_perf_stats_check(work, options->plant))
		return 1;
	if (abd_perf_race_run(&race, path, ABD_PERF_STATS_WAYS + 1, options))
		abd_perf_stats_fill_record(&race, path);
	return 0;
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static int abd_perf_stats_copy_run(const struct abd_perf_options *options)
{
	abd_perf_say_begin("stats-copy", 1);
	return abd_perf_stats_fill(options);
}

const struct abd_perf_scenario abd_perf_stats_copy = {
	.name = "stats-copy",
	.summary = "filling a caller's record: guarded stores against one copy",
	.normal_s = 1,
	.full_s = 1,
	.run = abd_perf_stats_copy_run,
};
