/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line, by the C library's argp.
 */
#include "abd_perf_options.h"

#include <abd/version.h>

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ABD_PERF_KEY_RECORD_SIZE = 256,
	ABD_PERF_KEY_RUNTIME,
	ABD_PERF_KEY_WARMUP,
	ABD_PERF_KEY_REPEAT,
	ABD_PERF_KEY_SEED,
	ABD_PERF_KEY_CPUS,
	ABD_PERF_KEY_JSON,
	ABD_PERF_KEY_QUICK,
	ABD_PERF_KEY_PLANT
};

static const struct argp_option abd_perf_options_table[] = {
	{"input", 'i', "PATH", 0,
		"Real data: a file, or a tree of files (default: libraries and text under /usr)",
		0},
	{"record-size", ABD_PERF_KEY_RECORD_SIZE, "SIZE", 0, "Only this record size: 8k, 128k, 1m",
		0},
	{"threads", 't', "N", 0, "Only with N threads (default: 1, then one per CPU)", 0},
	{"cpus", ABD_PERF_KEY_CPUS, "LIST", 0, "Use these CPUs, in this order: 0,2-3", 0},
	{"repeat", ABD_PERF_KEY_REPEAT, "N", 0,
		"Rounds of every comparison (default 15; 9 with --quick)", 0},
	{"runtime", ABD_PERF_KEY_RUNTIME, "SECONDS", 0,
		"Time for every comparison: longer samples (arc-cached-read: for every mode, as fio's)",
		0},
	{"warmup", ABD_PERF_KEY_WARMUP, "SECONDS", 0,
		"Time for every mode before it is measured: fio's ramp_time", 0},
	{"seed", ABD_PERF_KEY_SEED, "N", 0,
		"Of all that is random (default 1234, fio's in OpenZFS's test)", 0},
	{"quick", ABD_PERF_KEY_QUICK, NULL, 0, "Fewer sizes and rounds, smaller sets", 0},
	{"json", ABD_PERF_KEY_JSON, "FILE", 0, "Also write all figures to FILE", 0},
	{"plant-wrong-byte", ABD_PERF_KEY_PLANT, NULL, OPTION_HIDDEN, NULL, 0},
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

static bool abd_perf_options_cpu_range(struct abd_perf_options *options, const char *part)
{
	int first, last, used = 0;

	if (sscanf(part, "%d%n", &first, &used) != 1 || first < 0)
		return false;
	last = first;
	if (part[used] == '-') {
		part += used + 1;
		if (sscanf(part, "%d%n", &last, &used) != 1)
			return false;
	}
	if (part[used] != '\0' || last < first || last >= CPU_SETSIZE)
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

static error_t abd_perf_options_key(int key, char *value, struct argp_state *state)
{
	struct abd_perf_options *options = state->input;

	switch (key) {
	case 'i':
		options->input = value;
		options->given |= ABD_PERF_USES_INPUT;
		return 0;
	case 't':
		options->threads =
			(unsigned)abd_perf_options_number(value, 1, 1024, "--threads", state);
		options->given |= ABD_PERF_USES_THREADS;
		return 0;
	case ABD_PERF_KEY_RECORD_SIZE:
		if (!abd_perf_options_size(value, &options->record_size) ||
			options->record_size < 512 || options->record_size > 16 << 20)
			argp_error(state, "--record-size: '%s' is no size from 512 to 16m", value);
		options->given |= ABD_PERF_USES_RECORD_SIZE;
		return 0;
	case ABD_PERF_KEY_RUNTIME:
		options->runtime_s = abd_perf_options_seconds(value, "--runtime", 1e-9, state);
		return 0;
	case ABD_PERF_KEY_WARMUP:
		options->warmup_s = abd_perf_options_seconds(value, "--warmup", 0, state);
		options->given |= ABD_PERF_USES_WARMUP;
		return 0;
	case ABD_PERF_KEY_REPEAT:
		options->repeat =
			(unsigned)abd_perf_options_number(value, 1, 500, "--repeat", state);
		return 0;
	case ABD_PERF_KEY_SEED:
		options->seed = abd_perf_options_number(value, 0, UINT32_MAX, "--seed", state);
		return 0;
	case ABD_PERF_KEY_CPUS:
		abd_perf_options_cpus(options, value, state);
		return 0;
	case ABD_PERF_KEY_JSON:
		options->json = value;
		return 0;
	case ABD_PERF_KEY_QUICK:
		options->quick = true;
		return 0;
	case ABD_PERF_KEY_PLANT:
		options->plant = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->command == NULL)
			options->command = value;
		else if (options->name_count < ABD_PERF_NAMES_MAX)
			options->names[options->name_count++] = value;
		else
			argp_error(state, "too many names");
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command given: list, env, run, or the name of a scenario");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void abd_perf_options_version(FILE *stream, struct argp_state *state)
{
	(void)state;
	fprintf(stream, "abd-perf %s\n", abd_version());
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = abd_perf_options_version;

static const struct argp abd_perf_options_argp = {
	.options = abd_perf_options_table,
	.parser = abd_perf_options_key,
	.args_doc = "COMMAND [NAME...]",
	.doc = "Measure what libabd's buffers are worth on this machine.\n\n"
	       "Commands:\n"
	       "  list           the scenarios, and the flags each can use\n"
	       "  env            this machine, as it is recorded with every run\n"
	       "  run [NAME...]  run all scenarios, or those named\n"
	       "  NAME           run this one\n\n"
	       "Flags:"
	       "\v"
	       "Examples:\n"
	       "  abd-perf arc-read --input /srv/data --record-size 8k --json result.json\n"
	       "  abd-perf run --quick\n\n"
	       "Every ratio is the median of interleaved rounds in one process, with the 95 % "
	       "interval of that median. "
	       "ctrl-C ends early and keeps what was measured.",
};

void abd_perf_options_parse(struct abd_perf_options *options, int argc, char **argv)
{
	cpu_set_t allowed;

	memset(options, 0, sizeof(*options));
	options->seed = 1234;
	options->warmup_s = -1;
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && options->cpu_count < ABD_PERF_CPUS_MAX; cpu++) {
		if (CPU_ISSET((size_t)cpu, &allowed))
			options->cpus[options->cpu_count++] = cpu;
	}
	argp_parse(&abd_perf_options_argp, argc, argv, 0, NULL, options);
}

unsigned abd_perf_options_rounds(const struct abd_perf_options *options)
{
	if (options->repeat != 0)
		return options->repeat;
	return options->quick ? 9 : 15;
}

double abd_perf_options_sample_ns(const struct abd_perf_options *options, unsigned paths)
{
	double sample_ns = options->runtime_s * 1e9 / abd_perf_options_rounds(options) / paths;

	return sample_ns > 10e6 ? sample_ns : 10e6;
}
