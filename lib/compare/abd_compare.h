/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparison kernels: five questions about spans of bytes, answered by one record per instruction
 * set.
 * Invariant: no kernel reads outside [pointer, pointer + size), whatever the alignment; hints are
 * fetched, never read. Sources: linux-fsdevel, "vfs: Optimize dedupe comparison" (one fast generic
 * comparison, no caller works around it); linux-kernel, "Big git diff speedup by avoiding x86 fast
 * string memcmp" (short names by words).
 */
#ifndef ABD_COMPARE_KERNEL_H
#define ABD_COMPARE_KERNEL_H

#include "abd_base.h"

#include <stddef.h>

/*
 * next, next_a, next_b: NULL, or where the caller will go on reading on that side after this span.
 * Scattered runs lie where no hardware prefetcher looks, so the kernel fetches the head of the next
 * run while it works on this one.
 */
struct abd_compare_kernel {
	const char *name;
	bool (*supported)(void);
	/* memcmp's sign, any magnitude */
	int (*order)(
		const void *a, const void *b, size_t size, const void *next_a, const void *next_b);
	bool (*equal)(
		const void *a, const void *b, size_t size, const void *next_a, const void *next_b);
	/* the offset of the first difference; size when there is none */
	size_t (*diff)(
		const void *a, const void *b, size_t size, const void *next_a, const void *next_b);
	bool (*zero)(const void *p, size_t size, const void *next);
	/* equal, for short keys: no hints */
	bool (*key_equal)(const void *a, const void *b, size_t size);
};

struct abd_tunables;

/** The tunable "compare", also ABD_COMPARE in the environment. */
extern const struct abd_tunables abd_compare_tunables;

/**
 * Every kernel that was built, best first, ended by NULL. A kernel is added by one file and one
 * line of the table.
 */
extern const struct abd_compare_kernel *const abd_compare_kernels[];

/**
 * The record in use: "auto" until abd_compare_force() says otherwise.
 *
 * Returns: a constant record, never NULL, valid for ever.
 * Threads: any; one atomic load after the first call. A caller that asks once per operation sees
 *          one kernel throughout.
 */
const struct abd_compare_kernel *abd_compare_active(void);

/**
 * Use the kernel of this name, or "auto": for each question the best that this CPU has.
 *
 * Returns: 0. Errors: -ENOENT no such kernel was built; -EINVAL this CPU lacks it. The choice is
 *          then as before.
 * Threads: any; operations under way finish with the kernel they started with.
 */
int abd_compare_force(const char *name);

/**
 * Write the names that abd_compare_force() takes on this CPU, separated by spaces; cut to size,
 * always terminated.
 */
void abd_compare_names(char *buf, size_t size);

#endif
