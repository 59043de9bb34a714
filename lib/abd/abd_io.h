/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What calls on files share: which ranges of a file they accept, and how often they try again.
 */
#ifndef ABD_IO_INTERNAL_H
#define ABD_IO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Tries in a row that move nothing because they are interrupted, before a call gives up with
 * -EINTR: every call ends.
 */
#define ABD_IO_TRIES 1000

/** Whether file offsets [off, off + size) exist: none is negative, none wraps. */
static inline bool abd_io_range_exists(int64_t off, size_t size)
{
	return off >= 0 && size <= (uint64_t)INT64_MAX - (uint64_t)off;
}

#endif
