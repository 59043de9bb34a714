/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every unit test begins with: Criterion, the C library, and what tests share. They expect a
 * broken contract, and draw random numbers that can be repeated. Works under Criterion and under
 * the forkless runner.
 */
#ifndef ABD_TEST_H
#define ABD_TEST_H

#include "abd_test_child.h"
#include "abd_test_fault.h"
#include "abd_test_kinds.h"
#include "abd_test_provider.h"
#include "abd_test_wrap.h"

#include <abd/abd.h>
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern _Thread_local jmp_buf abd_test_jump;
extern _Thread_local char abd_test_message[256];

/**
 * From here on a broken contract on this thread jumps back to the test; its message is in
 * abd_test_message.
 */
void abd_test_catch(void);

/** From here on a broken contract aborts again, as in any program. */
void abd_test_release(void);

/** The statement must break a contract, and the line about it must contain text. */
#define abd_test_expect_contract(statement, text)                                               \
	do {                                                                                    \
		volatile bool abd_test_broken = true;                                           \
		abd_test_catch();                                                               \
		if (setjmp(abd_test_jump) == 0) {                                               \
			statement;                                                              \
			abd_test_broken = false;                                                \
		}                                                                               \
		abd_test_release();                                                             \
		cr_assert(abd_test_broken, "no contract was broken by: %s", #statement);        \
		cr_assert(strstr(abd_test_message, text) != NULL, "\"%s\" does not say \"%s\"", \
			abd_test_message, text);                                                \
	} while (0)

/**
 * This call breaks the contract of name, and the line about it names that call and none that it
 * makes. tests/made finds the public calls of which no test says so.
 */
#define abd_test_breaks(name, ...) \
	abd_test_expect_contract((void)name(__VA_ARGS__), "broken: " #name ": ")

/**
 * Like cr_assert, for inner loops: Criterion sees only the failures, since each assertion that it
 * sees costs a system call.
 */
#define abd_test_check(condition, ...)                 \
	do {                                           \
		if (!(condition))                      \
			cr_assert(false, __VA_ARGS__); \
	} while (0)

/** Go through the kernels of a layer's table that this CPU can run. */
#define ABD_TEST_EACH(type, kernel, table)                           \
	for (const struct type *const *abd_each_ = (table), *kernel; \
		(kernel = *abd_each_) != NULL; abd_each_++)          \
		if (kernel->supported())

/**
 * Whether this program is compiled for x86. Under an emulator other sources, such as /proc,
 * describe the machine that runs the emulator.
 */
#if defined(__x86_64__) || defined(__i386__)
enum { ABD_TEST_X86 = 1 };
#else
enum { ABD_TEST_X86 = 0 };
#endif

/**
 * How many of cases to try. The share is ABD_TEST_OPS (from the environment) out of a million, but
 * at least a tenth; all cases if ABD_TEST_OPS is not set. For tests that take long under a checker.
 */
size_t abd_test_share(size_t cases);

/** What a tunable is set to, without a plan's origin. The text lives until this thread's next call.
 */
const char *abd_test_tunable(const char *name);

/** Uniform 64 bits from a state that the caller seeds and may print (splitmix64). */
static inline uint64_t abd_test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/** Uniform within [0, limit). limit > 0. */
static inline size_t abd_test_random_below(uint64_t *state, size_t limit)
{
	return (size_t)(abd_test_random(state) % limit);
}

static inline void abd_test_random_fill(uint64_t *state, void *buf, size_t size)
{
	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t random = abd_test_random(state);
		size_t left = size - i;

		memcpy((char *)buf + i, &random, left < sizeof(random) ? left : sizeof(random));
	}
}

/** The library's counters now. */
struct abd_stats abd_test_stats(void);

/**
 * Whether all gauges have the same values again: nothing leaked, nothing was subtracted twice. If
 * not, prints the gauges that differ on stderr.
 */
bool abd_test_gauges_equal(const struct abd_stats *before, const struct abd_stats *after);

/** Whether a thread of this process sleeps: one that has to wait for a processor does not. */
bool abd_test_sleeps(long tid);

#endif
