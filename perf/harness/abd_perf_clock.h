/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks in nanoseconds, and a random generator: the same seed gives the same numbers.
 *
 * The work of one thread is timed by its CPU time, which leaves out the time that a shared machine
 * gives to others. Threads of a crew wait for each other; CPU time would leave that out too, so the
 * wall clock is used.
 *
 * The generator is splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014).
 */
#ifndef ABD_PERF_CLOCK_H
#define ABD_PERF_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_THREAD_CPUTIME_ID, or CLOCK_MONOTONIC; set before threads start. */
extern clockid_t abd_perf_clock;

static inline double abd_perf_clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/** For timing work. */
static inline double abd_perf_clock_ns(void)
{
	return abd_perf_clock_read(abd_perf_clock);
}

/** For progress, deadlines and latencies. */
static inline double abd_perf_clock_wall_ns(void)
{
	return abd_perf_clock_read(CLOCK_MONOTONIC);
}

static inline uint64_t abd_perf_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/** A number in [0, limit). The bias, limit / 2^64, is of no concern here. */
static inline size_t abd_perf_random_below(uint64_t *state, size_t limit)
{
	return (size_t)(abd_perf_random(state) % limit);
}

/** Put n indices into random order (Fisher and Yates). */
static inline void abd_perf_shuffle(uint32_t *index, size_t n, uint64_t *state)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = abd_perf_random_below(state, i);
		uint32_t swap = index[i - 1];

		index[i - 1] = index[j];
		index[j] = swap;
	}
}

/** Tell the compiler that value is used, so that it keeps the work that produced value. */
static inline void abd_perf_keep(const void *value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

/**
 * The simplest path of a race, one expression in a loop: defines name(arg, iterations). expression
 * may use o, which is arg as a pointer to type.
 */
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
