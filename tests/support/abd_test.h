/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tests share: expecting a broken contract, random numbers that can be replayed.
 * Works under Criterion and under the forkless runner alike.
 */
#ifndef ABD_TEST_H
#define ABD_TEST_H

#include <abd/abd.h>

#include <setjmp.h>
#include <stdint.h>
#include <string.h>

extern _Thread_local jmp_buf abd_test_jump;
extern _Thread_local char abd_test_message[256];

/** Catch broken contracts on this thread from here on; the message lands in abd_test_message. */
void abd_test_catch(void);

/** Abort on broken contracts again, as programs do. */
void abd_test_release(void);

/** The statement must break a contract, whose line must contain text. */
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
 * As cr_assert, for inner loops: Criterion hears of failures only, since each message costs it a
 * system call.
 */
#define abd_test_check(condition, ...)                 \
	do {                                           \
		if (!(condition))                      \
			cr_assert(false, __VA_ARGS__); \
	} while (0)

/**
 * Whether this program is for x86: emulators show it the CPU and the process of the machine
 * beneath.
 */
#if defined(__x86_64__) || defined(__i386__)
enum { ABD_TEST_X86 = 1 };
#else
enum { ABD_TEST_X86 = 0 };
#endif

/**
 * How many of so many cases to try: as large a part as ABD_TEST_OPS in the environment is of a
 * million, a tenth at least; all when it is not set. For what takes long under a checker.
 */
size_t abd_test_share(size_t cases);

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

/** The counters now. */
struct abd_stats abd_test_stats(void);

/**
 * Whether all gauges stand where they stood: nothing leaked, nothing counted out twice. If not,
 * says which on stderr.
 */
bool abd_test_gauges_equal(const struct abd_stats *before, const struct abd_stats *after);

#endif
