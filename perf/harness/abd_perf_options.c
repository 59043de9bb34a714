/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line, by the C library's argp. --help, --usage and errors are argp's own; a wrong
 * flag exits with 64.
 */
#include "abd_perf_options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ABD_PERF_KEY_RECORD_SIZE = 256,
	ABD_PERF_KEY_IO_SIZE,
	ABD_PERF_KEY_FILTER,
	ABD_PERF_KEY_RUNTIME,
	ABD_PERF_KEY_WARMUP,
	ABD_PERF_KEY_REPEAT,
	ABD_PERF_KEY_SEED,
	ABD_PERF_KEY_CPUS,
	ABD_PERF_KEY_JSON,
	ABD_PERF_KEY_CSV,
	ABD_PERF_KEY_QUICK,
	ABD_PERF_KEY_FULL,
	ABD_PERF_KEY_PLANT,
	ABD_PERF_KEY_PROCESSES,
	ABD_PERF_KEY_AS_PROCESS,
	ABD_PERF_KEY_TRACE
};

static const struct argp_option abd_perf_options_table[] = {
	{NULL, 0, NULL, 0, "What is measured:", 1},
	{"filter", ABD_PERF_KEY_FILTER, "REGEX", 0,
		"Only steps whose line of progress, \"SCENARIO: STEP\", matches", 1},
	{"quick", ABD_PERF_KEY_QUICK, NULL, 0,
		"Half a minute: 6 rounds of short samples, good for a first look", 1},
	{"full", ABD_PERF_KEY_FULL, NULL, 0,
		"All sizes, sets larger than the caches, 15 rounds; says how long before it starts",
		1},
	{"input", 'i', "PATH", 0,
		"Real data: a file, or a tree of files (default: libraries and text under /usr)",
		1},
	{"record-size", ABD_PERF_KEY_RECORD_SIZE, "SIZE", 0, "Only this record size: 8k, 128k, 1m",
		1},
	{"io-size", ABD_PERF_KEY_IO_SIZE, "SIZE", 0, "Read this much at a time (default 128k)", 1},
	{"trace", ABD_PERF_KEY_TRACE, "FILE", 0,
		"Requests: lines of KEY SIZE [POOL], or oracleGeneral (default: made ones)", 1},
	{"threads", 't', "N", 0, "Only with N threads (default: 1, then one per CPU)", 1},
	{NULL, 0, NULL, 0, "How it is measured:", 2},
	{"cpus", ABD_PERF_KEY_CPUS, "LIST", 0, "Use these CPUs, in this order: 0,2-3", 2},
	{"repeat", ABD_PERF_KEY_REPEAT, "N", 0, "Rounds of every comparison (default 9)", 2},
	{"processes", ABD_PERF_KEY_PROCESSES, "N", 0,
		"Measure in N processes (default 3 for named scenarios and those of the headline, "
		"else 1)",
		2},
	{"runtime", ABD_PERF_KEY_RUNTIME, "SECONDS", 0, "Time for every comparison: longer samples",
		2},
	{"warmup", ABD_PERF_KEY_WARMUP, "SECONDS", 0,
		"Work this long on every comparison before its first round", 2},
	{"seed", ABD_PERF_KEY_SEED, "N", 0,
		"Of all that is random (default 1234, fio's in OpenZFS's test)", 2},
	{NULL, 0, NULL, 0, "What is written:", 3},
	{"json", ABD_PERF_KEY_JSON, "FILE", 0, "All figures, for compare and report", 3},
	{"csv", ABD_PERF_KEY_CSV, "FILE", 0, "All figures and ratios as rows, for a spreadsheet",
		3},
	{"plant-wrong-byte", ABD_PERF_KEY_PLANT, NULL, OPTION_HIDDEN, NULL, 0},
	{"as-process", ABD_PERF_KEY_AS_PROCESS, "N,FD", OPTION_HIDDEN, NULL, 0},
	{0},
};

