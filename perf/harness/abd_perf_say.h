/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said while measuring, on stderr, so that stdout holds the tables only: a progress line
 * that rewrites itself on a terminal, plain lines elsewhere; and warnings, which are kept for the
 * report.
 */
#ifndef ABD_PERF_SAY_H
#define ABD_PERF_SAY_H

#include <stddef.h>

/** All that will be measured takes about so long: the sum of its parts. */
void abd_perf_say_plan(double total_s);
/** The next part of the plan starts, of about so long. */
void abd_perf_say_part(double part_s);
/** "2 min 5 s", in text. Returns text. */
const char *abd_perf_say_time(double seconds, char *text, size_t room);

/** Within a part: total steps are to come (an estimate will do). */
void abd_perf_say_begin(const char *what, unsigned total);
/** The next step starts; it is not shown where --filter leaves it out. */
void abd_perf_say_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
/**
 * How the step at hand is getting on: a line of its own, or, on a terminal, in the progress line's
 * place.
 */
void abd_perf_say_tick(const char *format, ...) __attribute__((format(printf, 1, 2)));
void abd_perf_say_end(void);

/** Said at once, and kept: abd_perf_say_warning(i) is the i-th, NULL behind the last. */
void abd_perf_say_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *abd_perf_say_warning(unsigned i);

/** "abd-perf: ...": something went wrong, but the program goes on. */
void abd_perf_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** "abd-perf: ..." and the end of the program. */
void abd_perf_say_die(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

#endif
