/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through all tunables and sizes, cell by cell, and makes plans of what was found.
 * Invariant: a plan changes only where a challenger surely is faster; when others disturbed the
 * measuring, nothing changes and nothing is written.
 */
#include "abd_perf_command.h"

#include "abd_perf_clock.h"
#include "abd_perf_crew.h"
#include "abd_perf_env.h"
#include "abd_perf_file.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"
#include "abd_perf_tune_work.h"

#include <ctype.h>
#include <abd/version.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Room for the lines to set; a plan may have 255 characters (include/abd/tuning.h). */
enum { CELLS_MAX = 96, SUBJECTS_MAX = 12, LINES_SIZE = 16 << 10 };

#define ABD_PERF_TUNE_S 52
#define ABD_PERF_TUNE_QUICK_S 12
/* Percent of the CPUs that others may use, and percent of the cells that may be disturbed. */
#define ABD_PERF_TUNE_OTHERS 10
#define ABD_PERF_TUNE_DISTURBED 20
/* Exit status: nothing can be told. */
#define ABD_PERF_TUNE_CANT_TELL 2

/*
 * A plan as rows that can be changed: "word<=64,scalar<=4096,libc (set)" (include/abd/tuning.h).
 * Invariant: sizes rise from row to row; the last row's is SIZE_MAX; neighbours' kernels differ.
 */
struct abd_perf_tune_plan {
	unsigned count;
	struct {
		size_t last;
		char kernel[ABD_PERF_TUNE_NAME];
	} row[ABD_PERF_TUNE_ROWS];
};

static struct {
	struct abd_perf_tune_cell cell[CELLS_MAX];
	unsigned cells;
	char found[SUBJECTS_MAX][ABD_PERF_TUNE_TEXT]; /* what abd_tuning_get() said before */
	char lines[LINES_SIZE];
	size_t used;
} tune;

static struct abd_perf_tune_plan plans_before[SUBJECTS_MAX], plans_after[SUBJECTS_MAX];

/* ---- plans ----------------------------------------------------------------------------------- */

/* Add a row behind the last; a kernel that goes on only gets a larger last size. */
static void plan_add(
	struct abd_perf_tune_plan *plan, size_t last, const char *kernel, size_t length)
{
	bool same = plan->count > 0 && strlen(plan->row[plan->count - 1].kernel) == length &&
		    memcmp(plan->row[plan->count - 1].kernel, kernel, length) == 0;

	if (!same && plan->count < ABD_PERF_TUNE_ROWS)
		plan->count++;
	if (!same)
		snprintf(plan->row[plan->count - 1].kernel, ABD_PERF_TUNE_NAME, "%.*s", (int)length,
			kernel);
	plan->row[plan->count - 1].last = last;
}

/* Read what abd_tuning_get() says of a tunable that is a plan. */
static void plan_read(struct abd_perf_tune_plan *plan, const char *text)
{
	size_t last;

	plan->count = 0;
	do {
		size_t length = strcspn(text, "<, ");
		const char *name = text;
		char *end = NULL;

		text += length;
		last = SIZE_MAX;
		if (strncmp(text, "<=", 2) == 0) {
			last = strtoull(text + 2, &end, 10);
			text = end + 1; /* behind the comma */
		}
		plan_add(plan, last, name, length);
	} while (last != SIZE_MAX);
}

/* The kernel for a size. */
static const char *plan_at(const struct abd_perf_tune_plan *plan, size_t size)
{
	unsigned i = 0;

	while (size > plan->row[i].last)
		i++;
	return plan->row[i].kernel;
}

/* From now on kernel serves the sizes above low, up to high; low < high. */
static void plan_put(struct abd_perf_tune_plan *plan, size_t low, size_t high, const char *kernel)
{
	struct abd_perf_tune_plan old = *plan;
	size_t before = 0;
	bool put = false;

	plan->count = 0;
	for (unsigned i = 0; i < old.count; before = old.row[i++].last) {
		size_t last = old.row[i].last;
		const char *name = old.row[i].kernel;

		if (before < low)
			plan_add(plan, last < low ? last : low, name, strlen(name));
		if (!put && last > low) {
			plan_add(plan, high, kernel, strlen(kernel));
			put = true;
		}
		if (last > high)
			plan_add(plan, last, name, strlen(name));
	}
}

/* The plan in the form that abd_tuning_set() takes. Returns text. */
static const char *plan_text(const struct abd_perf_tune_plan *plan, char text[ABD_PERF_TUNE_TEXT])
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < plan->count && used < ABD_PERF_TUNE_TEXT; i++)
		used += (size_t)snprintf(text + used, ABD_PERF_TUNE_TEXT - used,
			i + 1 < plan->count ? "%s<=%zu," : "%s", plan->row[i].kernel,
			plan->row[i].last);
	return text;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* All cells; with --quick every second size. */
