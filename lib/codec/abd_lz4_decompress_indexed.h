/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd_lz4_decompress_indexed_range_to_buf() for callers that may not allocate: they bring the
 * window.
 */
#ifndef ABD_LZ4_DECOMPRESS_INDEXED_H
#define ABD_LZ4_DECOMPRESS_INDEXED_H

#include "abd_base.h"

#include <abd/codec.h>

/* So much more room than is wanted lets the decoder's quick loop reach the last byte wanted. */
#define ABD_LZ4_SLACK ((size_t)256)

/**
 * window has room for range_off + range_size + ABD_LZ4_SLACK bytes, or is NULL: then it is
 * allocated. Otherwise as the public call, whose contract has been checked.
 */
ssize_t abd_lz4_decompress_indexed(void *dst, const abd_t *src, size_t range_off, size_t range_size,
	size_t src_off, size_t src_size, const struct abd_lz4_index *index, void *window);

#endif
