/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a block that can be entered in the middle.
 * Invariant: there is one point for each group_size bytes of the record, or part of them.
 */
#include "abd_base.h"

#include <abd/codec.h>

#include <errno.h>
#include <lz4.h>

static bool abd_lz4_index_groups(size_t group_size)
{
	return group_size >= 1024 && group_size <= 65536 && (group_size & (group_size - 1)) == 0;
}

size_t abd_lz4_index_size(size_t src_size, size_t group_size)
{
	const struct abd_lz4_index *index = NULL;

	if (!abd_lz4_index_groups(group_size) || src_size > LZ4_MAX_INPUT_SIZE)
		return 0;
	return sizeof(*index) + (src_size + group_size - 1) / group_size * sizeof(index->points[0]);
}

int abd_lz4_index_check(const struct abd_lz4_index *index, size_t size, size_t block_size)
{
	uint64_t logical = 0, stored = 0;

	if (size < sizeof(*index) ||
		(size - sizeof(*index)) / sizeof(index->points[0]) < index->count)
		return -EBADMSG;
	if (!abd_lz4_index_groups(index->group_size) || index->hub_size > index->group_size)
		return -EBADMSG;
	for (uint32_t i = 0; i < index->count; i++) {
		if (index->points[i].logical < (uint64_t)i * index->group_size ||
			index->points[i].logical < logical || index->points[i].stored < stored)
			return -EBADMSG;
		logical = index->points[i].logical;
		stored = index->points[i].stored;
		if (i == 0 && (logical | stored) != 0)
			return -EBADMSG;
	}
	return stored <= block_size ? 0 : -EBADMSG;
}
