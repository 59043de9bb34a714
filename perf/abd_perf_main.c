/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd-perf: which scenarios to run, in what order, and what becomes of the results.
 * Exit status: 0; 1 wrong input or wrong results; 64 wrong flags; 130 ended by ctrl-C (what was measured is kept).
 */
#include "abd_perf_crew.h"
#include "abd_perf_data.h"
#include "abd_perf_env.h"
#include "abd_perf_json.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

static const struct abd_perf_scenario *abd_perf_find(const char *name)
{
	for (size_t i = 0; abd_perf_scenarios[i] != NULL; i++) {
		if (strcmp(abd_perf_scenarios[i]->name, name) == 0)
			return abd_perf_scenarios[i];
	}
	abd_perf_say_die(EX_USAGE, "no command or scenario is named '%s'; see abd-perf list", name);
}

static void abd_perf_list(void)
{
	for (size_t i = 0; abd_perf_scenarios[i] != NULL; i++) {
		const struct abd_perf_scenario *scenario = abd_perf_scenarios[i];

		printf("%-10s %s\n", scenario->name, scenario->summary);
		if (scenario->uses != 0)
			printf("%-10s also takes:%s%s%s%s\n", "",
				scenario->uses & ABD_PERF_USES_INPUT ? " --input" : "",
				scenario->uses & ABD_PERF_USES_RECORD_SIZE ? " --record-size" : "",
				scenario->uses & ABD_PERF_USES_THREADS ? " --threads" : "",
				scenario->uses & ABD_PERF_USES_WARMUP ? " --warmup" : "");
	}
}

/* A flag is refused when none of the scenarios to run can use it. */
static void abd_perf_check_flags(const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count)
{
	static const char *const flag[] = {"--input", "--threads", "--record-size", "--warmup"};
	unsigned used = 0;

	for (size_t i = 0; i < count; i++)
		used |= chosen[i]->uses;
	for (unsigned i = 0; i < sizeof(flag) / sizeof(flag[0]); i++) {
		if (options->given & ~used & 1u << i)
			abd_perf_say_die(EX_USAGE, "%s can't be used with %s", flag[i],
				count == 1 ? chosen[0]->name : "any of these scenarios");
	}
}

static size_t abd_perf_choose(
	const struct abd_perf_options *options, const struct abd_perf_scenario **chosen)
{
	size_t count = 0;

	if (strcmp(options->command, "run") != 0)
		chosen[count++] = abd_perf_find(options->command);
	for (unsigned i = 0; i < options->name_count; i++)
		chosen[count++] = abd_perf_find(options->names[i]);
	for (size_t i = 0; options->name_count == 0 && count == i && abd_perf_scenarios[i] != NULL;
		i++)
		chosen[count++] = abd_perf_scenarios[i];
	return count;
}

static void abd_perf_print_head(const struct abd_perf_options *options)
{
	const struct abd_perf_summary *noise = &abd_perf_race_noise;

	abd_perf_env_print();
	printf("%-16s %u, interleaved, of samples of at least 10 ms of CPU time; seed %lu\n",
		"rounds", abd_perf_options_rounds(options), (unsigned long)options->seed);
	if (noise->rounds > 0)
		printf("%-16s the same code against itself: %.3f [%.3f, %.3f]\n", "noise",
			noise->median, noise->low, noise->high);
	fflush(stdout);
}

static int abd_perf_run(const struct abd_perf_options *options)
{
	const struct abd_perf_scenario *chosen[ABD_PERF_NAMES_MAX + 1];
	size_t count = abd_perf_choose(options, chosen);
	int status = 0;

	abd_perf_check_flags(options, chosen, count);
	if (options->input != NULL)
		abd_perf_files_check(options->input);
	if (options->json != NULL)
		abd_perf_json_check(options->json);
	abd_perf_stop_install();
	abd_perf_env_look(options);
	abd_perf_crew_pin(options->cpus[0]);
	abd_perf_race_noise_measure(options);
	abd_perf_print_head(options);
	for (size_t i = 0; i < count && status == 0 && !abd_perf_stop_wanted(); i++) {
		status = chosen[i]->run(options);
		abd_perf_say_end();
		chosen[i]->print();
		fflush(stdout);
	}
	if (abd_perf_stop_wanted())
		printf("\nended early: the tables hold what was measured until then\n");
	if (options->json != NULL && status == 0) {
		int error = abd_perf_json_write(options, !abd_perf_stop_wanted());

		if (error != 0)
			abd_perf_say_die(1, "--json %s: %s; nothing is left of it", options->json,
				strerror(-error));
	}
	return status != 0 ? status : abd_perf_stop_wanted() ? 130 : 0;
}

int main(int argc, char **argv)
{
	static struct abd_perf_options options;
	bool measures;

	abd_perf_options_parse(&options, argc, argv);
	measures = strcmp(options.command, "list") != 0 && strcmp(options.command, "env") != 0;
	if (measures)
		return abd_perf_run(&options);
	if (options.name_count > 0)
		abd_perf_say_die(EX_USAGE, "'%s' takes no names", options.command);
	if (strcmp(options.command, "list") == 0) {
		abd_perf_list();
		return 0;
	}
	abd_perf_env_look(&options);
	abd_perf_env_print();
	return 0;
}
