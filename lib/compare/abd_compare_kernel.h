/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparison kernels: five questions about spans of bytes, answered by one record per instruction
 * set. Some kernels also compare several spans of each side together.
 * Invariant: no kernel reads outside [pointer, pointer + size), whatever the alignment; a hint's
 * address is prefetched, never read.
 * Sources: linux-fsdevel, "vfs: Optimize dedupe comparison" (one fast generic comparison, no caller
 * works around it); linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp" (short
 * names by words).
 */
#ifndef ABD_COMPARE_KERNEL_H
#define ABD_COMPARE_KERNEL_H

#include "abd_kernel.h"
#include "abd_lanes.h"

/*
 * next, next_a, next_b: NULL, or the address where the caller will go on reading that side after
 * this span. Scattered runs lie where no hardware prefetcher looks, so the kernel fetches the head
 * of the next run while it works on this one.
 */
struct abd_compare_kernel {
	ABD_KERNEL_HEAD;
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
	/*
	 * 0, or how many spans of each side, 2 or 4, are walked together, and how: of each lane
	 * size bytes, at least ABD_LANE_MIN. Returns how many bytes from the start are known to be
	 * equal in all lanes; size only if all are. next: where the caller will go on; never NULL.
	 */
	unsigned lane_count;
	size_t (*lanes)(const struct abd_lanes *now, size_t size, const struct abd_lanes *next);
	/* whether size bytes of each a are zero; NULL without lanes */
	bool (*zero_lanes)(const struct abd_lanes *now, size_t size, const struct abd_lanes *next);
};

/* The kernels. Those of another machine are not built, and not in the table. */
extern const struct abd_compare_kernel abd_compare_avx512, abd_compare_avx2, abd_compare_sse2,
	abd_compare_neon, abd_compare_libc, abd_compare_word, abd_compare_scalar,
	abd_compare_avx512_near, abd_compare_avx512_pair, abd_compare_avx512_four,
	abd_compare_avx2_pair, abd_compare_avx2_four;

/** Every kernel that was built, best first, ended by NULL. A kernel is added by one file and one
 * line of the table. */
extern const struct abd_compare_kernel *const abd_compare_kernels[];

/** The tunable "compare". */
extern struct abd_choice abd_compare_choice;

/** The kernel for comparing size bytes in all. Threads: any; see abd_choice_for(). */
static inline const struct abd_compare_kernel *abd_compare_for(size_t size)
{
	return ABD_CHOOSE(abd_compare_kernel, &abd_compare_choice, size);
}

#endif