bool abd_perf_options_size(const char *text, size_t *size)
{
	char *end;
	unsigned shift = 0;

	errno = 0;
	if (*text < '0' || *text > '9')
		return false;

	unsigned long long number = strtoull(text, &end, 10);

	if (*end == 'k' || *end == 'K')
		shift = 10;
	else if (*end == 'm' || *end == 'M')
		shift = 20;
	else if (*end == 'g' || *end == 'G')
		shift = 30;
	if (shift != 0)
		end++;
	if (*end != '\0' || errno != 0 || number == 0 || number > (SIZE_MAX >> 1 >> shift))
		return false;
	*size = (size_t)number << shift;
	return true;
}

const char *abd_perf_options_size_text(size_t size, char *text, size_t room)
{
	if (size >= 1 << 20 && size % (1 << 20) == 0)
		snprintf(text, room, "%zum", size >> 20);
	else if (size >= 1 << 10 && size % (1 << 10) == 0)
		snprintf(text, room, "%zuk", size >> 10);
	else
		snprintf(text, room, "%zu", size);
	return text;
}

static unsigned long abd_perf_options_number(const char *text, unsigned long low,
	unsigned long high, const char *flag, struct argp_state *state)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < low ||
		number > high)
		argp_error(state, "%s: '%s' is no number from %lu to %lu", flag, text, low, high);
	return number;
}

static double abd_perf_options_seconds(
	const char *text, const char *flag, double least, struct argp_state *state)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds >= least && seconds <= 86400))
		argp_error(state, "%s: '%s' is no time in seconds, %s 0, up to 86400", flag, text,
			least > 0 ? "above" : "from");
	return seconds;
}

static size_t abd_perf_options_room(
	const char *text, size_t low, const char *flag, struct argp_state *state)
{
	size_t size = 0;

	if (!abd_perf_options_size(text, &size) || size < low || size > 16 << 20)
		argp_error(state, "%s: '%s' is no size from %zu to 16m", flag, text, low);
	return size;
}

/*
 * Read the number at *text, and move *text behind it. Only digits count, and the number is read as
 * a long type, so that 4294967296 is not taken for CPU 0.
 */
static bool abd_perf_options_cpu(const char **text, int *cpu)
{
	char *end;
	unsigned long number;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	number = strtoul(*text, &end, 10);
	if (errno != 0 || number >= CPU_SETSIZE)
		return false;
	*text = end;
	*cpu = (int)number;
	return true;
}

static bool abd_perf_options_cpu_range(struct abd_perf_options *options, const char *part)
{
	int first, last;

	if (!abd_perf_options_cpu(&part, &first))
		return false;
	last = first;
	if (*part == '-') {
		part++;
		if (!abd_perf_options_cpu(&part, &last))
			return false;
	}
	if (*part != '\0' || last < first)
		return false;
	for (int cpu = first; cpu <= last && options->cpu_count < ABD_PERF_CPUS_MAX; cpu++)
		options->cpus[options->cpu_count++] = cpu;
	return true;
}

static void abd_perf_options_cpus(
	struct abd_perf_options *options, const char *list, struct argp_state *state)
{
	char copy[256];
	char *rest = copy;
	cpu_set_t allowed;

	if (strlen(list) >= sizeof(copy))
		argp_error(state, "--cpus: the list is too long");
	strcpy(copy, list);
	options->cpu_count = 0;
	for (char *part; (part = strsep(&rest, ",")) != NULL;) {
		if (!abd_perf_options_cpu_range(options, part))
			argp_error(state, "--cpus: '%s' is no list of CPUs such as 0,2-3", list);
	}
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (unsigned i = 0; i < options->cpu_count; i++) {
		if (!CPU_ISSET((size_t)options->cpus[i], &allowed))
			argp_error(
				state, "--cpus: this process may not use CPU %d", options->cpus[i]);
	}
}

static void abd_perf_options_mode(
	struct abd_perf_options *options, enum abd_perf_mode mode, struct argp_state *state)
{
	if (options->mode != ABD_PERF_NORMAL && options->mode != mode)
		argp_error(state, "--quick and --full exclude each other");
	options->mode = mode;
	options->quick = mode != ABD_PERF_FULL;
}

