/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First abd-perf looks at the machine and races A against A, which shows how far the figures can be
 * trusted. Then it measures scenario by scenario.
 * Invariant: what was measured is written, even when ctrl-C or a lack of memory ends measuring
 * early; a step whose output was wrong has no figures, ends its scenario, and no other.
 */
#include "abd_perf_command.h"
#include "abd_perf_process.h"
#include "abd_perf_after.h"
#include "abd_perf_crew.h"
#include "abd_perf_data.h"
#include "abd_perf_json.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sysexits.h>

/* A regular expression that matches the steps of these scenarios' claims, or of their headlines. */
static const char *abd_perf_run_steps(const struct abd_perf_scenario *const *chosen, size_t count,
	bool claims, char *text, size_t room)
{
	size_t at = (size_t)snprintf(text, room, "^(");

	for (size_t i = 0; i < count && at < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%s",
			claims ? chosen[i]->claim.steps : chosen[i]->headline.steps,
			i + 1 < count ? "|" : ")$");
	return text;
}

/* `run sources`: of the scenarios that measure a source's claim the steps that do. */
static size_t abd_perf_run_choose_sources(
	struct abd_perf_options *options, const struct abd_perf_scenario **chosen)
{
	static char filter[512];
	size_t count = 0;

	for (size_t i = 0; abd_perf_scenarios[i] != NULL; i++)
		if (abd_perf_scenarios[i]->claim.steps != NULL)
			chosen[count++] = abd_perf_scenarios[i];
	if (count == 0 || options->name_count > 1)
		abd_perf_say_die(EX_USAGE,
			count == 0 ? "this program has no sources" : "sources takes no other name");
	options->sources = options->filter == NULL;
	if (options->sources)
		options->filter = abd_perf_run_steps(chosen, count, true, filter, sizeof(filter));
	return count;
}

static size_t abd_perf_run_choose(
	struct abd_perf_options *options, const struct abd_perf_scenario **chosen)
{
	size_t count = 0;

	for (unsigned i = 0; i < options->name_count; i++) {
		if (strcmp(options->names[i], "sources") == 0)
			return abd_perf_run_choose_sources(options, chosen);
		chosen[count++] = abd_perf_scenario_find(options->names[i]);
		if (chosen[i] == NULL)
			abd_perf_say_die(EX_USAGE, "no scenario is named '%s'; see abd-perf list",
				options->names[i]);
	}
	for (size_t i = 0; options->name_count == 0 && abd_perf_scenarios[i] != NULL; i++)
		chosen[count++] = abd_perf_scenarios[i];
	return count;
}

/* Refuse a flag that none of the chosen scenarios can use. */
static void abd_perf_run_check_flags(const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count)
{
	unsigned used = 0;

	for (size_t i = 0; i < count; i++)
		used |= chosen[i]->uses;
	for (unsigned i = 0; i < ABD_PERF_USES; i++) {
		if (options->given & ~used & 1u << i)
			abd_perf_say_die(EX_USAGE, "%s can't be used with %s",
				abd_perf_options_uses[i],
				count == 1 ? chosen[0]->name : "any of these scenarios");
	}
}

/* Find mistakes before measuring starts, which takes long. */
static void abd_perf_run_check(const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count)
{
	if (options->process == 1) /* those of another process are among its scenarios' */
		abd_perf_run_check_flags(options, chosen, count);
	abd_perf_say_filter(options->filter);
	if (options->input != NULL)
		abd_perf_files_check(options->input);
	if (options->process == 1)
		abd_perf_after_check(options);
}

/* Whether only the rows of the headline are measured in several processes. */
static bool abd_perf_run_headline_only(const struct abd_perf_options *options)
{
	if (options->processes != 0 || options->mode == ABD_PERF_LONG)
		return false;
	return options->sources || (options->name_count == 0 && options->filter == NULL);
}

