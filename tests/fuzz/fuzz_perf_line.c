/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flags of `abd-perf run`. A model of a few lines says whether each text must be accepted, and as
 * which number: digits only, and a unit where the flag takes a size.
 */
#include "fuzz_perf_die.h"
#include "fuzz_perf_input.h"

#include "abd_perf_filter.h"
#include "abd_perf_options.h"

#include <math.h>
#include <string.h>

enum { TEXT = 300, ARGUMENTS = 12 };

/*
 * Take text up to a 0, without braces and back references: with them the C library's regular
 * expressions take hours and all memory.
 */
static void text_take(struct fuzz_input *in, char text[TEXT])
{
	size_t size = 0;

	while (in->next < in->end && *in->next != 0 && size < TEXT - 1) {
		char sign = (char)*in->next++;

		text[size++] = sign == '{' || sign == '\\' ? '(' : sign;
	}
	in->next += in->next < in->end;
	text[size] = '\0';
}

/* ---- models ---------------------------------------------------------------------------------- */

/*
 * Read the digits at *text and move it behind them. A number too large for 64 bits becomes some
 * large number. False: there are no digits.
 */
static bool model_digits(const char **text, uint64_t *number)
{
	const char *begin = *text;

	for (*number = 0; **text >= '0' && **text <= '9'; ++*text)
		*number = *number > UINT64_MAX / 16 ? UINT64_MAX
						    : *number * 10 + (uint64_t)(**text - '0');
	return *text != begin;
}

static bool model_number(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
	return model_digits(&text, number) && *text == '\0' && *number >= low && *number <= high;
}

static bool model_size(const char *text, uint64_t *size)
{
	static const char units[] = "kKmMgG";
	const char *unit;

	if (!model_digits(&text, size) || *size == 0)
		return false;
	unit = *text != '\0' ? strchr(units, *text) : NULL;
	for (long steps = unit != NULL ? (unit - units) / 2 + 1 : 0; steps > 0; steps--)
		*size = *size > UINT64_MAX >> 10 ? UINT64_MAX : *size << 10;
	return text[unit != NULL] == '\0' && *size <= SIZE_MAX >> 1;
}

/* A list such as "0,2-3". Fills cpus, up to ABD_PERF_CPUS_MAX of them, and counts those. */
static bool model_cpus(const char *text, int *cpus, uint64_t *count)
{
	cpu_set_t allowed;
	uint64_t first, last;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (*count = 0;; text++) {
		if (!model_digits(&text, &first))
			return false;
		last = first;
		if (*text == '-' && (++text, !model_digits(&text, &last)))
			return false;
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (; first <= last && *count < ABD_PERF_CPUS_MAX; first++) {
			if (!CPU_ISSET(first, &allowed))
				return false;
			cpus[(*count)++] = (int)first;
		}
		if (*text != ',')
			return *text == '\0';
	}
}

/* ---- one flag -------------------------------------------------------------------------------- */

static bool run_line(struct abd_perf_options *options, int argc, char **argv)
{
	return fuzz_perf_try(abd_perf_options_run(options, argc, argv));
}

/* Compare what abd-perf made of a flag with what the model says. */
static void check_taken(bool taken, bool should, uint64_t is, uint64_t expected, const char *text)
{
	fuzz_check(taken == should, "'%s' is %s", text, taken ? "taken" : "refused");
	fuzz_check(!taken || is == expected, "'%s' is %llu, not %llu", text, (unsigned long long)is,
		(unsigned long long)expected);
}

static void flag_size(const char *text)
{
	uint64_t expected = 0;
	size_t size = 0, again = 0;
	char told[32];
	bool should = model_size(text, &expected);

	check_taken(abd_perf_options_size(text, &size), should, size, expected, text);
	if (!should)
		return;
	abd_perf_options_size_text(size, told, sizeof(told));
	fuzz_check(
		abd_perf_options_size(told, &again) && again == size, "%zu told as %s", size, told);
}

static void flag_cpus(const struct abd_perf_options *options, bool taken, const char *text)
{
	static int cpus[ABD_PERF_CPUS_MAX];
	uint64_t count = 0;
	bool should = strlen(text) < 256 && model_cpus(text, cpus, &count);

	check_taken(taken, should, options->cpu_count, count, text);
	fuzz_check(!taken || memcmp(cpus, options->cpus, count * sizeof(int)) == 0, "'%s'", text);
}