static void tune_plan(bool quick)
{
	abd_perf_place_tune("flush", "auto"); /* it would take precedence over flush_auto */
	for (unsigned s = 0; abd_perf_tune_subjects[s].name != NULL; s++) {
		const struct abd_perf_tune_subject *subject = &abd_perf_tune_subjects[s];
		unsigned step = quick ? 2 * subject->step : subject->step;

		snprintf(tune.found[s], ABD_PERF_TUNE_TEXT, "%s", abd_tuning_get(subject->name));
		plan_read(&plans_before[s], tune.found[s]);
		for (unsigned log = subject->first; log <= subject->last && tune.cells < CELLS_MAX;
			log += step) {
			struct abd_perf_tune_cell *cell = &tune.cell[tune.cells++];

			cell->subject = subject;
			cell->size = (size_t)1 << log;
			snprintf(cell->present, ABD_PERF_TUNE_NAME, "%s",
				plan_at(&plans_before[s], cell->size));
		}
	}
}

static void tune_measure(const struct abd_perf_options *options, double end_ns)
{
	char text[24];

	abd_perf_say_begin("tune", tune.cells);
	for (unsigned i = 0; i < tune.cells && !abd_perf_say_stopped(); i++) {
		struct abd_perf_tune_cell *cell = &tune.cell[i];
		double left_s = (end_ns - abd_perf_clock_wall_ns()) / 1e9;

		abd_perf_say_step("%s, %s", cell->subject->name,
			abd_perf_options_size_text(cell->size, text, sizeof(text)));
		abd_perf_tune_cell_measure(cell, options, left_s / (tune.cells - i));
	}
	abd_perf_say_end();
}

/* ---- deciding -------------------------------------------------------------------------------- */

/*
 * The sizes that a cell stands for end half way to its neighbours', as powers go; from the smallest
 * down and from the largest up, the smallest and the largest speak for all.
 */
static void tune_put(struct abd_perf_tune_plan *plan, unsigned i)
{
	const struct abd_perf_tune_cell *cell = &tune.cell[i];
	bool first = i == 0 || cell[-1].subject != cell->subject;
	bool last = i + 1 == tune.cells || cell[1].subject != cell->subject;
	double low =
		first ? (double)cell->size / 2 : sqrt((double)cell[-1].size * (double)cell->size);
	double high = last ? 0 : sqrt((double)cell->size * (double)cell[1].size);

	plan_put(plan, (size_t)low, last ? SIZE_MAX : (size_t)high, cell->challenger);
}

/* The plan of a subject with all its changes. */
static void tune_make(unsigned s)
{
	plans_after[s] = plans_before[s];
	for (unsigned i = 0; i < tune.cells; i++)
		if (tune.cell[i].replaced && tune.cell[i].subject == &abd_perf_tune_subjects[s])
			tune_put(&plans_after[s], i);
}

/* Give up the change that gains least. */
static void tune_give_up(unsigned s)
{
	struct abd_perf_tune_cell *least = NULL;

	for (unsigned i = 0; i < tune.cells; i++) {
		struct abd_perf_tune_cell *cell = &tune.cell[i];

		if (cell->replaced && cell->subject == &abd_perf_tune_subjects[s] &&
			(least == NULL || cell->ratio.median < least->ratio.median))
			least = cell;
	}
	if (least == NULL)
		abd_perf_say_die(1, "the library does not take back %s=%s",
			abd_perf_tune_subjects[s].name, tune.found[s]);
	least->replaced = false;
	tune_make(s);
}

/* A plan may have only so many rows and characters: the library says whether it takes it. */
static void tune_decide(void)
{
	char text[ABD_PERF_TUNE_TEXT];

	for (unsigned s = 0; abd_perf_tune_subjects[s].name != NULL; s++) {
		tune_make(s);
		while (abd_tuning_set(abd_perf_tune_subjects[s].name,
			       plan_text(&plans_after[s], text)) != 0)
			tune_give_up(s);
	}
}

/* Why nothing can be told; NULL: it can. */
static const char *tune_disturbance(double others)
{
	static char text[128];
	unsigned disturbed = 0;

	for (unsigned i = 0; i < tune.cells; i++)
		disturbed += tune.cell[i].disturbed;
	if (others > ABD_PERF_TUNE_OTHERS)
		snprintf(text, sizeof(text), "other programs used %.0f %% of the CPUs", others);
	else if (disturbed * 100 > tune.cells * ABD_PERF_TUNE_DISTURBED)
		snprintf(text, sizeof(text),
			"the same kernel against itself differs in %u of %u measurements",
			disturbed, tune.cells);
	else
		return NULL;
	return text;
}

/* ---- saying ---------------------------------------------------------------------------------- */

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(tune.lines + tune.used, LINES_SIZE - tune.used, format, arguments);
	va_end(arguments);
	tune.used += (size_t)length;
	if (tune.used >= LINES_SIZE)
		abd_perf_say_die(1, "the lines to set are too long");
}