/*
 * How long a scenario takes a process: the time its record gives, scaled by --repeat and --runtime.
 * again: it is not the first process.
 */
static double abd_perf_run_seconds(const struct abd_perf_scenario *scenario,
	const struct abd_perf_options *options, bool again)
{
	const struct abd_perf_options as_planned = {
		.mode = options->mode == ABD_PERF_FULL ? ABD_PERF_FULL : ABD_PERF_NORMAL};
	double seconds = again && abd_perf_run_headline_only(options) ? scenario->headline.seconds
			 : options->sources                           ? scenario->claim.seconds
			 : options->quick                             ? scenario->normal_s
								      : scenario->full_s;
	double phase_s = options->quick ? scenario->normal_phase_s : scenario->full_phase_s;
	double rounds =
		(double)abd_perf_options_rounds(options) / abd_perf_options_rounds(&as_planned);
	double sample =
		abd_perf_options_sample_ns(options, 4) / abd_perf_options_sample_ns(&as_planned, 4);

	if (phase_s > 0)
		return options->runtime_s > 0 ? seconds * options->runtime_s / phase_s : seconds;
	/* About a third of the time is set-up and calibration, which do not scale. */
	return seconds * (1 + 2 * rounds * sample) / 3;
}

static unsigned abd_perf_run_processes(
	const struct abd_perf_scenario *scenario, const struct abd_perf_options *options)
{
	if (options->processes != 0)
		return options->processes;
	if (options->mode == ABD_PERF_LONG)
		return scenario->headline.processes > 6 ? scenario->headline.processes : 6;
	if (options->name_count > 0 && !options->sources)
		return 3;
	if (options->mode == ABD_PERF_QUICK)
		return scenario->headline.steps != NULL ? 3 : 1;
	if (options->sources && scenario->headline.processes > 6)
		return 6; /* as few as give an interval of their medians: a minute for all */
	return scenario->headline.steps != NULL ? scenario->headline.processes : 1;
}

static void abd_perf_run_announce(const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count)
{
	double total_s = 0;
	char text[32];

	for (size_t i = 0; i < count; i++)
		total_s += abd_perf_run_seconds(chosen[i], options, false) +
			   abd_perf_run_seconds(chosen[i], options, true) *
				   (abd_perf_run_processes(chosen[i], options) - 1);
	if (options->filter != NULL && !options->sources) {
		fprintf(stderr, "abd-perf: this will take a part of %s\n",
			abd_perf_say_time(total_s, text, sizeof(text)));
		return; /* the share that --filter selects is not known: show no time left */
	}
	/* what the same code against itself makes takes as long as a comparison */
	fprintf(stderr,
		"abd-perf: this will take about %s; ctrl-C ends early and keeps what was measured\n",
		abd_perf_say_time(total_s + options->runtime_s, text, sizeof(text)));
	abd_perf_say_plan(total_s);
}

static void abd_perf_run_print_head(const struct abd_perf_options *options)
{
	const struct abd_perf_summary *noise = &abd_perf_race_noise;

	abd_perf_env_print();
	printf("%-16s %u, interleaved, of samples of at least %.0f ms of CPU time; seed %lu\n",
		"rounds", abd_perf_options_rounds(options),
		abd_perf_options_sample_ns(options, ABD_PERF_PATHS_MAX) / 1e6,
		(unsigned long)options->seed);
	if (noise->rounds > 0)
		printf("%-16s the same code against itself: %.3f [%.3f, %.3f]\n", "noise",
			noise->median, noise->low, noise->high);
	fflush(stdout);
}

/*
 * Measure. Returns 0; 1 when a result was wrong; ABD_PERF_LEFT_OUT when all that was measured is
 * right, but a scenario had nothing to measure with: it is then no longer among those chosen.
 */
