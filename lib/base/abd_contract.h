/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contract checks: what the caller promised, checked on every call in every build.
 * Invariant: a broken contract prints one line and does not return to the code that found it.
 * A check is one condition without side effect, whose arithmetic can't wrap.
 */
#ifndef ABD_CONTRACT_H
#define ABD_CONTRACT_H

#include "abd_base.h"

#include <abd/buffer.h>

/** Say which call was broken and how, run the handler, abort. */
ABD_COLD _Noreturn void abd_contract_fail(const char *call, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** Print the line, run the handler, abort. */
ABD_COLD _Noreturn void abd_contract_end(const char *message);

#define ABD_REQUIRE_IN(call, condition, ...)                  \
	do {                                                  \
		if (ABD_UNLIKELY(!(condition)))               \
			abd_contract_fail(call, __VA_ARGS__); \
	} while (0)

#define ABD_REQUIRE(condition, ...) ABD_REQUIRE_IN(__func__, condition, __VA_ARGS__)

/** The contract of every ranged call: abd is a buffer and holds [off, off + size). name: abd's. */
static inline void abd_require_range(
	const char *call, const char *name, const abd_t *abd, size_t off, size_t size)
{
	ABD_REQUIRE_IN(call, abd != NULL, "%s is NULL", name);
	ABD_REQUIRE_IN(call, off <= abd->abd_size && size <= abd->abd_size - off,
		"range [%zu, +%zu) reaches past the end of a buffer of %zu bytes", off, size,
		abd->abd_size);
}

/**
 * The contract of every copy: source and destination do not overlap, or are the same bytes.
 * Otherwise the copy would read bytes it has already overwritten. Two checks find an overlap
 * without comparing all pairs of pieces: one compares two ranges of one buffer, the other each
 * piece with the piece that is copied to it.
 */
static inline bool abd_spans_are_apart(const void *d, const void *s, size_t n)
{
	uintptr_t to = (uintptr_t)d, from = (uintptr_t)s;

	return to == from || n <= (to < from ? from - to : to - from);
}

static inline void abd_require_apart_spans(const char *call, const void *d, const void *s, size_t n)
{
	ABD_REQUIRE_IN(call, abd_spans_are_apart(d, s, n),
		"%zu bytes at %p are copied onto %p, which they overlap", n, s, d);
}

static inline void abd_require_apart(
	const char *call, const abd_t *d, const abd_t *s, size_t doff, size_t soff, size_t size)
{
	ABD_REQUIRE_IN(call,
		d != s || doff == soff || size <= (doff < soff ? soff - doff : doff - soff),
		"%zu bytes of a buffer are copied from %zu onto %zu of the same, which they overlap",
		size, soff, doff);
}

#endif
