/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time left is what the steps so far took on average, times the steps to come.
 */
#include "abd_perf_say.h"
#include "abd_perf_clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ABD_PERF_SAY_WARNINGS 16

static struct {
	const char *what;
	unsigned total, step;
	double started_ns;
	char warning[ABD_PERF_SAY_WARNINGS][240];
	unsigned warnings;
} say;

/* Wipe the progress line, if there is one. */
static void abd_perf_say_wipe(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

void abd_perf_say_begin(const char *what, unsigned total)
{
	say.what = what;
	say.total = total;
	say.step = 0;
	say.started_ns = abd_perf_clock_wall_ns();
}

void abd_perf_say_step(const char *format, ...)
{
	double passed_s = (abd_perf_clock_wall_ns() - say.started_ns) / 1e9;
	unsigned left = say.total > say.step ? say.total - say.step : 1;
	va_list arguments;

	abd_perf_say_wipe();
	fprintf(stderr, "%s [%u/%u] ", say.what, say.step + 1,
		say.total > say.step ? say.total : say.step + 1);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	if (!isatty(STDERR_FILENO))
		fputc('\n', stderr);
	else if (say.step > 0)
		fprintf(stderr, ", about %.0f s left", passed_s / say.step * left);
	fflush(stderr);
	say.step++;
}

void abd_perf_say_tick(const char *format, ...)
{
	va_list arguments;

	abd_perf_say_wipe();
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	if (!isatty(STDERR_FILENO))
		fputc('\n', stderr);
	fflush(stderr);
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
	abd_perf_say_wipe();
	fprintf(stderr, "abd-perf: warning: %s\n", text);
}

const char *abd_perf_say_warning(unsigned i)
{
	return i < say.warnings ? say.warning[i] : NULL;
}

void abd_perf_say_die(int status, const char *format, ...)
{
	va_list arguments;

	abd_perf_say_wipe();
	fputs("abd-perf: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}
