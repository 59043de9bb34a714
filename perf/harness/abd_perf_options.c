/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line, by the C library's argp. --help, --usage and errors are argp's own; a wrong
 * flag exits with 64. A flag is a row of abd_perf_flags.
 */
#include "abd_perf_options.h"

#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The commands that take a flag. */
enum { RUN = 1 << 0, TUNE = 1 << 1, ENV = 1 << 2 };

/* How a flag's value is read, and what of abd_perf_options it is. */
enum abd_perf_flag_kind { TEXT, COUNT, SEED, SIZE, SECONDS, CPUS, SWITCH, QUICK, FULL, LONG };

struct abd_perf_flag {
	unsigned commands;
	const char *name;
	int letter; /* 0: none */
	const char *value, *help;
	int group; /* in --help; HIDDEN: not there */
	enum abd_perf_flag_kind kind;
	size_t offset; /* in abd_perf_options */
	double low, high;
	unsigned uses;
};

enum { WHAT = 1, HOW, WRITTEN, GROUPS, HIDDEN };

static const char *const abd_perf_flag_groups[GROUPS] = {[WHAT] = "What is measured:",
	[HOW] = "How it is measured:",
	[WRITTEN] = "What is written:"};

#define IN(member) offsetof(struct abd_perf_options, member)
#define ROOM 512, 16 << 20 /* of a size */
#define DAY 86400

static const struct abd_perf_flag abd_perf_flags[] = {
	{RUN, "filter", 0, "REGEX",
		"Only steps whose line of progress, \"SCENARIO: STEP\", matches", WHAT, TEXT,
		IN(filter), 0, 0, 0},
	{RUN, "quick", 0, NULL, "Half a minute: 6 rounds of short samples, good for a first look",
		WHAT, QUICK, 0, 0, 0, 0},
	{RUN, "full", 0, NULL,
		"All sizes, sets larger than the caches, 15 rounds; says how long before it starts",
		WHAT, FULL, 0, 0, 0, 0},
	{RUN, "long", 0, NULL,
		"For publication: the usual rows in 6 processes, each with 15 rounds of long samples",
		HOW, LONG, 0, 0, 0, 0},
	{RUN, "input", 'i', "PATH",
		"Real data: a file, or a tree of files (default: libraries and text under /usr)",
		WHAT, TEXT, IN(input), 0, 0, ABD_PERF_USES_INPUT},
	{RUN, "record-size", 0, "SIZE", "Only this record size: 8k, 128k, 1m", WHAT, SIZE,
		IN(record_size), ROOM, ABD_PERF_USES_RECORD_SIZE},
	{RUN, "io-size", 0, "SIZE", "Read this much at a time (default 128k)", WHAT, SIZE,
		IN(io_size), ROOM, ABD_PERF_USES_IO_SIZE},
	{RUN, "cache", 0, "FILE", "Another cache, of a shared library (default: the library's)",
		WHAT, TEXT, IN(cache), 0, 0, ABD_PERF_USES_CACHE},
	{RUN, "threads", 't', "N", "Only with N threads (default: 1, then one per CPU)", WHAT,
		COUNT, IN(threads), 1, 1024, ABD_PERF_USES_THREADS},
	{RUN, "cpus", 0, "LIST", "Use these CPUs, in this order: 0,2-3", HOW, CPUS, 0, 0, 0, 0},
	{RUN, "repeat", 0, "N", "Rounds of every comparison (default 9)", HOW, COUNT, IN(repeat), 1,
		500, 0},
	{RUN, "processes", 0, "N",
		"Measure in N processes (default 3 for named scenarios, 3 to 9 for the rows at the "
		"top of the page, else 1)",
		HOW, COUNT, IN(processes), 1, 100, 0},
	{RUN, "runtime", 0, "SECONDS", "Time for every comparison: longer samples", HOW, SECONDS,
		IN(runtime_s), 1e-9, DAY, 0},
	{RUN, "warmup", 0, "SECONDS", "Work this long on every comparison before its first round",
		HOW, SECONDS, IN(warmup_s), 0, DAY, 0},
	{RUN, "seed", 0, "N", "Of all that is random (default 1234, fio's in OpenZFS's test)", HOW,
		SEED, IN(seed), 0, UINT32_MAX, 0},
	{RUN, "json", 0, "FILE", "All figures, for compare and report", WRITTEN, TEXT, IN(json), 0,
		0, 0},
	{RUN, "csv", 0, "FILE", "All figures and ratios as rows, for a spreadsheet", WRITTEN, TEXT,
		IN(csv), 0, 0, 0},
	{RUN, "bmf", 0, "FILE", "All figures and ratios in Bencher's metric format", WRITTEN, TEXT,
		IN(bmf), 0, 0, 0},
	{RUN, "plant-wrong-byte", 0, NULL, NULL, HIDDEN, SWITCH, IN(plant), 0, 0, 0},
	{RUN, "as-process", 0, "N", NULL, HIDDEN, COUNT, IN(process), 1, 100, 0},
	{RUN, "left", 0, "SECONDS", NULL, HIDDEN, SECONDS, IN(left_s), 1e-9, 365.0 * DAY, 0},
	{TUNE, "quick", 0, NULL, "Every second size, 15 seconds instead of 60", 0, QUICK, 0, 0, 0,
		0},
	{TUNE, "plant-times", 0, "KIND", NULL, HIDDEN, TEXT, IN(times), 0, 0, 0},
	{TUNE, "cpus", 0, "LIST", "Measure on the first of these CPUs: 2", 0, CPUS, 0, 0, 0, 0},
	{ENV, "cpus", 0, "LIST", "The CPUs to use: 0,2-3", 0, CPUS, 0, 0, 0, 0},
};

