/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simplest path (abd_perf_race.h): one expression in a loop. The compiler is kept from removing
 * it.
 */
#ifndef ABD_PERF_LOOP_H
#define ABD_PERF_LOOP_H

#include "abd_perf_clock.h"

/** Defines name(arg, iterations). expression may use o, which is arg as a pointer to type. */
#define ABD_PERF_LOOP(type, name, expression)               \
	static double name(void *arg, uint64_t iterations)  \
	{                                                   \
		type *o = arg;                              \
		double start = abd_perf_clock_ns();         \
		long result = 0;                            \
                                                            \
		for (uint64_t i = 0; i < iterations; i++) { \
			result += (expression);             \
			abd_perf_keep(&result);             \
		}                                           \
		return abd_perf_clock_ns() - start;         \
	}

#endif
