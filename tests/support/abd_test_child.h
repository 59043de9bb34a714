/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests that need a process which has not used the library yet, or that end in abort(): the test
 * program starts itself anew and one function runs there, before main().
 *
 *   ABD_TEST_CHILD(reads_it) { return strcmp(abd_tuning_get("max_order"), "3") != 0; }
 *   ...
 *   status = abd_test_child_run("reads_it", (const char *[]){"ABD_MAX_ORDER=3", NULL}, text,
 *           sizeof(text));
 *
 * Works the same under Criterion, whose own main() is never reached, and under the forkless runner.
 */
#ifndef ABD_TEST_CHILD_H
#define ABD_TEST_CHILD_H

#include <stddef.h>
#include <stdio.h>

void abd_test_child_start(const char *name, int (*function)(void));

#define ABD_TEST_CHILD(name)                                                       \
	static int abd_test_child_##name(void);                                    \
	static __attribute__((constructor)) void abd_test_child_start_##name(void) \
	{                                                                          \
		abd_test_child_start(#name, abd_test_child_##name);                \
	}                                                                          \
	static int abd_test_child_##name(void)

/**
 * Run a child and wait until it ends. environment holds "NAME=value" strings up to a NULL, or is
 * NULL; they are added to our environment without its ABD_ variables. Returns the wait status. text
 * gets what the child wrote to stderr, cut to text_size.
 */
int abd_test_child_run(
	const char *name, const char *const *environment, char *text, size_t text_size);

/** For functions that run in a child: if the condition is false, print it and return 1. */
#define abd_test_child_expect(condition)                                                        \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			return 1;                                                               \
		}                                                                               \
	} while (0)

/**
 * Run a child that must exit with 0. If it does not, the test fails and prints what the child
 * wrote.
 */
void abd_test_child_passes(const char *name, const char *const *environment);

/** End a child of fork(), in which no handlers run: what it has covered counts nevertheless. */
_Noreturn void abd_test_child_end(int status);

/** The exit code of a wait status, or -1 when the process did not exit. */
int abd_test_child_exit(int status);

#endif