#define ABD_PERF_FLAGS (sizeof(abd_perf_flags) / sizeof(abd_perf_flags[0]))

const char *const abd_perf_options_uses[ABD_PERF_USES] = {
	"--input", "--threads", "--record-size", "--io-size", "--cache"};

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

static unsigned long abd_perf_options_number(
	const char *text, const struct abd_perf_flag *flag, struct argp_state *state)
{
	unsigned long number, low = (unsigned long)flag->low, high = (unsigned long)flag->high;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < low ||
		number > high)
		argp_error(state, "--%s: '%s' is no number from %lu to %lu", flag->name, text, low,
			high);
	return number;
}

static double abd_perf_options_seconds(
	const char *text, const struct abd_perf_flag *flag, struct argp_state *state)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds >= flag->low && seconds <= flag->high))
		argp_error(state, "--%s: '%s' is no time in seconds, %s 0, up to %.0f", flag->name,
			text, flag->low > 0 ? "above" : "from", flag->high);
	return seconds;
}

static size_t abd_perf_options_room(
	const char *text, const struct abd_perf_flag *flag, struct argp_state *state)
{
	size_t size = 0;

	if (!abd_perf_options_size(text, &size) || (double)size < flag->low ||
		(double)size > flag->high)
		argp_error(state, "--%s: '%s' is no size from %.0f to 16m", flag->name, text,
			flag->low);
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
		argp_error(state, "--quick, --full and --long exclude each other");
	options->mode = mode;
	options->quick = mode != ABD_PERF_FULL;
}

static void abd_perf_options_read(struct abd_perf_options *options,
	const struct abd_perf_flag *flag, char *value, struct argp_state *state)
{
	void *to = (char *)options + flag->offset;

	options->given |= flag->uses;
	switch (flag->kind) {
	case TEXT:
		*(const char **)to = value;
		break;
	case COUNT:
		*(unsigned *)to = (unsigned)abd_perf_options_number(value, flag, state);
		break;
	case SEED:
		*(uint64_t *)to = abd_perf_options_number(value, flag, state);
		break;
	case SIZE:
		*(size_t *)to = abd_perf_options_room(value, flag, state);
		break;
	case SECONDS:
		*(double *)to = abd_perf_options_seconds(value, flag, state);
		break;
	case CPUS:
		abd_perf_options_cpus(options, value, state);
		break;
	case SWITCH:
		*(bool *)to = true;
		break;
	default:
		abd_perf_options_mode(
			options, (enum abd_perf_mode)(flag->kind - QUICK + ABD_PERF_QUICK), state);
	}
}

/* A flag's key for argp: its letter, or a number that no letter has. */
static int abd_perf_flag_key(size_t i)
{
	return abd_perf_flags[i].letter != 0 ? abd_perf_flags[i].letter : 256 + (int)i;
}