/* As a shell reads it. */
static void add_line(const char *name, const char *plan)
{
	add("export ABD_");
	for (; *name != '\0'; name++)
		add("%c", toupper((unsigned char)*name));
	add("='%s'\n", plan);
}

static void tune_add_head(void)
{
	char date[40];
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
	add("# What to set for libabd %s, by abd-perf tune, %s\n", abd_version(), date);
	add("# %.120s\n", json_string_value(json_object_get(abd_perf_env_facts(), "cpu")));
	add("# caches: %zu KiB, %zu KiB, %zu KiB\n", abd_perf_env_cache(1) >> 10,
		abd_perf_env_cache(2) >> 10, abd_perf_env_last_cache() >> 10);
	add("# A line of figures: the size; the kernel there; how many times as fast it is as\n"
	    "# the next best, or as the one it replaces, with the 95 %% interval.\n");
	add("# %s\n", abd_tuning_get("cpu"));
}

static void tune_add_cell(const struct abd_perf_tune_cell *cell)
{
	double median = cell->ratio.median, low = cell->ratio.low, high = cell->ratio.high;
	char size[24];

	abd_perf_options_size_text(cell->size, size, sizeof(size));
	if (cell->challenger == NULL || cell->ratio.rounds == 0)
		add("# %s: %s; no other can be used\n", size, cell->present);
	else if (cell->replaced)
		add("# %s: %s; %.3f [%.3f, %.3f] of %s, which it replaces\n", size,
			cell->challenger, median, low, high, cell->present);
	else
		add("# %s: %s; %.3f [%.3f, %.3f] of %s%s\n", size, cell->present, 1 / median,
			1 / high, 1 / low, cell->challenger,
			cell->disturbed ? "; disturbed: can't tell" : "");
}

static void tune_write(const char *path)
{
	char text[ABD_PERF_TUNE_TEXT];
	int error;

	tune_add_head();
	for (unsigned s = 0; abd_perf_tune_subjects[s].name != NULL; s++) {
		add("#\n# %s was %s\n", abd_perf_tune_subjects[s].name, tune.found[s]);
		for (unsigned i = 0; i < tune.cells; i++)
			if (tune.cell[i].subject == &abd_perf_tune_subjects[s])
				tune_add_cell(&tune.cell[i]);
		add_line(abd_perf_tune_subjects[s].name, plan_text(&plans_after[s], text));
	}
	error = abd_perf_file_write(path, tune.lines);
	if (error != 0)
		abd_perf_say_die(1, "--output %s: %s", path, strerror(-error));
}

static void tune_print_changes(unsigned s)
{
	const char *name = abd_perf_tune_subjects[s].name;
	char text[ABD_PERF_TUNE_TEXT], size[24];
	unsigned changes = 0;

	for (unsigned i = 0; i < tune.cells; i++) {
		const struct abd_perf_tune_cell *cell = &tune.cell[i];

		if (cell->subject != &abd_perf_tune_subjects[s] || !cell->replaced)
			continue;
		changes++;
		printf("%-16s %5s  %s instead of %s: %.2f [%.2f, %.2f] times as fast\n", name,
			abd_perf_options_size_text(cell->size, size, sizeof(size)),
			cell->challenger, cell->present, cell->ratio.median, cell->ratio.low,
			cell->ratio.high);
	}
	printf("%-16s %s\n", name,
		changes > 0 ? plan_text(&plans_after[s], text) : "stays as it is");
}

/* ---- the command ----------------------------------------------------------------------------- */

int abd_perf_tune(int argc, char **argv)
{
	static struct abd_perf_options options;
	const char *disturbance;
	double end_ns, others;

	abd_perf_options_tune(&options, argc, argv);
	end_ns = abd_perf_clock_wall_ns() +
		 (options.mode == ABD_PERF_QUICK ? ABD_PERF_TUNE_QUICK_S : ABD_PERF_TUNE_S) * 1e9;
	if (options.output != NULL)
		abd_perf_file_check("--output", options.output);
	abd_perf_say_stoppable();
	abd_perf_env_look(&options);
	abd_perf_crew_pin(options.cpus[0]);
	tune_plan(options.mode == ABD_PERF_QUICK);
	abd_perf_tune_work_make(&options);
	tune_measure(&options, end_ns);
	if (abd_perf_say_stopped()) {
		printf("ended early: nothing is changed\n");
		return 130;
	}
	others = abd_perf_env_look_back(&options);
	disturbance = tune_disturbance(options.times == NULL ? others : 0);
	if (disturbance != NULL) {
		printf("can't tell: %s; nothing is changed\n", disturbance);
		return ABD_PERF_TUNE_CANT_TELL;
	}
	tune_decide();
	for (unsigned s = 0; abd_perf_tune_subjects[s].name != NULL; s++)
		tune_print_changes(s);
	if (options.output != NULL)
		tune_write(options.output);
	return 0;
}
