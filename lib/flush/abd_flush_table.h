/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernel serves a flush-copy: one choice for each intent that a caller can state. All choices
 * share one table of kernels.
 */
#ifndef ABD_FLUSH_TABLE_H
#define ABD_FLUSH_TABLE_H

#include "abd_flush_kernel.h"

#include "abd_contract.h"

enum {
	ABD_FLUSH_INTENTS = 3, /* AUTO, SHARED, EXCLUSIVE */
	ABD_FLUSH_KERNELS_MAX = 12,
};

/* The kernels. Those of another machine are not built, and not in the table. */
extern const struct abd_flush_kernel abd_flush_movdir64b, abd_flush_avx512, abd_flush_avx2,
	abd_flush_sse2, abd_flush_movnti, abd_flush_clwb, abd_flush_clflushopt, abd_flush_clflush,
	abd_flush_cvap, abd_flush_cvac, abd_flush_portable;

/** Every kernel that was built, those around the cache first, ended by NULL. */
extern const struct abd_flush_kernel *const abd_flush_kernels[];

/**
 * The tunables "flush_auto", "flush_shared", "flush_exclusive", which "flush" forces together; and
 * the tunable "flush_line".
 */
extern struct abd_choice abd_flush_choices[ABD_FLUSH_INTENTS];
extern struct abd_choice abd_flush_line_choice;

/**
 * The kernel for a copy of size bytes with these flags. Contract: flags are known; if not, the
 * message names call.
 */
static inline const struct abd_flush_kernel *abd_flush_choose(
	const char *call, size_t size, unsigned flags)
{
	unsigned intent = flags & ~(unsigned)ABD_FLUSH_NODRAIN;

	ABD_REQUIRE_IN(call, intent < ABD_FLUSH_INTENTS, "flags %#x are not known", flags);
	return ABD_CHOOSE(abd_flush_kernel, &abd_flush_choices[intent], size);
}

/** The kernel that writes back the heads and tails of copies around the cache: flush() is not NULL.
 */
static inline const struct abd_flush_kernel *abd_flush_line(void)
{
	return ABD_CHOOSE(abd_flush_kernel, &abd_flush_line_choice, 1);
}

/**
 * Fill kernels with those that this CPU supports, in the table's order. Returns their number: at
 * least one.
 */
size_t abd_flush_supported(const struct abd_flush_kernel *kernels[ABD_FLUSH_KERNELS_MAX]);

/**
 * How durable a kernel's copies are: its own promise if it has flush(), else that of
 * abd_flush_line(), which serves its heads and tails.
 */
enum abd_flush_durability abd_flush_durability_of(const struct abd_flush_kernel *kernel);

#endif
