/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums of buffers of any kind, computed span by span: no buffer is made linear.
 * Invariant: the result depends on the bytes alone, not on where runs end.
 * OpenZFS: abd_fletcher_4_native() and its iterate functions in module/zfs/zio_checksum.c.
 */
#include "abd_check.h"
#include "abd_crc32c.h"
#include "abd_fletcher.h"
#include "abd_runs.h"
#include "abd_walk.h"
#include "abd_xxh3.h"

#include <abd/codec.h>
#include <abd/operate.h>

enum { ABD_CHECKSUM_SPANS = 32 };

/* The rest of the range, and the spans at its start that a kernel gets together. */
struct abd_checksum {
	const abd_t *abd;
	size_t off, left;
	struct iovec span[ABD_CHECKSUM_SPANS];
};

/* Take the next spans. Returns how many; 0: the range has ended. */
static inline size_t abd_checksum_take(struct abd_checksum *sum)
{
	size_t covered, count;

	if (sum->left == 0)
		return 0;
	count = abd_runs_map(
		NULL, sum->abd, sum->off, sum->left, sum->span, ABD_CHECKSUM_SPANS, &covered);
	sum->off += covered;
	sum->left -= covered;
	return count;
}

static inline size_t abd_checksum_begin(
	struct abd_checksum *sum, const abd_t *abd, size_t off, size_t size)
{
	char *at;

	if (size > 0 && abd_contiguous(abd, off, size, &at)) {
		sum->left = 0;
		sum->span[0] = (struct iovec){at, size};
		return 1;
	}
	sum->abd = abd;
	sum->off = off;
	sum->left = size;
	return abd_checksum_take(sum);
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
	const struct abd_fletcher_kernel *kernel = abd_fletcher_for(size);
	struct abd_fletcher_state state;
	struct abd_checksum sum;
	size_t count = abd_checksum_begin(&sum, abd, off, size);

	if (sum.left == 0 && count > 0 && !byteswap &&
		abd_checksum_whole_steps(sum.span, count - 1, kernel->step)) {
		kernel->whole(checksum, sum.span, count);
		return;
	}
	abd_fletcher_begin(&state, kernel, byteswap);
	for (; count > 0; count = abd_checksum_take(&sum))
		abd_fletcher_add(&state, sum.span, count);
	abd_fletcher_end(&state, checksum);
}

void abd_fletcher_4(const abd_t *abd, size_t off, size_t size, uint64_t checksum[4])
{
	abd_check_range(__func__, abd, off, size);
	ABD_REQUIRE(checksum != NULL, "checksum is NULL");
	abd_checksum_fletcher(abd, off, size, checksum, false);
}

void abd_fletcher_4_swapped(const abd_t *abd, size_t off, size_t size, uint64_t checksum[4])
{
	abd_check_range(__func__, abd, off, size);
	ABD_REQUIRE(checksum != NULL, "checksum is NULL");
	abd_checksum_fletcher(abd, off, size, checksum, true);
}

uint32_t abd_crc32c(const abd_t *abd, size_t off, size_t size, uint32_t seed)
{
	uint32_t state = ~seed;
	struct abd_checksum sum;

	abd_check_range(__func__, abd, off, size);

	const struct abd_crc32c_kernel *kernel = abd_crc32c_for(size);
	size_t count = abd_checksum_begin(&sum, abd, off, size);

	for (; count > 0; count = abd_checksum_take(&sum))
		state = kernel->add(state, sum.span, count);
	return ~state;
}

uint64_t abd_xxh3(const abd_t *abd, size_t off, size_t size, uint64_t seed)
{
	struct abd_xxh3_state state;
	struct abd_checksum sum;

	abd_check_range(__func__, abd, off, size);

	const struct abd_xxh3_kernel *kernel = abd_xxh3_for(size);
	size_t count = abd_checksum_begin(&sum, abd, off, size);

	if (count == 1 && sum.left == 0)
		return kernel->whole(sum.span[0].iov_base, size, seed);
	kernel->begin(&state, seed);
	for (; count > 0; count = abd_checksum_take(&sum))
		kernel->add(&state, sum.span, count);
	return kernel->end(&state);
}