static int abd_perf_run_all(const struct abd_perf_options *options,
	const struct abd_perf_scenario **chosen, size_t *count)
{
	size_t left = 0, of = *count;
	int status = 0;

	for (size_t i = 0; i < of && !abd_perf_say_stopped(); i++) {
		abd_perf_say_part(abd_perf_run_seconds(chosen[i], options, options->process > 1));

		int ended = chosen[i]->run(options);

		if (ended != 0 && ended != ABD_PERF_LEFT_OUT)
			abd_perf_result_wrong(chosen[i]->name);
		if (ended != 0)
			status = ended == ABD_PERF_LEFT_OUT && status != 1 ? ended : 1;
		if (ended != ABD_PERF_LEFT_OUT)
			chosen[left++] = chosen[i];
		abd_perf_say_end();
	}
	*count = left;
	if (status == 0 && options->filter != NULL && !abd_perf_say_stopped() &&
		abd_perf_say_wanted_steps() == 0) {
		abd_perf_say_error("--filter '%s' left nothing to measure", options->filter);
		status = 1;
	}
	return status;
}

/* Returns an exit status. */
static int abd_perf_run_write(const struct abd_perf_options *options, bool complete)
{
	char *json = abd_perf_json_text(options, complete);
	int status;

	if (json == NULL)
		abd_perf_say_die(1, "no memory for the figures");
	status = abd_perf_after_finish(json, options);
	if (!complete)
		printf("\nended early: the tables hold what was measured until then\n");
	free(json);
	return status != 0;
}

static const struct abd_perf_options *abd_perf_run_options;

/* Address space that is given back when there is no more of it: writing needs some. */
#define ABD_PERF_RUN_RESERVE ((size_t)8 << 20)
static void *abd_perf_run_reserve;

/* A scenario can't go on: what others measured before is kept. */
static void abd_perf_run_died(void)
{
	abd_perf_say_dying = NULL;
	if (abd_perf_run_reserve != MAP_FAILED)
		munmap(abd_perf_run_reserve, ABD_PERF_RUN_RESERVE);
	if (json_array_size(abd_perf_result_list()) > 0)
		abd_perf_run_write(abd_perf_run_options, false);
}

/* Whether a word of the command line names a scenario, and is no flag or a flag's value. */
static bool abd_perf_run_is_name(const struct abd_perf_options *options, const char *word)
{
	for (unsigned i = 0; i < options->name_count; i++)
		if (options->names[i] == word)
			return true;
	return false;
}

/*
 * Start this program again with its command line argv, to measure the chosen scenarios, and read
 * its figures. number: which process it is, from 2 on. It gets our flags, the names of the chosen
 * scenarios, then what differs in it; of two flags the last counts. Returns its results as JSON,
 * which the caller frees; NULL: it gave none, and *status is not 0. A warning says why.
 */
static char *abd_perf_run_child(char **argv, const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count, unsigned number, int *status)
{
	const char *words[256] = {"/proc/self/exe", "run"};
	char flag[2][32], filter[512], headline[512 + 16], *text = NULL;
	size_t n = 2, room = 0;

	for (size_t i = 1; argv[i] != NULL && n < 200; i++)
		if (!abd_perf_run_is_name(options, argv[i]))
			words[n++] = argv[i];
	for (size_t i = 0; i < count; i++)
		words[n++] = chosen[i]->name;
	snprintf(flag[0], sizeof(flag[0]), "--as-process=%u", number);
	words[n++] = flag[0];
	snprintf(flag[1], sizeof(flag[1]), "--left=%.3f", abd_perf_say_left());
	if (abd_perf_say_left() > 0)
		words[n++] = flag[1];
	snprintf(headline, sizeof(headline), "--filter=%s",
		abd_perf_run_steps(chosen, count, !abd_perf_run_headline_only(options), filter,
			sizeof(filter)));
	if (options->sources || abd_perf_run_headline_only(options))
		words[n] = headline;

	struct abd_perf_process process = abd_perf_process_start(words, "r");

	if (process.pipe == NULL || getdelim(&text, &room, '\0', process.pipe) <= 0) {
		free(text);
		text = NULL;
	}
	*status = abd_perf_process_end(&process);
	if (text == NULL)
		abd_perf_say_warn("process %u gave no figures (%s): those of the processes before "
				  "it are kept",
			number,
			*status == 127  ? "it can't be started"
			: *status > 128 ? strsignal(*status - 128)
					: "it ended early");
	if (text == NULL && *status == 0)
		*status = 1;
	return text;
}

