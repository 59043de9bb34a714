/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zeroing span after span, by kernels that are chosen like those for copies (abd_copy_span.h): by
 * the number of bytes that the whole operation zeroes.
 * Invariant: a kernel writes exactly [p, p + size), and only prefetches hints. Its finish() has run
 * before any other thread may read what it zeroed.
 */
#ifndef ABD_ZERO_SPAN_H
#define ABD_ZERO_SPAN_H

#include "abd_kernel.h"
#include "abd_lanes.h"

struct abd_zero_kernel {
	ABD_KERNEL_HEAD;
	/* next: NULL, or where the caller will go on after this span */
	void (*span)(void *p, size_t size, const void *next);
	void (*finish)(void); /* NULL when there is nothing to finish */
	/*
	 * How many spans are zeroed together, or 0. lanes() zeroes size bytes of each, at least
	 * ABD_LANE_MIN. next: where the caller will go on; never NULL.
	 */
	unsigned lane_count;
	void (*lanes)(const struct abd_lanes *now, size_t size, const struct abd_lanes *next);
};

/* The kernels. Those of another machine are not built, and not in the table. */
extern const struct abd_zero_kernel abd_zero_libc, abd_zero_avx512, abd_zero_avx512_four,
	abd_zero_nt_pair_avx512;

/** Every kernel that was built, best first, ended by NULL. */
extern const struct abd_zero_kernel *const abd_zero_kernels[];

/** The tunable "zero". */
extern struct abd_choice abd_zero_choice;

/** The kernel for an operation that zeroes size bytes in all. Threads: any; see abd_choice_for().
 */
static inline const struct abd_zero_kernel *abd_zero_for(size_t size)
{
	return ABD_CHOOSE(abd_zero_kernel, &abd_zero_choice, size);
}

static inline void abd_zero_finish(const struct abd_zero_kernel *kernel)
{
	if (kernel->finish != NULL)
		kernel->finish();
}

#endif
