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
#define abd_test_expect_contract(statement, text)                                                  \
	do {                                                                                       \
		volatile bool abd_test_broken = true;                                              \
		abd_test_catch();                                                                  \
		if (setjmp(abd_test_jump) == 0) {                                                  \
			statement;                                                                 \
			abd_test_broken = false;                                                   \
		}                                                                                  \
		abd_test_release();                                                                \
		cr_assert(abd_test_broken, "no contract was broken by: %s", #statement);           \
		cr_assert(strstr(abd_test_message, text) != NULL, "\"%s\" does not say \"%s\"",    \
			abd_test_message, text);                                                   \
	} while (0)

/** Uniform 64 bits from a state that the caller seeds and may print (splitmix64). */
static inline uint64_t abd_test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

#endif
