/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time left is the rest of the plan, scaled by how much longer than planned everything so far
 * took (on a slower machine, for instance). The first parts say little of the others: a quarter of
 * the plan counts as done, and in its time. All steps of a part count as equally long.
 */
#include "abd_perf_say.h"
#include "abd_perf_clock.h"

#include <math.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#define ABD_PERF_SAY_WARNINGS 16
#define ABD_PERF_SAY_SURE_S 2 /* seconds of the plan that count as done as planned, at least */

/* Texts hold names of files, which may hold anything: a message stays one line. */
static void abd_perf_say_plain(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static struct {
	const char *what;
	unsigned total, step;
	unsigned steps; /* of all parts */
	char name[160]; /* of the last step */
	/* planned seconds: of all parts, of those before this one, of this one */
	double plan_s, before_s, part_s;
	double started_ns; /* the plan's first part */
	char warning[ABD_PERF_SAY_WARNINGS][240];
	unsigned warnings;
} say;

/* Wipe the progress line, if there is one. */
static void abd_perf_say_wipe(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

void abd_perf_say_plan(double total_s)
{
	say.plan_s = total_s;
	say.before_s = say.part_s = 0;
	say.started_ns = abd_perf_clock_wall_ns();
}

void abd_perf_say_part(double part_s)
{
	say.before_s += say.part_s;
	say.part_s = part_s;
	say.step = 0;
	say.total = 1;
}

const char *abd_perf_say_time(double seconds, char *text, size_t room)
{
	unsigned whole = seconds > 1 ? (unsigned)(seconds + 0.5) : 1;

	if (whole < 60)
		snprintf(text, room, "%u s", whole);
	else
		snprintf(text, room, "%u min %u s", whole / 60, whole % 60);
	return text;
}

double abd_perf_say_left(void)
{
	double passed_s = (abd_perf_clock_wall_ns() - say.started_ns) / 1e9;
	double part = say.step < say.total ? (double)say.step / say.total : 1;
	double done_s = say.before_s + part * say.part_s;
	double as_planned_s = fmax(say.plan_s / 4, ABD_PERF_SAY_SURE_S);

	return (say.plan_s - done_s) * (passed_s + as_planned_s) / (done_s + as_planned_s);
}

/* ---- which steps are wanted, by "SCENARIO: STEP" --------------------------------------------- */

static regex_t abd_perf_filter_expression;
static bool abd_perf_filter_given, abd_perf_filter_wanted = true;
static unsigned abd_perf_filter_steps;

void abd_perf_say_filter(const char *expression)
{
	char text[128];
	int error;

	if (abd_perf_filter_given)
		regfree(&abd_perf_filter_expression);
	abd_perf_filter_given = false;
	if (expression == NULL)
		return;
	error = regcomp(
		&abd_perf_filter_expression, expression, REG_EXTENDED | REG_NOSUB | REG_ICASE);
	if (error != 0) {
		regerror(error, &abd_perf_filter_expression, text, sizeof(text));
		abd_perf_say_die(EX_USAGE, "--filter: '%s': %s", expression, text);
	}
	abd_perf_filter_given = true;
}

static bool abd_perf_filter_wants(const char *step)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s", say.what, step);
	return !abd_perf_filter_given ||
	       regexec(&abd_perf_filter_expression, text, 0, NULL, 0) == 0;
}

bool abd_perf_say_wants(const char *format, ...)
{
	char step[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(step, sizeof(step), format, arguments);
	va_end(arguments);
	return abd_perf_filter_wants(step);
}

bool abd_perf_say_wanted(void)
{
	return abd_perf_filter_wanted;
}

unsigned abd_perf_say_wanted_steps(void)
{
	return abd_perf_filter_steps;
}

/* ---- progress -------------------------------------------------------------------------------- */

void abd_perf_say_begin(const char *what, unsigned total)
{
	say.what = what;
	say.total = total;
	say.step = 0;
	say.steps++; /* what follows belongs to none of before */
	say.name[0] = '\0';
}

void abd_perf_say_step(const char *format, ...)
{
	char left[32];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(say.name, sizeof(say.name), format, arguments);
	va_end(arguments);
	say.steps++;
	abd_perf_filter_wanted = abd_perf_filter_wants(say.name);
	if (!abd_perf_filter_wanted) {
		say.total -= say.total > say.step;
		return;
	}
	abd_perf_filter_steps++;
	if (say.total <= say.step)
		say.total = say.step + 1;
	abd_perf_say_wipe();
	fprintf(stderr, "%s: %s [%u/%u]", say.what, say.name, say.step + 1, say.total);
	if (say.plan_s > 0)
		fprintf(stderr, ", about %s left",
			abd_perf_say_time(abd_perf_say_left(), left, sizeof(left)));
	if (!isatty(STDERR_FILENO))
		fputc('\n', stderr);
	fflush(stderr);
	say.step++;
}

unsigned abd_perf_say_steps(void)
{
	return say.steps;
}

const char *abd_perf_say_name(void)
{
	return say.name;
}

void abd_perf_say_end(void)
{
	abd_perf_say_wipe();
	fflush(stderr);
}

void abd_perf_say_warn(const char *format, ...)
{
	char *text = say.warning[say.warnings < ABD_PERF_SAY_WARNINGS ? say.warnings++ : 0];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(say.warning[0]), format, arguments);
	va_end(arguments);
	abd_perf_say_plain(text);
	abd_perf_say_wipe();
	fprintf(stderr, "abd-perf: warning: %s\n", text);
}

const char *abd_perf_say_warning(unsigned i)
{
	return i < say.warnings ? say.warning[i] : NULL;
}

static void abd_perf_say_line(const char *format, va_list arguments)
{
	char text[4608]; /* a path of the longest, and words around it */

	vsnprintf(text, sizeof(text), format, arguments);
	abd_perf_say_plain(text);
	abd_perf_say_wipe();
	fprintf(stderr, "abd-perf: %s\n", text);
}

void abd_perf_say_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	abd_perf_say_line(format, arguments);
	va_end(arguments);
}

void (*abd_perf_say_dying)(void);

void abd_perf_say_die(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	abd_perf_say_line(format, arguments);
	va_end(arguments);
	if (abd_perf_say_dying != NULL)
		abd_perf_say_dying();
	exit(status);
}

/* ---- ctrl-C: the handler sets one flag, which is read between rounds ------------------------- */

static volatile sig_atomic_t abd_perf_stop;

static void abd_perf_stop_handle(int signal)
{
	(void)signal;
	abd_perf_stop = 1;
}

void abd_perf_say_stoppable(void)
{
	/* SA_RESETHAND: a second ctrl-C ends the program at once. */
	struct sigaction action = {
		.sa_handler = abd_perf_stop_handle, .sa_flags = (int)SA_RESETHAND | SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool abd_perf_say_stopped(void)
{
	return abd_perf_stop != 0;
}
