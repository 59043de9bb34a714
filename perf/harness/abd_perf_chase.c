/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A single circle through all lines, by Sattolo's shuffle (1986): no line is visited twice before
 * all others, and no step tells the next one.
 */
#include "abd_perf_chase.h"
#include "abd_perf_clock.h"

#include <stdlib.h>

#define ABD_PERF_CHASE_WORDS 16 /* of a line */
#define ABD_PERF_CHASE_STEPS 200000

void abd_perf_chase_link(uint32_t *memory, size_t lines, uint64_t random)
{
	for (size_t i = 0; i < lines; i++)
		memory[i * ABD_PERF_CHASE_WORDS] = (uint32_t)i;
	for (size_t i = lines; i > 1; i--) {
		size_t j = abd_perf_random_below(&random, i - 1) * ABD_PERF_CHASE_WORDS;
		uint32_t swap = memory[(i - 1) * ABD_PERF_CHASE_WORDS];

		memory[(i - 1) * ABD_PERF_CHASE_WORDS] = memory[j];
		memory[j] = swap;
	}
}

double abd_perf_chase_ns(size_t bytes)
{
	size_t lines = bytes / 64;
	uint32_t *memory = aligned_alloc(64, lines * 64), at = 0;
	double start;

	if (memory == NULL || lines < 2)
		return 0;
	abd_perf_chase_link(memory, lines, bytes);
	start = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < ABD_PERF_CHASE_STEPS; i++)
		at = memory[(size_t)at * ABD_PERF_CHASE_WORDS];
	abd_perf_keep(&at);
	start = abd_perf_clock_read(CLOCK_THREAD_CPUTIME_ID) - start;
	free(memory);
	return start / ABD_PERF_CHASE_STEPS;
}
