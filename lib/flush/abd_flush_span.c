/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cuts spans into lines. There are two kinds of copy, around the cache and through it; both treat
 * heads and tails in the same way.
 */
#include "abd_flush_span.h"

#include <string.h>

/*
 * How much is copied through the cache before its lines are written back: small enough that they
 * are still in L1, large enough that the write-backs, which are slow to start, run beside the next
 * piece's stores.
 */
#define ABD_FLUSH_PIECE ((size_t)1024)

static inline uintptr_t abd_flush_line_of(uintptr_t at)
{
	return at & ~(uintptr_t)(ABD_LINE_SIZE - 1);
}

static inline void abd_flush_lines(const struct abd_flush_walk *walk, uintptr_t from, uintptr_t to)
{
	const struct abd_flush_kernel *kernel = walk->kernel;

	if (from >= to)
		return;
	if (kernel->flush == NULL)
		kernel = abd_flush_line();
	kernel->flush((void *)from, (to - from) / ABD_LINE_SIZE);
}

void abd_flush_close(struct abd_flush_walk *walk)
{
	if (walk->open != 0)
		abd_flush_lines(walk, walk->open, walk->open + ABD_LINE_SIZE);
	walk->open = 0;
}

/*
 * Copy through the cache, write back the lines that end within the copy, and keep the last line
 * open if it does not end there.
 */
static void abd_flush_cached(struct abd_flush_walk *walk, char *dst, const char *src, size_t n)
{
	uintptr_t from = abd_flush_line_of((uintptr_t)dst);
	uintptr_t to = abd_flush_line_of((uintptr_t)dst + n);

	if (walk->open != from)
		abd_flush_close(walk);
	memmove(dst, src, n);
	abd_flush_lines(walk, from, to);
	walk->open = to < (uintptr_t)dst + n ? to : 0;
}

static void abd_flush_span_cached(struct abd_flush_walk *walk, char *dst, const char *src, size_t n)
{
	while (n > 0) {
		/* Pieces end where lines do, so that no line is open between them. */
		size_t piece = ABD_FLUSH_PIECE - ((uintptr_t)dst & (ABD_LINE_SIZE - 1));

		piece = abd_min(piece, n);
		abd_flush_cached(walk, dst, src, piece);
		dst += piece;
		src += piece;
		n -= piece;
	}
}

static void abd_flush_few(struct abd_flush_walk *walk, char *dst, const char *src, size_t n)
{
	if (walk->words && (((uintptr_t)dst | n) & 7) == 0)
		walk->kernel->words(dst, src, n / 8);
	else
		abd_flush_cached(walk, dst, src, n);
}

static void abd_flush_span_around(struct abd_flush_walk *walk, char *dst, const char *src, size_t n)
{
	size_t head = -(uintptr_t)dst & (ABD_LINE_SIZE - 1);
	size_t count;

	if (head > 0) {
		head = abd_min(head, n);
		abd_flush_few(walk, dst, src, head);
		dst += head;
		src += head;
		n -= head;
	}
	count = n / ABD_LINE_SIZE;
	if (count > 0) {
		abd_flush_close(walk);
		walk->kernel->lines(dst, src, count);
		dst += count * ABD_LINE_SIZE;
		src += count * ABD_LINE_SIZE;
		n -= count * ABD_LINE_SIZE;
	}
	if (n > 0)
		abd_flush_few(walk, dst, src, n);
}

void abd_flush_span_part(struct abd_flush_walk *walk, void *dst, const void *src, size_t n)
{
	if (walk->kernel->lines == NULL)
		abd_flush_span_cached(walk, dst, src, n);
	else
		abd_flush_span_around(walk, dst, src, n);
}

void abd_flush_drain(void)
{
	abd_flush_choose(__func__, 0, ABD_FLUSH_AUTO)->fence();
}
