/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3 over spans, by xxHash's own code, one kernel per instruction set.
 * Invariant: a state is begun, continued and ended by one kernel.
 */
#ifndef ABD_XXH3_H
#define ABD_XXH3_H

#include "abd_kernel.h"
#include "abd_spans.h"

#include <stdint.h>

/* What one sum keeps between spans; an XXH3_state_t fits. */
struct abd_xxh3_state {
	_Alignas(64) unsigned char bytes[576];
};

struct abd_xxh3_kernel {
	ABD_KERNEL_HEAD;
	uint64_t (*whole)(const void *span, size_t size, uint64_t seed); /* of a single span */
	void (*begin)(struct abd_xxh3_state *state, uint64_t seed);
	void (*add)(struct abd_xxh3_state *state, const struct iovec *span, size_t count);
	uint64_t (*end)(const struct abd_xxh3_state *state);
};

/* The kernels. Those of another machine are not built, and not in the table. */
extern const struct abd_xxh3_kernel abd_xxh3_avx512, abd_xxh3_avx2, abd_xxh3_portable;

/** Every kernel that was built, best first, ended by NULL; the last runs everywhere. */
extern const struct abd_xxh3_kernel *const abd_xxh3_kernels[];

/** The tunable "xxh3". */
extern struct abd_choice abd_xxh3_choice;

/** The kernel for size bytes. Threads: any; see abd_choice_for(). */
static inline const struct abd_xxh3_kernel *abd_xxh3_for(size_t size)
{
	return ABD_CHOOSE(abd_xxh3_kernel, &abd_xxh3_choice, size);
}

#endif
