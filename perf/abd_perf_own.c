/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scenario of a user's cases.
 */
#include "abd_perf.h"
#include "abd_perf_command.h"
#include "abd_perf_scenario.h"

#include <sysexits.h>

static struct {
	const char *name;
	size_t bytes;
	const struct abd_perf_case *cases;
	unsigned count;
} own;

static double own_time(void *arg, uint64_t iterations)
{
	const struct abd_perf_case *of = arg;
	double start = abd_perf_clock_ns();

	of->run(of->arg, iterations);
	return abd_perf_clock_ns() - start;
}

static int own_run(const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_case cases[ABD_PERF_PATHS_MAX];
	struct abd_perf_path path[ABD_PERF_PATHS_MAX];
	json_t *result;

	abd_perf_say_begin(own.name, 1);
	abd_perf_say_step("%u cases", own.count);
	for (unsigned i = 0; i < own.count; i++) {
		cases[i] = own.cases[i];
		path[i] = (struct abd_perf_path){cases[i].name, own_time, &cases[i]};
		if (cases[i].right != NULL && cases[i].right(cases[i].arg) == options->plant) {
			abd_perf_say_warn("%s does not do what it should", cases[i].name);
			return 1;
		}
	}
	if (!abd_perf_race_run(&race, path, own.count, options))
		return 0;
	result = abd_perf_result_add(own.name, "cases", "%s", own.name);
	abd_perf_result_race(result, &race, path, (double)own.bytes);
	for (unsigned i = 1; i < own.count; i++)
		abd_perf_result_claims(
			result, &race, path, &(struct abd_perf_claim){i, 0, 0, NULL}, 1);
	return 0;
}

int abd_perf_main(int argc, char **argv, const char *name, size_t bytes,
	const struct abd_perf_case *cases, unsigned count)
{
	static struct abd_perf_scenario scenario = {.summary = "this program's own cases",
		.normal_s = 1,
		.full_s = 2,
		.headline = {".*", 6, 1},
		.run = own_run};
	static const struct abd_perf_scenario *const list[] = {&scenario, NULL};

	if (count < 1 || count > ABD_PERF_PATHS_MAX)
		abd_perf_say_die(EX_USAGE, "%s has %u cases: 1 to %u can be measured", name, count,
			ABD_PERF_PATHS_MAX);
	scenario.name = name;
	own.name = name;
	own.bytes = bytes;
	own.cases = cases;
	own.count = count;
	return abd_perf_command(argc, argv, list, NULL);
}
