/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparing, beyond OpenZFS: equality and the first difference, over buffers of any kinds and
 * differing run boundaries. Contract for the _off calls: both ranges lie within their buffers. Size
 * 0 is equal.
 */
#ifndef ABD_COMPARE_H
#define ABD_COMPARE_H

#include <abd/buffer.h>
#include <abd/key.h> /* abd_key_equal() */

ABD_BEGIN_DECLS

/**
 * Whether two buffers hold the same bytes.
 *
 * Returns: true if they do; false for different sizes.
 * Threads: both are read.
 * Source:  abd_cmp() in OpenZFS asserts equal sizes.
 */
ABD_API bool abd_equal(const abd_t *a, const abd_t *b);

/**
 * Whether size bytes of a from a_off equal those of b from b_off: the dedupe question.
 *
 * Units:   offsets and size in bytes; any alignment on either side.
 * Returns: true if they do.
 * Threads: both are read.
 * Source:  linux-fsdevel, "vfs: Optimize dedupe comparison", July 2021.
 */
ABD_API bool abd_equal_off(const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size);

/**
 * Whether size bytes of abd from off equal those of buf.
 *
 * Units:   off and size in bytes.
 * Returns: true if they do.
 * Threads: abd is read.
 * Source:  see abd_equal_off().
 */
ABD_API bool abd_equal_buf_off(const abd_t *abd, const void *buf, size_t off, size_t size);

/**
 * How many bytes of a from a_off and b from b_off are equal before the first difference.
 *
 * Units:   offsets and size in bytes.
 * Returns: 0 to size; size when all are equal.
 * Threads: both are read.
 */
ABD_API size_t abd_diff_off(
	const abd_t *a, const abd_t *b, size_t a_off, size_t b_off, size_t size);

ABD_END_DECLS

#endif
