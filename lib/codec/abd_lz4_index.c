/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index of a block that can be entered in the middle, and its form in a file: little-endian
 * words of 32 bits.
 *
 *      "ABI" 1 | block_size | group_size | hub_size | count | logical | stored | ... | crc32c
 *
 * Invariant: there is one point for each group_size bytes of the record, or part of them.
 */
#include "abd_check.h"
#include "abd_crc32c.h"

#include <abd/codec.h>

#include <assert.h>
#include <errno.h>
#include <lz4.h>

enum {
	FORM_MAGIC = 'A' | 'B' << 8 | 'I' << 16 | 1 << 24, /* the last byte is the version */
	FORM_HEAD = 20,
	FORM_TAIL = 4,
	FORM_POINT = 8,
};

static_assert(sizeof(struct abd_lz4_index) + ABD_LZ4_INDEX_FORM == FORM_HEAD + FORM_TAIL,
	"the form's size is promised");

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

	ABD_REQUIRE(index != NULL || size == 0, "index is NULL");
	if (size < sizeof(*index) ||
		(size - sizeof(*index)) / sizeof(index->points[0]) < index->count)
		return -EBADMSG;
	if (!abd_lz4_index_groups(index->group_size) || index->hub_size > index->group_size ||
		index->reserved != 0)
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
	/* The record ends within its last group. */
	if (logical > (uint64_t)index->count * index->group_size)
		return -EBADMSG;
	return stored <= block_size ? 0 : -EBADMSG;
}

static uint8_t *put_32(uint8_t *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		*p++ = (uint8_t)(value >> (8 * i));
	return p;
}

static uint32_t get_32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t form_checksum(const uint8_t *form, size_t size)
{
	return ~abd_crc32c_for(size)->add(UINT32_MAX, &(struct iovec){(void *)form, size}, 1);
}

ssize_t abd_lz4_index_put(void *dst, size_t dst_size, const struct abd_lz4_index *index,
	size_t index_size, size_t block_size)
{
	uint8_t *p = dst;

	ABD_REQUIRE(dst != NULL || dst_size == 0, "dst is NULL");
	ABD_REQUIRE(index != NULL || index_size == 0, "index is NULL");
	if (abd_lz4_index_check(index, index_size, block_size) != 0 || block_size > INT32_MAX)
		return -EBADMSG;
	if (dst_size < FORM_HEAD + FORM_TAIL ||
		(dst_size - FORM_HEAD - FORM_TAIL) / FORM_POINT < index->count)
		return -ENOSPC;
	p = put_32(p, FORM_MAGIC);
	p = put_32(p, (uint32_t)block_size);
	p = put_32(p, index->group_size);
	p = put_32(p, index->hub_size);
	p = put_32(p, index->count);
	for (uint32_t i = 0; i < index->count; i++) {
		p = put_32(p, index->points[i].logical);
		p = put_32(p, index->points[i].stored);
	}
	p = put_32(p, form_checksum(dst, (size_t)(p - (uint8_t *)dst)));
	return p - (uint8_t *)dst;
}

ssize_t abd_lz4_index_get(struct abd_lz4_index *index, size_t index_size, const void *src,
	size_t src_size, size_t block_size)
{
	const uint8_t *form = src;
	size_t size;

	ABD_REQUIRE(index != NULL || index_size == 0, "index is NULL");
	ABD_REQUIRE(src != NULL || src_size == 0, "src is NULL");
	if (src_size < FORM_HEAD + FORM_TAIL || get_32(form) != FORM_MAGIC ||
		get_32(form + 4) != block_size ||
		get_32(form + 16) > (src_size - FORM_HEAD - FORM_TAIL) / FORM_POINT)
		return -EBADMSG;
	size = FORM_HEAD + (size_t)get_32(form + 16) * FORM_POINT;
	if (get_32(form + size) != form_checksum(form, size))
		return -EBADMSG;
	if (index_size < size + FORM_TAIL - ABD_LZ4_INDEX_FORM)
		return -ENOSPC;
	index->group_size = get_32(form + 8);
	index->hub_size = get_32(form + 12);
	index->count = get_32(form + 16);
	index->reserved = 0;
	for (uint32_t i = 0; i < index->count; i++) {
		const uint8_t *p = form + FORM_HEAD + i * FORM_POINT;

		index->points[i].logical = get_32(p);
		index->points[i].stored = get_32(p + 4);
	}
	if (abd_lz4_index_check(index, index_size, block_size) != 0)
		return -EBADMSG;
	return (ssize_t)(size + FORM_TAIL);
}