/* Flags that say what is measured and where results go. False: key is another flag. */
static bool abd_perf_options_what(
	struct abd_perf_options *options, int key, char *value, struct argp_state *state)
{
	switch (key) {
	case ABD_PERF_KEY_FILTER:
		options->filter = value;
		return true;
	case 'i':
		options->input = value;
		options->given |= ABD_PERF_USES_INPUT;
		return true;
	case ABD_PERF_KEY_TRACE:
		options->trace = value;
		options->given |= ABD_PERF_USES_TRACE;
		return true;
	case 't':
		options->threads =
			(unsigned)abd_perf_options_number(value, 1, 1024, "--threads", state);
		options->given |= ABD_PERF_USES_THREADS;
		return true;
	case ABD_PERF_KEY_RECORD_SIZE:
		options->record_size = abd_perf_options_room(value, 512, "--record-size", state);
		options->given |= ABD_PERF_USES_RECORD_SIZE;
		return true;
	case ABD_PERF_KEY_IO_SIZE:
		options->io_size = abd_perf_options_room(value, 512, "--io-size", state);
		options->given |= ABD_PERF_USES_IO_SIZE;
		return true;
	case ABD_PERF_KEY_JSON:
		options->json = value;
		return true;
	case ABD_PERF_KEY_CSV:
		options->csv = value;
		return true;
	default:
		return false;
	}
}

