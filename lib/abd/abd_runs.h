/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range of a buffer as a table of runs, for codecs that read (or write) memory where it lies.
 * Invariant: runs[0] from skip on, then the following ones, hold the range. The table may cover
 * more bytes than the range. A short table is made on the caller's stack, where it is in the cache;
 * runs that are neighbours in memory become one. A long table of a scatter buffer is the buffer's
 * own.
 */
#ifndef ABD_RUNS_H
#define ABD_RUNS_H

#include "abd_impl.h"

/*
 * 64 runs: 1 KiB of stack. 256 KiB of single pages, more than a compressed record of the common
 * sizes has.
 */
#define ABD_RUNS_LOCAL 64

struct abd_runs {
	const struct iovec *runs;
	size_t count;
	size_t skip;       /* bytes of runs[0] before the range */
	size_t owned_size; /* bytes of a table that was allocated, or 0 */
	struct iovec local[ABD_RUNS_LOCAL];
};

/**
 * Write the pieces of [off, off + size) into table, as many as there is room for; table NULL: only
 * count them. *covered: bytes of these. Returns how many. writer: the call that will write to them,
 * for which a buffer of zeros breaks the contract; NULL: they are read.
 */
size_t abd_runs_map(const char *writer, const abd_t *abd, size_t off, size_t size,
	struct iovec *table, size_t room, size_t *covered);

/**
 * The runs of [off, off + size), which the caller has checked to be there. False: no memory (only
 * gangs and zeros of more than 64 pieces need any).
 */
bool abd_runs_read(struct abd_runs *runs, const abd_t *abd, size_t off, size_t size);

/** The same for writing. A buffer of zeros in the range breaks the contract of call. */
bool abd_runs_write(struct abd_runs *runs, const char *call, abd_t *abd, size_t off, size_t size);

/** Free the table, if it was allocated. */
static inline void abd_runs_end(struct abd_runs *runs)
{
	if (ABD_UNLIKELY(runs->owned_size > 0))
		abd_mem_cache_free((void *)(uintptr_t)runs->runs, runs->owned_size);
}

#endif
