/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether an index is that of a block, for those who do not trust who made it.
 */
#ifndef ABD_LZ4_INDEX_VERIFY_H
#define ABD_LZ4_INDEX_VERIFY_H

#include "abd_base.h"

#include <abd/codec.h>

/**
 * Walk the sequences of the block in src [src_off, +src_size). Each point must be where struct
 * abd_lz4_index says, and each match must lie where it allows. If the block can be decoded whole,
 * then each range of it can, and to the same bytes.
 *
 * Contract: index has passed abd_lz4_index_check().
 * Returns:  0, -EBADMSG or -ENOMEM.
 * Threads:  any; src and *index are read.
 */
int abd_lz4_index_verify(
	const struct abd_lz4_index *index, const abd_t *src, size_t src_off, size_t src_size);

#endif
