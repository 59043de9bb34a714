/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks at the start of every public call on buffers, in every build. Checked builds
 * (ABD_CHECKED) also verify the buffer: see abd_checked.h.
 */
#ifndef ABD_CHECK_H
#define ABD_CHECK_H

#include "abd_checked.h"

/** Check a call on bytes [off, off + size) of a buffer. */
static inline void abd_check_range(const char *call, const abd_t *abd, size_t off, size_t size)
{
	abd_require_range(call, abd, off, size);
	abd_checked_verify(call, abd);
}

/**
 * Check a call that visits the pieces of a range. For size 0 the buffer may be NULL, as in OpenZFS
 * for an empty raidz column.
 */
static inline void abd_check_pieces(const char *call, const abd_t *abd, size_t off, size_t size)
{
	if (ABD_LIKELY(abd != NULL))
		abd_check_range(call, abd, off, size);
	else
		ABD_REQUIRE_IN(call, size == 0, "buffer is NULL");
}

/** Check a call on a whole buffer. */
static inline void abd_check(const char *call, const abd_t *abd)
{
	ABD_REQUIRE_IN(call, abd != NULL, "buffer is NULL");
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
