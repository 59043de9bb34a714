/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flush-copy, span by span: begin, any number of spans, end.
 *
 *           |<- line ->|          |          |          |          |
 *   span:        [hhhhh|wwwwwwwwww|wwwwwwwwww|tttt]
 *                  ^      ^ whole lines: copied as the kernel does
 *                  |                                 ^ tail: copied through the
 *                  |                                    cache; its line stays open
 *                  head: copied through the cache, then written back
 *
 * A line that a span leaves half written stays open, and is written back once when the walk has
 * left it: the next span may go on in it, as spans do where the source's pieces end within a line
 * of the destination. Invariants: of what was written, everything but the open line is under way to
 * memory; a line that is shared with bytes outside is written through the cache, where those bytes
 * are merged, or by stores of words (abd_flush_begin()); each line is flushed or written around the
 * cache once, unless the caller's spans come back to a line after writing another one.
 */
#ifndef ABD_FLUSH_SPAN_H
#define ABD_FLUSH_SPAN_H

#include "abd_flush_table.h"

struct abd_flush_walk {
	const struct abd_flush_kernel *kernel;
	uintptr_t open; /* the open line, 0 for none */
	bool words;     /* whole words of a line's part go around the cache, too */
};

/**
 * Begin a copy of size bytes. call is the caller's name, for messages about its contract.
 *
 * Without a drain, the next copy may go on in the line where this one ends, as in a log of small
 * entries. Stores of words around the cache then fill a write-combining buffer and leave it as one
 * line: 8 ns for 8 bytes after 8 bytes. Written back by each call, the line is sent each time, and
 * the next store waits for that: 184 ns. A drain after each copy sends half a buffer, which takes
 * longer than writing a line back (300 and 234 ns); so do lines that are written both ways (800 and
 * 226 ns for 100 bytes), and a copy of other sizes than words would do that.
 */
static inline void abd_flush_begin(
	struct abd_flush_walk *walk, const char *call, size_t size, unsigned flags)
{
	walk->kernel = abd_flush_choose(call, size, flags);
	walk->open = 0;
	walk->words =
		(flags & ABD_FLUSH_NODRAIN) != 0 && size % 8 == 0 && walk->kernel->words != NULL;
}

void abd_flush_span_part(struct abd_flush_walk *walk, void *dst, const void *src, size_t n);
void abd_flush_close(struct abd_flush_walk *walk);

/**
 * Copy n > 0 bytes. Whole lines go straight to the kernel if it copies around the cache and no line
 * is open.
 */
static inline void abd_flush_span(struct abd_flush_walk *walk, void *dst, const void *src, size_t n)
{
	const struct abd_flush_kernel *kernel = walk->kernel;

	if ((((uintptr_t)dst | n) & (ABD_LINE_SIZE - 1)) == 0 && kernel->lines != NULL &&
		walk->open == 0)
		kernel->lines(dst, src, n / ABD_LINE_SIZE);
	else
		abd_flush_span_part(walk, dst, src, n);
}

/** Write back what is open, and fence unless flags say ABD_FLUSH_NODRAIN. */
static inline void abd_flush_end(struct abd_flush_walk *walk, unsigned flags)
{
	if (walk->open != 0)
		abd_flush_close(walk);
	if ((flags & ABD_FLUSH_NODRAIN) == 0)
		walk->kernel->fence();
}

#endif
