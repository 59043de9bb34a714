/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines written back from the cache, one instruction a kernel, each compiled for itself alone.
 */
#include "abd_flush_kernel.h"

#include <immintrin.h>

#define KERNEL(instruction, cpu)                                  \
	const struct abd_flush_kernel abd_flush_##instruction = { \
		.name = #instruction,                             \
		.supported = (cpu),                               \
		.flush = instruction##_flush,                     \
		.durability = ABD_FLUSH_DURABILITY_PERSISTENCE,   \
		.fence = abd_flush_fence,                         \
	}

/* clwb: write a line back and, where the CPU can, keep it in the cache, clean. */
static __attribute__((target("clwb"))) void clwb_flush(void *line, size_t count)
{
	for (char *at = line; count > 0; count--, at += ABD_LINE_SIZE)
		_mm_clwb(at);
}

KERNEL(clwb, abd_cpu_runs_clwb);

/* clflushopt: write a line back and drop it from all caches; flushes of several lines overlap. */
static __attribute__((target("clflushopt"))) void clflushopt_flush(void *line, size_t count)
{
	for (char *at = line; count > 0; count--, at += ABD_LINE_SIZE)
		_mm_clflushopt(at);
}

KERNEL(clflushopt, abd_cpu_runs_clflushopt);

/* clflush: the same, one line after another. For CPUs that have nothing newer. */
static void clflush_flush(void *line, size_t count)
{
	for (char *at = line; count > 0; count--, at += ABD_LINE_SIZE)
		_mm_clflush(at);
}

KERNEL(clflush, abd_cpu_runs_clflush);

/*
 * sfence: everything that was stored or written back before it is globally visible, and so in the
 * platform's power-fail domain, before any later store. Stores around the cache, clwb and
 * clflushopt need it, since plain stores may pass them.
 */
void abd_flush_fence(void)
{
	_mm_sfence();
}