static void flag_of_run(const char *text, unsigned which)
{
	static struct abd_perf_options options;
	static const char *const name[] = {
		"record-size", "io-size", "threads", "repeat", "seed", "cpus", "runtime", "warmup"};
	char flag[TEXT + 20], called[] = "abd-perf run";
	char *argv[] = {called, flag, NULL};
	uint64_t number = 0;
	bool taken;

	snprintf(flag, sizeof(flag), "--%s=%s", name[which], text);
	taken = run_line(&options, 2, argv);
	switch (which) {
	case 0:
	case 1:
		check_taken(taken, model_size(text, &number) && number >= 512 && number <= 16 << 20,
			which == 0 ? options.record_size : options.io_size, number, text);
		return;
	case 2:
		check_taken(
			taken, model_number(text, 1, 1024, &number), options.threads, number, text);
		return;
	case 3:
		check_taken(
			taken, model_number(text, 1, 500, &number), options.repeat, number, text);
		return;
	case 4:
		check_taken(taken, model_number(text, 0, UINT32_MAX, &number), options.seed, number,
			text);
		return;
	case 5:
		flag_cpus(&options, taken, text);
		return;
	default:
		fuzz_check(!taken || (options.runtime_s >= 0 && options.warmup_s <= 86400), "'%s'",
			text);
	}
}

void fuzz_perf_flag(struct fuzz_input *in)
{
	unsigned which = fuzz_byte(in) % 9;
	char text[TEXT];

	text_take(in, text);
	if (which == 8)
		flag_size(text);
	else
		flag_of_run(text, which);
}

/* ---- command lines --------------------------------------------------------------------------- */

static void check_options(const struct abd_perf_options *options)
{
	fuzz_check(options->name_count <= ABD_PERF_NAMES_MAX, "%u names", options->name_count);
	fuzz_check(options->cpu_count > 0 && options->cpu_count <= ABD_PERF_CPUS_MAX, "%u CPUs",
		options->cpu_count);
	fuzz_check(
		(options->given & ABD_PERF_USES_RECORD_SIZE) != 0 ==
				(options->record_size >= 512 && options->record_size <= 16 << 20) &&
			(options->given & ABD_PERF_USES_IO_SIZE) != 0 == (options->io_size != 0) &&
			(options->given & ABD_PERF_USES_THREADS) != 0 == (options->threads != 0) &&
			(options->given & ABD_PERF_USES_INPUT) != 0 == (options->input != NULL),
		"given %u", options->given);
	fuzz_check(abd_perf_options_rounds(options) >= 1 && abd_perf_options_rounds(options) <= 500,
		"%u rounds", abd_perf_options_rounds(options));
	fuzz_check(isfinite(abd_perf_options_sample_ns(options, 2)) &&
			   abd_perf_options_sample_ns(options, 2) >= 1e6,
		"%g ns", abd_perf_options_sample_ns(options, 2));
	fuzz_check(options->quick == (options->mode != ABD_PERF_FULL), "%s",
		abd_perf_options_mode_text(options->mode));
}

/*
 * Check that the filter counts the steps that it lets through. Which steps it lets through is up to
 * the C library.
 */
static void check_filter(const char *filter)
{
	unsigned before = abd_perf_filter_count();

	if (!fuzz_perf_try(abd_perf_filter_set(filter)))
		return;
	for (unsigned i = 0; i < 3; i++) {
		bool wanted =
			abd_perf_filter_step("flush", i == 0 ? "4096" : "one copy, one fence");

		fuzz_check(wanted == abd_perf_filter_passes() && (wanted || filter != NULL), "'%s'",
			filter != NULL ? filter : "none");
		before += wanted;
	}
	fuzz_check(before == abd_perf_filter_count(), "%u steps", before);
}

void fuzz_perf_line(struct fuzz_input *in)
{
	static struct abd_perf_options options;
	static char text[ARGUMENTS][TEXT];
	char *argv[ARGUMENTS + 1] = {NULL};
	int argc = 1;

	strcpy(argv[0] = text[0], "abd-perf run");
	for (; argc < ARGUMENTS && in->next < in->end; argc++)
		text_take(in, argv[argc] = text[argc]);
	if (run_line(&options, argc, argv)) {
		check_options(&options);
		check_filter(options.filter);
	}
}
