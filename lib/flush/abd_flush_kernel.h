/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The three things a durable copy is made of, each a constant record per instruction set, and the
 * policies that compose them:
 *
 *   copy    puts whole lines into place, through the cache or around it
 *   line    writes lines back from the cache
 *   fence   waits for both
 *
 * Invariant: a line is 64 bytes and aligned, and no copy kernel is ever given part of one: a
 * non-temporal store of part of a line costs the memory a read and a merge, and on persistent
 * memory a whole internal write each.
 * Source: PMDK libpmem keeps the same three apart, but picks among their products; here a policy is
 *         one line of a table.
 */
#ifndef ABD_FLUSH_KERNEL_H
#define ABD_FLUSH_KERNEL_H

#include "abd_base.h"

#include <abd/flush.h>

#define ABD_LINE_SIZE ((size_t)64)

struct abd_flush_copy {
	const char *name;
	bool (*supported)(void);
	bool cached; /* what it wrote is in the cache: the lines must be written back */
	/* dst is aligned to a line, src to nothing; count > 0. Both are apart, or the same. */
	void (*lines)(void *dst, const void *src, size_t count);
};

struct abd_flush_line {
	const char *name;
	bool (*supported)(void);
	enum abd_flush_durability durability;
	/* line is aligned to a line; count > 0 */
	void (*flush)(const void *line, size_t count);
};

struct abd_flush_fence {
	const char *name;
	void (*fence)(void);
};

struct abd_flush_policy {
	const char *name;
	const struct abd_flush_copy *copy;
	/* for the copy's lines if they are cached, and for heads and tails */
	const struct abd_flush_line *line;
	const struct abd_flush_fence *fence;
};

#endif
