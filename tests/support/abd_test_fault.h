/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes memory run out. Each allocation of the library is a site that can refuse, wherever the
 * memory comes from. Magazines answer without reaching a site, so tests that count sites set
 * thread_cache_bytes to 0.
 */
#ifndef ABD_TEST_FAULT_H
#define ABD_TEST_FAULT_H

#include <stddef.h>

/** From here on count the sites that are reached, and refuse none. */
void abd_test_fault_count(void);

/** From here on refuse only the n-th site that is reached. The first has number 0. */
void abd_test_fault_at(size_t n);

/** From here on refuse the n-th site that is reached and all that follow. */
void abd_test_fault_from(size_t n);

/** Stop refusing. Returns how many sites were reached since one of the calls above. */
size_t abd_test_fault_end(void);

/**
 * The statement works while every allocation is refused, and asks for none. What it calls counts as
 * tested without memory, as does what stands between abd_test_fault_at() or _from() and _end(), or
 * is called by these lines: tests/made finds the public calls that no test makes so.
 */
#define abd_test_no_memory(statement)                                                      \
	do {                                                                               \
		abd_test_fault_from(0);                                                    \
		statement;                                                                 \
		size_t sites = abd_test_fault_end();                                       \
		cr_assert_eq(sites, 0, "%s asks for memory %zu times", #statement, sites); \
	} while (0)

/** The same of a call, whose result must be the value. */
#define abd_test_no_memory_is(call, value)                                                \
	do {                                                                              \
		abd_test_fault_from(0);                                                   \
		bool as_it_should = (call) == (value);                                    \
		size_t sites = abd_test_fault_end();                                      \
		cr_assert(as_it_should, "%s gives another answer without memory", #call); \
		cr_assert_eq(sites, 0, "%s asks for memory %zu times", #call, sites);     \
	} while (0)

#endif
