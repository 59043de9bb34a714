/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages while measuring. They go to stderr, so that stdout holds only tables. Progress is one
 * line that rewrites itself on a terminal, and plain lines elsewhere. Warnings are also kept for
 * the report.
 */
#ifndef ABD_PERF_SAY_H
#define ABD_PERF_SAY_H

#include <stddef.h>

/** Everything together takes about total_s: the sum of the parts. */
void abd_perf_say_plan(double total_s);
/** The next part of the plan starts; it takes about part_s. */
void abd_perf_say_part(double part_s);
/** "2 min 5 s", in text. Returns text. */
const char *abd_perf_say_time(double seconds, char *text, size_t room);

/** Begin a part with total steps (an estimate will do). */
void abd_perf_say_begin(const char *what, unsigned total);
/** The next step starts; it is not shown where --filter leaves it out. */
void abd_perf_say_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
void abd_perf_say_end(void);

/** Print a warning and keep it. abd_perf_say_warning(i) is the i-th; NULL after the last. */
void abd_perf_say_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *abd_perf_say_warning(unsigned i);

/** Print "abd-perf: ...": something went wrong, but the program goes on. */
void abd_perf_say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** What is done before the program ends so; NULL: nothing. */
extern void (*abd_perf_say_dying)(void);
/** Print "abd-perf: ..." and end the program. */
void abd_perf_say_die(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

#endif
