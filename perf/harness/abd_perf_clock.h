/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time and chance: a monotonic clock in nanoseconds, and a generator whose stream a seed repeats.
 * The generator is splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
 */
#ifndef ABD_PERF_CLOCK_H
#define ABD_PERF_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline double abd_perf_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
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

/** Tell the compiler that value is used, so that what made it is not left out. */
static inline void abd_perf_keep(const void *value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

#endif