static error_t abd_perf_options_key(int key, char *value, struct argp_state *state)
{
	struct abd_perf_options *options = state->input;

	for (size_t i = 0; i < ABD_PERF_FLAGS; i++) {
		if (abd_perf_flag_key(i) == key) {
			abd_perf_options_read(options, &abd_perf_flags[i], value, state);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t abd_perf_options_run_key(int key, char *value, struct argp_state *state)
{
	struct abd_perf_options *options = state->input;

	if (key != ARGP_KEY_ARG)
		return abd_perf_options_key(key, value, state);
	if (options->name_count == ABD_PERF_NAMES_MAX)
		argp_error(state, "too many names");
	options->names[options->name_count++] = value;
	return 0;
}

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

static void abd_perf_options_parse(
	struct abd_perf_options *options, unsigned command, struct argp argp, int argc, char **argv)
{
	struct argp_option table[GROUPS + ABD_PERF_FLAGS + 1] = {{0}}, *to = table;

	for (int group = WHAT; group < GROUPS && command == RUN; group++)
		*to++ = (struct argp_option){.doc = abd_perf_flag_groups[group], .group = group};
	for (size_t i = 0; i < ABD_PERF_FLAGS; i++) {
		const struct abd_perf_flag *flag = &abd_perf_flags[i];

		if (flag->commands & command)
			*to++ = (struct argp_option){flag->name, abd_perf_flag_key(i), flag->value,
				flag->group == HIDDEN ? OPTION_HIDDEN : 0, flag->help,
				flag->group == HIDDEN ? 0 : flag->group};
	}
	argp.options = table;
	argp.parser = command == RUN ? abd_perf_options_run_key : abd_perf_options_key;
	abd_perf_options_init(options);
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

void abd_perf_options_run(struct abd_perf_options *options, int argc, char **argv)
{
	static const struct argp argp = {
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

	abd_perf_options_parse(options, RUN, argp, argc, argv);
}

void abd_perf_options_tune(struct abd_perf_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.doc = "Find out which kernel is best for which size on this machine. All kernels of "
		       "every tunable that is a plan are measured; where another kernel than the "
		       "present one is surely faster, the line that sets it is printed.\v"
		       "Examples:\n"
		       "  abd-perf tune >lines\n"
		       "  . ./lines; abd-perf run\n\n"
		       "Exit status: 0; 1 results were wrong; 2 others disturbed the measuring, and "
		       "nothing is to be set; 64 wrong flags; 130 ended by ctrl-C.",
	};

	abd_perf_options_parse(options, TUNE, argp, argc, argv);
}

void abd_perf_options_env(struct abd_perf_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.doc = "This machine, as it is recorded with every result.\v"
		       "Example:\n"
		       "  abd-perf env --cpus 2",
	};

	abd_perf_options_parse(options, ENV, argp, argc, argv);
}

unsigned abd_perf_options_rounds(const struct abd_perf_options *options)
{
	/* 6 are the fewest that support a verdict (abd_perf_stat.c). */
	static const unsigned rounds[] = {[ABD_PERF_NORMAL] = 9,
		[ABD_PERF_QUICK] = 6,
		[ABD_PERF_FULL] = 15,
		[ABD_PERF_LONG] = 15};

	return options->repeat != 0 ? options->repeat : rounds[options->mode];
}

double abd_perf_options_sample_ns(const struct abd_perf_options *options, unsigned paths)
{
	static const double least[] = {[ABD_PERF_NORMAL] = 6e6,
		[ABD_PERF_QUICK] = 3e6,
		[ABD_PERF_FULL] = 10e6,
		[ABD_PERF_LONG] = 10e6};
	double sample_ns = options->runtime_s * 1e9 / abd_perf_options_rounds(options) / paths;

	return sample_ns > least[options->mode] ? sample_ns : least[options->mode];
}

const char *abd_perf_options_mode_text(enum abd_perf_mode mode)
{
	static const char *const text[] = {[ABD_PERF_NORMAL] = "normal",
		[ABD_PERF_QUICK] = "quick",
		[ABD_PERF_FULL] = "full",
		[ABD_PERF_LONG] = "long"};

	return text[mode];
}
