/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copying span after span. Each operation chooses one kernel, by the number of bytes that it moves
 * in all; that kernel copies each pair of spans.
 * Invariant: a kernel writes exactly [dst, dst + size), reads nothing outside [src, src + size),
 * and only prefetches hints. Its finish() has run before any other thread may read what it copied.
 *
 * Why the whole size decides: one span looks the same whether the operation fits into the
 * first-level cache or into none. The speed of abd_copy(), relative to a linear memcpy of the same
 * size, 4 KiB runs at random addresses (abd-perf run compare; AVX-512 server, 48 KiB L1, 2 MiB L2):
 *
 *   whole size   memcpy a run   rep movsb a run   vectors, no hint   vectors + write hints
 *   4 KiB        0.62           0.66              0.80               0.76
 *   8 KiB        0.55           0.59              0.75               0.70
 *   16 KiB       0.57           0.61              0.67               0.70
 *   20 KiB       0.56           0.61              0.59               0.64
 *   64 KiB       0.92                             0.90               0.93
 *   1 MiB        0.91                             0.79               0.93
 *
 * Up to 16 KiB a linear memcpy stores 64 bytes a cycle, which is the CPU's limit. At that speed a
 * run of 4 KiB is copied in 16 ns; finding the next run, the checks and the call take 5 ns more.
 * From 32 MiB on, stores that stream past the caches win: see the plan in abd_copy_span.c.
 */
#ifndef ABD_COPY_SPAN_H
#define ABD_COPY_SPAN_H

#include "abd_kernel.h"
#include "abd_lanes.h"

/* next_dst, next_src: NULL, or where the caller will go on writing and reading after this span. The
 * spans are disjoint. */
typedef void abd_copy_span_fn(
	void *dst, const void *src, size_t size, void *next_dst, const void *next_src);

struct abd_copy_kernel {
	ABD_KERNEL_HEAD;
	abd_copy_span_fn *span;
	void (*finish)(void); /* NULL when there is nothing to finish */
	/*
	 * 0, or how many pairs of spans are copied together, and how: size bytes from each b to its
	 * a, at least ABD_LANE_MIN. next: where the caller will go on; never NULL.
	 */
	unsigned lane_count;
	void (*lanes)(const struct abd_lanes *now, size_t size, const struct abd_lanes *next);
};

/* The kernels. Those of another machine are not built, and not in the table. */
extern const struct abd_copy_kernel abd_copy_avx512, abd_copy_libc, abd_copy_avx512_four,
	abd_copy_string, abd_copy_nt_avx512, abd_copy_nt_pair_avx512, abd_copy_nt_four_avx512;

/**
 * Every kernel that was built, best first, ended by NULL; the kernels after libc serve only where a
 * plan names them.
 */
extern const struct abd_copy_kernel *const abd_copy_kernels[];

/** The tunable "copy". */
extern struct abd_choice abd_copy_choice;

/** The kernel for an operation that copies size bytes in all. Threads: any; see abd_choice_for().
 */
static inline const struct abd_copy_kernel *abd_copy_for(size_t size)
{
	return ABD_CHOOSE(abd_copy_kernel, &abd_copy_choice, size);
}

static inline void abd_copy_finish(const struct abd_copy_kernel *kernel)
{
	if (kernel->finish != NULL)
		kernel->finish();
}

#endif
