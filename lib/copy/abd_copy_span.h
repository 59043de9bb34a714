/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copying span after span: a plan, chosen once per operation by how many bytes it moves in all, copies each pair of spans.
 * Invariant: of dst exactly [dst, dst + size) is written, of src nothing outside [src, src + size) is read; hints are
 * fetched only. A plan's finish() has run before anybody else may read what it copied.
 *
 * Why by the whole size: one span looks the same whether the operation fits the first cache or none. Against a linear memcpy
 * of the size, 4 KiB runs at random addresses (AVX-512 server, 48 KiB L1, 2 MiB L2):
 *
 *	whole size       memcpy a run  rep movsb  vectors + write hints  streaming + read hints
 *	4 KiB            0.95          1.01       1.15                   0.05
 *	12 KiB           0.85          0.90       1.02                   0.08
 *	16 KiB, 20 KiB   0.84, 0.80    0.89, 0.84 0.80, 0.71             0.08
 *	32 KiB           0.92          0.92       1.02                   0.40
 *	64 KiB - 512 KiB 0.90          0.90       0.93                   0.40
 *	16 MiB           0.90          0.88       0.93                   0.90
 *	32 MiB           0.94          0.93       1.02                   1.11
 *	64 MiB           0.95          0.97       1.06                   1.60
 *	256 MiB          0.56          0.56       0.60                   0.86
 */
#ifndef ABD_COPY_SPAN_H
#define ABD_COPY_SPAN_H

#include "abd_base.h"

#include <stddef.h>

/* next_dst, next_src: NULL, or where the caller will go on writing and reading after this span. The spans are disjoint. */
typedef void abd_copy_span_fn(
	void *dst, const void *src, size_t size, void *next_dst, const void *next_src);

struct abd_copy_plan {
	abd_copy_span_fn *span;
	void (*finish)(void); /* NULL when there is nothing to finish */
};

struct abd_copy_kernel {
	const char *name;
	bool (*supported)(void);
	const struct abd_copy_plan *(*plan)(size_t total_size);
};

/** Every kernel that was built, best first, ended by NULL. The last is always supported. */
extern const struct abd_copy_kernel *const abd_copy_kernels[];

/**
 * The plan for an operation of total_size bytes, by the best kernel this CPU has.
 *
 * Returns: a constant plan, valid for ever. Threads: any; one atomic load after the first call.
 */
const struct abd_copy_plan *abd_copy_plan_for(size_t total_size);

static inline void abd_copy_finish(const struct abd_copy_plan *plan)
{
	if (plan->finish != NULL)
		plan->finish();
}

#endif
