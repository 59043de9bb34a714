/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages while measuring. They go to stderr, so that stdout holds only tables. Progress is one
 * line that rewrites itself on a terminal, and plain lines elsewhere. Warnings are also kept for
 * the report.
 */
#ifndef ABD_PERF_SAY_H
#define ABD_PERF_SAY_H

#include <stdbool.h>
#include <stddef.h>

/** Everything together takes about total_s: the sum of the parts. */
void abd_perf_say_plan(double total_s);
/** The next part of the plan starts; it takes about part_s. */
void abd_perf_say_part(double part_s);
/** Seconds that are left of the plan, by how long everything took until now. */
double abd_perf_say_left(void);
/** "2 min 5 s", in text. Returns text. */
const char *abd_perf_say_time(double seconds, char *text, size_t room);

/** Begin a part with total steps (an estimate will do). */
void abd_perf_say_begin(const char *what, unsigned total);
/** The next step starts; it is not shown where --filter leaves it out. */
void abd_perf_say_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
void abd_perf_say_end(void);
/** How many steps have begun, and the name of the last. */
unsigned abd_perf_say_steps(void);
const char *abd_perf_say_name(void);

/**
 * --filter: which steps are measured. One line of progress names one step; one that is not wanted
 * is neither shown nor raced. The expression is an extended regular one, matched against "SCENARIO:
 * STEP", ignoring case; NULL: all are wanted. Ends the program when it is wrong.
 */
void abd_perf_say_filter(const char *expression);
/** Whether a step of this name is wanted, before what it needs is made. */
bool abd_perf_say_wants(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Whether the present step is wanted. */
bool abd_perf_say_wanted(void);
/** How many steps were wanted so far. */
unsigned abd_perf_say_wanted_steps(void);

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

/**
 * ctrl-C: the first ends measuring after the present round and keeps what was measured. The second
 * ends the program at once.
 */
void abd_perf_say_stoppable(void);
bool abd_perf_say_stopped(void);

#endif
