/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fletcher_4 over spans: four running 64-bit sums over 32-bit words, one kernel per instruction
 * set.
 * Invariant: the result depends on the bytes alone, not on how they were cut into spans; a word may
 * lie across several.
 * OpenZFS: fletcher_4_native(), fletcher_4_byteswap() in module/zcommon/zfs_fletcher.c; the results
 * are equal for the sizes that OpenZFS defines, the multiples of 4. For any other size OpenZFS
 * leaves out the last bytes; here they count, as a word filled up with zeros.
 */
#ifndef ABD_FLETCHER_H
#define ABD_FLETCHER_H

#include "abd_kernel.h"
#include "abd_spans.h"

/* Four sums for each of 16 lanes: what the widest vectors need. */
enum { ABD_FLETCHER_LANES = 16, ABD_FLETCHER_STEP_MAX = 64 };

struct abd_fletcher_kernel {
	ABD_KERNEL_HEAD;
	size_t step; /* bytes that all lanes take at once: a power of two */
	/* The checksum of count > 0 spans, all but the last whole steps, in the machine's order. */
	void (*whole)(uint64_t sum[4], const struct iovec *span, size_t count);
	/* Clear the lanes, by as wide stores as the loads that follow: they need not wait then. */
	void (*begin)(uint64_t *lanes);
	/*
	 * Add spans of whole steps, of any alignment, to the lanes. native() takes words in the
	 * machine's byte order, byteswap() in the opposite one.
	 */
	void (*native)(uint64_t *lanes, const struct iovec *span, size_t count);
	void (*byteswap)(uint64_t *lanes, const struct iovec *span, size_t count);
	/* The sums of all words so far. */
	void (*join)(uint64_t sum[4], const uint64_t *lanes);
};

/*
 * The lanes are joined once, at the end: joining them takes a tenth of the time of a 4 KiB span. So
 * the bytes carried from span to span are the rest of a step, not only the rest of a word.
 */
struct abd_fletcher_state {
	const struct abd_fletcher_kernel *kernel;
	bool byteswap;
	size_t carried;
	uint8_t carry[ABD_FLETCHER_STEP_MAX];
	_Alignas(64) uint64_t lanes[4 * ABD_FLETCHER_LANES]; /* the widest vectors are loaded whole
							      */
};

/* The kernels. Those of another machine are not built, and not in the table. */
extern const struct abd_fletcher_kernel abd_fletcher_avx512, abd_fletcher_avx2, abd_fletcher_scalar;

/** Every kernel that was built, best first, ended by NULL. */
extern const struct abd_fletcher_kernel *const abd_fletcher_kernels[];

/** The tunable "fletcher". */
extern struct abd_choice abd_fletcher_choice;

/** The kernel for size bytes. Threads: any; see abd_choice_for(). */
static inline const struct abd_fletcher_kernel *abd_fletcher_for(size_t size)
{
	return ABD_CHOOSE(abd_fletcher_kernel, &abd_fletcher_choice, size);
}

/** Start. If byteswap is true, the words are in the opposite of this machine's byte order. */
void abd_fletcher_begin(
	struct abd_fletcher_state *state, const struct abd_fletcher_kernel *kernel, bool byteswap);

/** Add the next spans, of any size and alignment. */
void abd_fletcher_add(struct abd_fletcher_state *state, const struct iovec *span, size_t count);

/**
 * The checksum of all spans; an incomplete last word is filled up with zeros. state can't be used
 * afterwards.
 */
void abd_fletcher_end(struct abd_fletcher_state *state, uint64_t checksum[4]);

#endif
