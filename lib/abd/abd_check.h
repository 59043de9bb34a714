/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks at the start of every public call on buffers, in every build. Checked builds
 * (ABD_CHECKED) also verify the buffer: see abd_checked.h. The line about NULL names the argument
 * as the caller of a check writes it, so parameters inside the library have the public names.
 */
#ifndef ABD_CHECK_H
#define ABD_CHECK_H

#include "abd_checked.h"

/** Check a call on bytes [off, off + size) of a buffer. */
#define abd_check_range(call, abd, off, size) abd_check_range_of(call, #abd, abd, off, size)

static inline void abd_check_range_of(
	const char *call, const char *name, const abd_t *abd, size_t off, size_t size)
{
	abd_require_range(call, name, abd, off, size);
	abd_checked_verify(call, abd);
}

/**
 * Check a call that visits the pieces of a range. For size 0 the buffer may be NULL, as in OpenZFS
 * for an empty raidz column.
 */
#define abd_check_pieces(call, abd, off, size) abd_check_pieces_of(call, #abd, abd, off, size)

static inline void abd_check_pieces_of(
	const char *call, const char *name, const abd_t *abd, size_t off, size_t size)
{
	if (ABD_LIKELY(abd != NULL))
		abd_check_range_of(call, name, abd, off, size);
	else
		ABD_REQUIRE_IN(call, size == 0, "%s is NULL", name);
}

/** Check a call on a whole buffer. */
#define abd_check(call, abd) abd_check_of(call, #abd, abd)

static inline void abd_check_of(const char *call, const char *name, const abd_t *abd)
{
	ABD_REQUIRE_IN(call, abd != NULL, "%s is NULL", name);
	abd_checked_verify(call, abd);
}

/** Check a call after which the caller has no buffer any more. */
static inline void abd_check_end(const char *call, const abd_t *abd)
{
	abd_check(call, abd);
	ABD_REQUIRE_IN(
		call, abd->abd_size > 0 || abd_is_gang(abd), "size 0: freed before, or never made");
	ABD_REQUIRE_IN(call, __atomic_load_n(&abd->abd_gang_refs, __ATOMIC_RELAXED) == 0,
		"a buffer of %zu bytes is in a gang that lives", abd->abd_size);
	abd_checked_end(call, abd);
}

#endif
