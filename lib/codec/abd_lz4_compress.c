/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compressing with our own encoder. It reads and writes linear memory, so each range is leased
 * (abd_lease.h); what it keeps in mind is a block of the thread's own reserve.
 * Invariant: nothing outside the stated ranges is written, and nothing of the index but its points.
 */
#include "abd_check.h"
#include "abd_lease.h"
#include "abd_lz4_encode.h"
#include "abd_mem_cache.h"

#include <errno.h>
#include <lz4.h>

enum { ABD_LZ4_EFFORT_MAX = 12 };

static ssize_t abd_lz4_compress_own(const char *call, abd_t *dst, const abd_t *src, size_t dst_off,
	size_t src_off, size_t src_size, int effort, struct abd_lz4_index *index)
{
	size_t bound = (size_t)LZ4_compressBound((int)src_size), produced;
	size_t room = abd_min(abd_get_size(dst) - dst_off, bound);
	size_t work_size = abd_lz4_encode_work_size(effort);
	void *work = abd_mem_cache_alloc(work_size);
	struct abd_lease from, to;
	ssize_t result = -ENOMEM;

	if (work == NULL)
		return -ENOMEM;
	if (!abd_lease_read(&from, src, src_off, src_size))
		goto out_work;
	if (abd_lease_write(&to, call, dst, dst_off, room)) {
		produced = abd_lz4_encode(to.buf, room, from.buf, src_size, effort, index, work);
		result = produced > 0 ? (ssize_t)produced : -ENOSPC;
		abd_lease_put(&to, dst, dst_off, produced);
		abd_lease_end(&to);
	}
	abd_lease_end(&from);
out_work:
	abd_mem_cache_free(work, work_size);
	return result;
}

ssize_t abd_lz4_compress_effort(
	abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off, size_t src_size, int effort)
{
	abd_check_range(__func__, dst, dst_off, 0);
	abd_check_range(__func__, src, src_off, src_size);
	if (effort < 0 || effort > ABD_LZ4_EFFORT_MAX || src_size > LZ4_MAX_INPUT_SIZE)
		return -EINVAL;
	if (effort < 3)
		return abd_lz4_compress(dst, src, dst_off, src_off, src_size);
	return abd_lz4_compress_own(__func__, dst, src, dst_off, src_off, src_size, effort, NULL);
}

ssize_t abd_lz4_compress_indexed(abd_t *dst, const abd_t *src, size_t dst_off, size_t src_off,
	size_t src_size, size_t group_size, int effort, struct abd_lz4_index *index)
{
	size_t size = abd_lz4_index_size(src_size, group_size);

	abd_check_range(__func__, dst, dst_off, 0);
	abd_check_range(__func__, src, src_off, src_size);
	ABD_REQUIRE(index != NULL, "index is NULL");
	if (size == 0 || effort < 0 || effort > ABD_LZ4_EFFORT_MAX)
		return -EINVAL;
	index->group_size = (uint32_t)group_size;
	index->hub_size = (uint32_t)group_size / 4;
	index->count = (uint32_t)((size - sizeof(*index)) / sizeof(index->points[0]));
	index->reserved = 0;
	return abd_lz4_compress_own(__func__, dst, src, dst_off, src_off, src_size, effort, index);
}
