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

enum { ABD_CHECKSUM_SPANS = 32 };

/* Pass over the next spans. Returns how many. */
static inline size_t abd_checksum_take(struct abd_iter *iter, struct iovec span[ABD_CHECKSUM_SPANS])
{
	size_t count = 0;

	for (; iter->len > 0 && count < ABD_CHECKSUM_SPANS; count++) {
		span[count] = (struct iovec){.iov_base = iter->addr, .iov_len = iter->len};
		abd_iter_advance(iter, iter->len);
	}
	return count;
}

/* A step is a power of two. */
static bool abd_checksum_whole_steps(const struct iovec *span, size_t count, size_t step)
{
	while (count > 0 && (span[count - 1].iov_len & (step - 1)) == 0)
		count--;
	return count == 0;
}

static void abd_checksum_fletcher(
	const abd_t *abd, size_t off, size_t size, uint64_t checksum[4], bool byteswap)
{
	struct iovec span[ABD_CHECKSUM_SPANS];
	struct abd_fletcher_state state;
	struct abd_iter iter;
	size_t count;

	const struct abd_fletcher_kernel *kernel = abd_fletcher_for(size);

	abd_iter_begin(&iter, abd, off, size);
	count = abd_checksum_take(&iter, span);
	if (iter.len == 0 && count > 0 && !byteswap &&
		abd_checksum_whole_steps(span, count - 1, kernel->step)) {
		kernel->whole(checksum, span, count);
		return;
	}
	abd_fletcher_begin(&state, kernel, byteswap);
	for (; count > 0; count = abd_checksum_take(&iter, span))
		abd_fletcher_add(&state, span, count);
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
	struct iovec span[ABD_CHECKSUM_SPANS];
	uint32_t state = ~seed;
	struct abd_iter iter;
	size_t count;

	abd_check_range(__func__, abd, off, size);

	const struct abd_crc32c_kernel *kernel = abd_crc32c_for(size);

	abd_iter_begin(&iter, abd, off, size);
	do {
		count = abd_checksum_take(&iter, span);
		state = kernel->add(state, span, count);
	} while (iter.len > 0);
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
	struct iovec span[ABD_CHECKSUM_SPANS];
	struct abd_xxh3_state state;
	struct abd_iter iter;
	size_t count;

	abd_check_range(__func__, abd, off, size);
	if (size <= ABD_XXH3_SHORT)
		return abd_checksum_xxh3_short(abd, off, size, seed);

	const struct abd_xxh3_kernel *kernel = abd_xxh3_for(size);

	abd_iter_begin(&iter, abd, off, size);
	if (iter.len == size)
		return kernel->whole(iter.addr, size, seed);
	kernel->begin(&state, size, seed);
	do {
		count = abd_checksum_take(&iter, span);
		kernel->add(&state, span, count);
	} while (iter.len > 0);
	return kernel->end(&state);
}