/*
 * Measure in other processes what was measured in this one. One that fails costs its own figures,
 * but not those of the others.
 */
static int abd_perf_run_more(char **argv, const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count)
{
	const struct abd_perf_scenario *again[ABD_PERF_NAMES_MAX];
	int status = 0;

	for (unsigned number = 2; !abd_perf_say_stopped() && status == 0; number++) {
		size_t many = 0;
		double seconds = 0;

		for (size_t i = 0; i < count; i++) {
			if (abd_perf_run_processes(chosen[i], options) < number)
				continue;
			again[many++] = chosen[i];
			seconds += abd_perf_run_seconds(chosen[i], options, true);
		}
		if (many == 0)
			break;
		abd_perf_say_part(seconds);

		char *text = abd_perf_run_child(argv, options, again, many, number, &status);

		if (text != NULL && !abd_perf_json_add(text) && status == 0)
			status = 1;
		free(text);
	}
	return status;
}

/* A process that another one started: it measures, and its figures go to that one. */
static int abd_perf_run_as_child(const struct abd_perf_options *options,
	const struct abd_perf_scenario **chosen, size_t count)
{
	char *json;
	int status;

	fprintf(stderr, "abd-perf: process %u\n", options->process);
	if (options->left_s > 0)
		abd_perf_say_plan(options->left_s);
	status = abd_perf_run_all(options, chosen, &count);
	json = status == 0 ? abd_perf_json_text(options, !abd_perf_say_stopped()) : NULL;
	if (json != NULL && (fputs(json, stdout) < 0 || fflush(stdout) != 0))
		status = 1;
	free(json);
	return abd_perf_say_stopped() ? 130 : status;
}

int abd_perf_run(int argc, char **argv)
{
	static struct abd_perf_options options;
	const struct abd_perf_scenario *chosen[ABD_PERF_NAMES_MAX];
	bool left_out;
	size_t count;
	int status;

	abd_perf_options_run(&options, argc, argv);
	count = abd_perf_run_choose(&options, chosen);
	abd_perf_run_check(&options, chosen, count);
	abd_perf_place_layout(options.process);
	abd_perf_say_stoppable();
	if (options.process > 1) {
		abd_perf_crew_pin(options.cpus[0]);
		return abd_perf_run_as_child(&options, chosen, count);
	}
	abd_perf_run_announce(&options, chosen, count);
	abd_perf_env_look(&options);
	abd_perf_crew_pin(options.cpus[0]);
	abd_perf_race_noise_measure(&options);
	abd_perf_run_print_head(&options);
	abd_perf_run_options = &options;
	abd_perf_run_reserve =
		mmap(NULL, ABD_PERF_RUN_RESERVE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	abd_perf_say_dying = abd_perf_run_died;
	status = abd_perf_run_all(&options, chosen, &count);
	left_out = status == ABD_PERF_LEFT_OUT;
	abd_perf_say_dying = NULL;
	if (status != 0 && json_array_size(abd_perf_result_list()) == 0)
		return 1;
	if (status != 1)
		status = abd_perf_run_more(argv, &options, chosen, count);
	if (status == 0 && left_out)
		status = 1;
	abd_perf_env_look_back(&options);
	if (abd_perf_run_write(&options, !abd_perf_say_stopped()) != 0 && status == 0)
		status = 1;
	return abd_perf_say_stopped() ? 130 : status;
}
