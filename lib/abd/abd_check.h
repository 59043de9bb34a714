/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every public call on buffers begins with, in every build. In checked builds (ABD_CHECKED) it
 * verifies the buffer as well: see abd_checked.h.
 */
#ifndef ABD_CHECK_H
#define ABD_CHECK_H

#include "abd_checked.h"

/** A call on bytes [off, off + size) of a buffer begins. */
static inline void abd_check_range(const char *call, const abd_t *abd, size_t off, size_t size)
{
	abd_require_range(call, abd, off, size);
	abd_checked_verify(call, abd);
}

/**
 * What the calls begin with that visit pieces. Where there are none the buffer may be NULL, as that
 * of an empty raidz column is in OpenZFS.
 */
static inline void abd_check_pieces(const char *call, const abd_t *abd, size_t off, size_t size)
{
	if (ABD_LIKELY(abd != NULL || size > 0))
		abd_check_range(call, abd, off, size);
}

/** A call on a whole buffer begins. */
static inline void abd_check(const char *call, const abd_t *abd)
{
	ABD_REQUIRE_IN(call, abd != NULL, "buffer is NULL");
	abd_checked_verify(call, abd);
}

#endif