static error_t abd_perf_options_key(int key, char *value, struct argp_state *state)
{
	struct abd_perf_options *options = state->input;

	if (abd_perf_options_what(options, key, value, state))
		return 0;
	switch (key) {
	case ABD_PERF_KEY_RUNTIME:
		options->runtime_s = abd_perf_options_seconds(value, "--runtime", 1e-9, state);
		return 0;
	case ABD_PERF_KEY_WARMUP:
		options->warmup_s = abd_perf_options_seconds(value, "--warmup", 0, state);
		return 0;
	case ABD_PERF_KEY_REPEAT:
		options->repeat =
			(unsigned)abd_perf_options_number(value, 1, 500, "--repeat", state);
		return 0;
	case ABD_PERF_KEY_PROCESSES:
		options->processes =
			(unsigned)abd_perf_options_number(value, 1, 100, "--processes", state);
		return 0;
	case ABD_PERF_KEY_AS_PROCESS:
		if (sscanf(value, "%u,%d", &options->process, &options->figures_fd) != 2)
			return ARGP_ERR_UNKNOWN;
		return 0;
	case ABD_PERF_KEY_SEED:
		options->seed = abd_perf_options_number(value, 0, UINT32_MAX, "--seed", state);
		return 0;
	case ABD_PERF_KEY_CPUS:
		abd_perf_options_cpus(options, value, state);
		return 0;
	case ABD_PERF_KEY_QUICK:
		abd_perf_options_mode(options, ABD_PERF_QUICK, state);
		return 0;
	case ABD_PERF_KEY_FULL:
		abd_perf_options_mode(options, ABD_PERF_FULL, state);
		return 0;
	case ABD_PERF_KEY_PLANT:
		options->plant = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->name_count == ABD_PERF_NAMES_MAX)
			argp_error(state, "too many names");
		options->names[options->name_count++] = value;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp abd_perf_options_argp_run = {
	.options = abd_perf_options_table,
	.parser = abd_perf_options_key,
	.args_doc = "[NAME...]",
	.doc = "Measure: all scenarios, or those named (abd-perf list).\v"
	       "Examples:\n"
	       "  abd-perf run\n"
	       "  abd-perf run arc-read --input /srv/data --record-size 8k --json result.json\n"
	       "  abd-perf run --filter 'flush.*4096' --repeat 25\n\n"
	       "Every ratio is the median of interleaved rounds in one process, with the 95 % "
	       "interval of that median. "
	       "ctrl-C ends early and keeps what was measured. "
	       "Exit status: 0; 1 wrong input or wrong results; 64 wrong flags; 130 ended by "
	       "ctrl-C.",
};

static const struct argp_option abd_perf_options_tune_table[] = {
	{"quick", ABD_PERF_KEY_QUICK, NULL, 0, "Every second size, 15 seconds instead of 60", 0},
	{"output", 'o', "FILE", 0, "Write the profile, for ABD_PROFILE and abd_tuning_load()", 0},
	{"cpus", ABD_PERF_KEY_CPUS, "LIST", 0, "Measure on the first of these CPUs: 2", 0},
	{"plant-times", ABD_PERF_KEY_PLANT, "KIND", OPTION_HIDDEN, NULL, 0},
	{0},
};

static error_t abd_perf_options_tune_key(int key, char *value, struct argp_state *state)
{
	struct abd_perf_options *options = state->input;

	if (key == 'o')
		options->output = value;
	else if (key == ABD_PERF_KEY_PLANT)
		options->times = value;
	else if (key == ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	else
		return abd_perf_options_key(key, value, state);
	return 0;
}

static const struct argp abd_perf_options_argp_tune = {
	.options = abd_perf_options_tune_table,
	.parser = abd_perf_options_tune_key,
	.doc = "Find out which kernel is best for which size on this machine. All kernels of every "
	       "tunable that is a plan are measured; where another kernel than the present one is "
	       "surely faster, that is printed.\v"
	       "Examples:\n"
	       "  abd-perf tune -o profile\n"
	       "  ABD_PROFILE=profile abd-perf run\n\n"
	       "Exit status: 0; 1 the file can't be written, or results were wrong; 2 others "
	       "disturbed the measuring, and nothing is changed; 64 wrong flags; 130 ended by "
	       "ctrl-C.",
};

static error_t abd_perf_options_env_key(int key, char *value, struct argp_state *state)
{
	if (key != ABD_PERF_KEY_CPUS)
		return ARGP_ERR_UNKNOWN;
	abd_perf_options_cpus(state->input, value, state);
	return 0;
}

static const struct argp_option abd_perf_options_env_table[] = {
	{"cpus", ABD_PERF_KEY_CPUS, "LIST", 0, "The CPUs to use: 0,2-3", 0},
	{0},
};

static const struct argp abd_perf_options_argp_env = {
	.options = abd_perf_options_env_table,
	.parser = abd_perf_options_env_key,
	.doc = "This machine, as it is recorded with every result.\v"
	       "Example:\n"
	       "  abd-perf env --cpus 2",
};

/* Without flags: all CPUs that this process may use. */
static void abd_perf_options_init(struct abd_perf_options *options)
{
	cpu_set_t allowed;

	memset(options, 0, sizeof(*options));
	options->seed = 1234;
	options->process = 1;
	options->quick = true;
	options->warmup_s = -1;
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && options->cpu_count < ABD_PERF_CPUS_MAX; cpu++) {
		if (CPU_ISSET((size_t)cpu, &allowed))
			options->cpus[options->cpu_count++] = cpu;
	}
}

void abd_perf_options_run(struct abd_perf_options *options, int argc, char **argv)
{
	abd_perf_options_init(options);
	argp_parse(&abd_perf_options_argp_run, argc, argv, 0, NULL, options);
}

void abd_perf_options_env(struct abd_perf_options *options, int argc, char **argv)
{
	abd_perf_options_init(options);
	argp_parse(&abd_perf_options_argp_env, argc, argv, 0, NULL, options);
}

void abd_perf_options_tune(struct abd_perf_options *options, int argc, char **argv)
{
	abd_perf_options_init(options);
	argp_parse(&abd_perf_options_argp_tune, argc, argv, 0, NULL, options);
}

unsigned abd_perf_options_rounds(const struct abd_perf_options *options)
{
	/* 6 are the fewest that support a verdict (abd_perf_stat.c). */
	static const unsigned rounds[] = {
		[ABD_PERF_NORMAL] = 9, [ABD_PERF_QUICK] = 6, [ABD_PERF_FULL] = 15};

	return options->repeat != 0 ? options->repeat : rounds[options->mode];
}

double abd_perf_options_sample_ns(const struct abd_perf_options *options, unsigned paths)
{
	double least_ns = options->mode == ABD_PERF_QUICK ? 3e6 : 10e6;
	double sample_ns = options->runtime_s * 1e9 / abd_perf_options_rounds(options) / paths;

	return sample_ns > least_ns ? sample_ns : least_ns;
}

const char *abd_perf_options_mode_text(enum abd_perf_mode mode)
{
	static const char *const text[] = {
		[ABD_PERF_NORMAL] = "normal", [ABD_PERF_QUICK] = "quick", [ABD_PERF_FULL] = "full"};

	return text[mode];
}
