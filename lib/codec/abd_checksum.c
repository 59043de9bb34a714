/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums of buffers of any kind, computed span by span: no buffer is made linear.
 * Invariant: the result depends on the bytes alone, not on where runs end.
 * OpenZFS: abd_fletcher_4_native() and its iterate functions in module/zfs/zio_checksum.c.
 */
#include "abd_check.h"
#include "abd_crc32c.h"
#include "abd_fletcher.h"
#include "abd_iter.h"
#include "abd_xxh3.h"

#include <abd/codec.h>
#include <abd/operate.h>

/*
 * Pass over the span. The next but one begins where the CPU does not expect it, so its first lines
 * are fetched now: by the CPU alone a sum of 4 KiB runs waits at the head of each.
 */
static void abd_checksum_advance(struct abd_iter *iter)
{
	abd_iter_advance(iter, iter->len);

	const char *next = abd_iter_next(iter, iter->len);

	for (size_t line = 0; next != NULL && line < 8; line++)
		__builtin_prefetch(next + 64 * line);
}

static void abd_checksum_fletcher(
	const abd_t *abd, size_t off, size_t size, uint64_t checksum[4], bool byteswap)
{
	struct abd_fletcher_state state;
	struct abd_iter iter;

	const struct abd_fletcher_kernel *kernel = abd_fletcher_for(size);

	abd_iter_begin(&iter, abd, off, size);
	if (size > 0 && iter.len == size && !byteswap) {
		kernel->whole(checksum, iter.addr, size);
		return;
	}
	abd_fletcher_begin(&state, kernel, byteswap);
	for (; iter.len > 0; abd_checksum_advance(&iter))
		abd_fletcher_add(&state, iter.addr, iter.len);
	abd_fletcher_end(&state, checksum);
}

void abd_fletcher_4(const abd_t *abd, size_t off, size_t size, uint64_t checksum[4])
{
	abd_check_range(__func__, abd, off, size);
	ABD_REQUIRE(checksum != NULL, "memory is NULL");
	abd_checksum_fletcher(abd, off, size, checksum, false);
}

void abd_fletcher_4_swapped(const abd_t *abd, size_t off, size_t size, uint64_t checksum[4])
{
	abd_check_range(__func__, abd, off, size);
	ABD_REQUIRE(checksum != NULL, "memory is NULL");
	abd_checksum_fletcher(abd, off, size, checksum, true);
}

uint32_t abd_crc32c(const abd_t *abd, size_t off, size_t size, uint32_t seed)
{
	uint32_t state = ~seed;
	struct abd_iter iter;

	abd_check_range(__func__, abd, off, size);

	const struct abd_crc32c_kernel *kernel = abd_crc32c_for(size);

	for (abd_iter_begin(&iter, abd, off, size); iter.len > 0; abd_checksum_advance(&iter))
		state = kernel->add(state, iter.addr, iter.len);
	return ~state;
}

static uint64_t abd_checksum_xxh3_short(const abd_t *abd, size_t off, size_t size, uint64_t seed)
{
	char joined[ABD_XXH3_SHORT];

	abd_copy_to_buf_off(joined, abd, off, size);
	return abd_xxh3_portable_whole(joined, size, seed);
}

uint64_t abd_xxh3(const abd_t *abd, size_t off, size_t size, uint64_t seed)
{
	struct abd_xxh3_state state;
	struct abd_iter iter;

	abd_check_range(__func__, abd, off, size);
	if (size <= ABD_XXH3_SHORT)
		return abd_checksum_xxh3_short(abd, off, size, seed);

	const struct abd_xxh3_kernel *kernel = abd_xxh3_for(size);

	abd_iter_begin(&iter, abd, off, size);
	if (iter.len == size)
		return kernel->whole(iter.addr, size, seed);
	kernel->begin(&state, size, seed);
	for (; iter.len > 0; abd_checksum_advance(&iter))
		kernel->add(&state, iter.addr, iter.len);
	return kernel->end(&state);
}
