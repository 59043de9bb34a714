/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read paths in C. cpp_path.cpp has the same by abd.hpp, and cpp.py compares the instructions.
 */
#include "cpp_path.h"

static inline int path(const path_cache *cache, const abd_arc_key_t *key, unsigned char *dst)
{
	abd_arc_hold_t hold;
	int error = abd_arc_hold(cache->arc, key, &hold);

	if (error != 0)
		return error;
	*dst = *(const unsigned char *)abd_to_buf_const(hold.abd);
	abd_arc_release(&hold);
	return 0;
}

int path_with(const path_cache *cache, const abd_arc_key_t *key, unsigned char *dst)
{
	return path(cache, key, dst);
}

int path_hold(const path_cache *cache, const abd_arc_key_t *key, unsigned char *dst)
{
	return path(cache, key, dst);
}

int path_borrow(const path_buffer *buffer, size_t size, unsigned char *dst)
{
	const unsigned char *buf = abd_borrow_buf_const(buffer->abd, size);

	if (buf == NULL)
		return -errno;
	*dst = *buf;
	abd_return_buf_const(buffer->abd, buf, size);
	return 0;
}

int path_read(const path_cache *cache, const abd_arc_key_t *key, void *dst, size_t size)
{
	ssize_t got = abd_arc_read_flags(cache->arc, key, dst, 0, size, 0);

	if (got < 0)
		return (int)got;
	path_use(dst, (size_t)got);
	return 0;
}
