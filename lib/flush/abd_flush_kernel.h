/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flush kernel: one way to get bytes to memory, past the caches or through them.
 *
 * Around the cache, lines() copies whole lines by non-temporal stores. Heads and tails, which share
 * their line with other bytes, go through the cache, and abd_flush_line() writes them back, or by
 * words() where more is to follow (abd_flush_span.h). Through the cache, everything is copied by
 * plain stores, and flush() writes the lines back; lines() and words() are NULL.
 *
 * fence() waits for both.
 * Invariant: a line is 64 bytes and aligned, and lines() is never given part of one: a non-temporal
 * store of part of a line costs the memory a read and a merge, and on persistent memory a whole
 * internal write each.
 * Source: PMDK libpmem keeps copies, flushes and fences apart too, but chooses among combinations
 * of them.
 */
#ifndef ABD_FLUSH_KERNEL_H
#define ABD_FLUSH_KERNEL_H

#include "abd_kernel.h"

#include <abd/flush.h>

#define ABD_LINE_SIZE ((size_t)64)

struct abd_flush_kernel {
	ABD_KERNEL_HEAD;
	/*
	 * dst is aligned to a line, src has any alignment; count > 0. Both are disjoint, or the
	 * same.
	 */
	void (*lines)(void *dst, const void *src, size_t count);
	/* The same of words of 8 bytes, to which dst is aligned; NULL: there is no such store. */
	void (*words)(void *dst, const void *src, size_t count);
	/* line is aligned to a line; count > 0. NULL in a kernel that has lines(). */
	void (*flush)(void *line, size_t count);
	enum abd_flush_durability durability; /* of what flush() wrote back, once fenced */
	void (*fence)(void);
};

/** Wait for all that any kernel of this machine sent, so a drain may use any kernel's fence(). */
void abd_flush_fence(void);

#endif
