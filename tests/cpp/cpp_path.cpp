/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The read paths of cpp_path.c by abd.hpp.
 */
#include "cpp_path.h"

/* The hold's end is where the scope ends. */
int path_with(const path_cache *cache, const abd_arc_key_t *key, unsigned char *dst)
{
	auto first = [dst](const abd::held &of) {
		*dst = std::to_integer<unsigned char>(*of.buffer().to_buf());
	};
	return cache->with(*key, first).error();
}

/* The hold could be moved away, so its destructor asks whether it is there. */
int path_hold(const path_cache *cache, const abd_arc_key_t *key, unsigned char *dst)
{
	auto hold = cache->hold(*key);

	if (!hold)
		return hold.error();
	*dst = std::to_integer<unsigned char>(*hold->buffer().to_buf());
	return 0;
}

int path_borrow(const path_buffer *buffer, size_t size, unsigned char *dst)
{
	auto lent = buffer->borrow(size);

	if (!lent)
		return lent.error();
	*dst = std::to_integer<unsigned char>(*lent->data());
	return 0;
}

int path_read(const path_cache *cache, const abd_arc_key_t *key, void *dst, size_t size)
{
	auto got = cache->read(*key, {dst, size});

	if (!got)
		return got.error();
	path_use(dst, *got);
	return 0;
}
