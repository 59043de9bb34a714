/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out which command is meant. Each command reads its own command line.
 */
#include "abd_perf_command.h"
#include "abd_perf_after.h"
#include "abd_perf_scenario.h"

#include <abd/version.h>

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

const struct abd_perf_scenario *const *abd_perf_scenarios;

const struct abd_perf_scenario *abd_perf_scenario_find(const char *name)
{
	for (size_t i = 0; abd_perf_scenarios[i] != NULL; i++) {
		if (strcmp(abd_perf_scenarios[i]->name, name) == 0)
			return abd_perf_scenarios[i];
	}
	return NULL;
}

/* ---- list and env ---------------------------------------------------------------------------- */

static const struct argp abd_perf_list_argp = {
	.doc = "The scenarios: what each measures, and the flags that only some can use.\v"
	       "Example:\n"
	       "  abd-perf list",
};

/* The exit status of a command that has printed everything. */
static int abd_perf_printed(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	abd_perf_say_error("standard output: %s", strerror(errno));
	return 1;
}

static int abd_perf_list(int argc, char **argv)
{
	char text[32];

	argp_parse(&abd_perf_list_argp, argc, argv, 0, NULL, NULL);
	for (size_t i = 0; abd_perf_scenarios[i] != NULL; i++) {
		const struct abd_perf_scenario *scenario = abd_perf_scenarios[i];

		printf("%-16s %s\n", scenario->name, scenario->summary);
		printf("%-16s about %s", "",
			abd_perf_say_time(scenario->normal_s, text, sizeof(text)));
		printf(", --full %s", abd_perf_say_time(scenario->full_s, text, sizeof(text)));
		for (unsigned use = 0, said = 0; use < ABD_PERF_USES; use++)
			if (scenario->uses >> use & 1)
				printf("%s %s", said++ == 0 ? "; also takes" : "",
					abd_perf_options_uses[use]);
		printf("\n");
		if (scenario->headline.steps != NULL)
			printf("%-16s in several processes: %s\n", "", scenario->headline.steps);
	}
	return abd_perf_printed();
}

static int abd_perf_env(int argc, char **argv)
{
	static struct abd_perf_options options;

	abd_perf_options_env(&options, argc, argv);
	abd_perf_env_look(&options);
	abd_perf_env_print();
	return abd_perf_printed();
}

/* compare and all that follows it are the Python program's commands; it reads their flags. */
static int abd_perf_after(int argc, char **argv)
{
	(void)argc;
	abd_perf_after_become(argv);
}

/* ---- which command --------------------------------------------------------------------------- */

static const struct abd_perf_command abd_perf_commands[] = {
	{"list", "abd-perf list", abd_perf_list, "list", "the scenarios"},
	{"run", "abd-perf run", abd_perf_run, "run [NAME...]",
		"measure all scenarios, or those named"},
	{"compare", "compare", abd_perf_after, "compare A.json B.json",
		"what changed from result A to result B"},
	{"report", "report", abd_perf_after, "report A.json [B.json]",
		"one HTML file of a result or two, with pictures"},
	{"tables", "tables", abd_perf_after, "tables A.json",
		"the tables of a result, from its file"},
	{"baseline", "baseline", abd_perf_after, "baseline save|check NAME",
		"keep a result, and check others against it"},
	{"trend", "trend", abd_perf_after, "trend DIR",
		"what changed from result to result in a folder"},
	{"env", "abd-perf env", abd_perf_env, "env",
		"this machine, as it is recorded with every result"},
	{NULL, NULL, NULL, NULL, NULL},
};

static void abd_perf_commands_write(FILE *text, const struct abd_perf_command *command)
{
	for (; command != NULL && command->name != NULL; command++)
		if (command->about != NULL)
			fprintf(text, "  %-25s  %s\n", command->usage, command->about);
}

static void abd_perf_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "abd-perf %s\n", abd_version());
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = abd_perf_version;

static error_t abd_perf_main_key(int key, char *value, struct argp_state *state)
{
	int *first = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		(void)value;
		*first = state->next - 1;
		state->next = state->argc; /* the rest is the command's */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command given");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Reads the program's own flags. Returns where the command's name is in argv. */
static int abd_perf_main_flags(int argc, char **argv, const struct abd_perf_command *more)
{
	char text[4096];
	FILE *stream = fmemopen(text, sizeof(text), "w");
	const struct argp argp = {
		.parser = abd_perf_main_key, .args_doc = "COMMAND [FLAG...]", .doc = text};
	int first = 0;

	if (stream == NULL)
		abd_perf_say_die(1, "%s", strerror(errno));
	fputs("Measure what libabd's buffers are worth on this machine.\n\nCommands:\n", stream);
	abd_perf_commands_write(stream, abd_perf_commands);
	abd_perf_commands_write(stream, more);
	fputs("\nabd-perf COMMAND --help explains each.\vExamples:\n"
	      "  abd-perf run --json before.json\n"
	      "  abd-perf report before.json -o report.html",
		stream);
	fclose(stream);
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &first);
	return first;
}

static const struct abd_perf_command *abd_perf_command_find(
	const struct abd_perf_command *command, const char *name)
{
	while (command != NULL && command->name != NULL && strcmp(command->name, name) != 0)
		command++;
	return command != NULL && command->name != NULL ? command : NULL;
}

int abd_perf_command(int argc, char **argv, const struct abd_perf_scenario *const *scenarios,
	const struct abd_perf_command *more)
{
	const struct abd_perf_command *command;
	char called[32];
	int first;

	abd_perf_scenarios = scenarios;
	first = abd_perf_main_flags(argc, argv, more);
	command = abd_perf_command_find(abd_perf_commands, argv[first]);
	if (command == NULL)
		command = abd_perf_command_find(more, argv[first]);
	if (command != NULL) {
		/* --help then says "abd-perf run", not "abd-perf". */
		strcpy(called, command->called);
		argv[first] = called;
		return command->run(argc - first, argv + first);
	}
	if (abd_perf_scenario_find(argv[first]) != NULL)
		abd_perf_say_die(
			EX_USAGE, "'%s' is a scenario: abd-perf run %s", argv[first], argv[first]);
	abd_perf_say_die(EX_USAGE, "no command is named '%s'; see abd-perf --help", argv[first]);
}
