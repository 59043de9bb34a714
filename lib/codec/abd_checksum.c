/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checksums of buffers of any kind, computed span by span: no buffer is made linear.
 * Invariant: the result depends on the bytes alone, not on where runs end.
 * OpenZFS: abd_fletcher_4_native() and its iterate functions in module/zfs/zio_checksum.c.
 */
#include "abd_check.h"
#include "abd_crc32c.h"
#include "abd_fletcher.h"
#include "abd_walk.h"
#include "abd_xxh3.h"

#include <abd/codec.h>
#include <abd/operate.h>

enum { ABD_CHECKSUM_SPANS = 32 };

/* A sum under way: what the walk has found, and the kernel has not seen. */
struct abd_checksum {
	/* Begin if need be, give the kernel the spans, and forget them. */
	void (*add)(struct abd_checksum *sum);
	bool begun;
	size_t count;
	struct iovec span[ABD_CHECKSUM_SPANS];
};

static inline bool abd_checksum_segment(void *priv, const struct abd_segment *segment)
{
	struct abd_checksum *sum = priv;

	sum->span[sum->count++] = (struct iovec){.iov_base = segment->a, .iov_len = segment->size};
	if (sum->count == ABD_CHECKSUM_SPANS)
		sum->add(sum);
	return true;
}

static const struct abd_body abd_checksum_body = {.segment = abd_checksum_segment};

/* Some spans may be left, for which add() has to be called once more. */
static void abd_checksum_walk(struct abd_checksum *sum, void (*add)(struct abd_checksum *sum),
	const abd_t *abd, size_t off, size_t size)
{
	struct abd_side a = abd_side(abd, off);

	sum->add = add;
	sum->begun = false;
	sum->count = 0;
	abd_walk(NULL, &a, NULL, size, 0, abd_checksum_body, sum);
}

/* ---- fletcher ---- */

/* A step is a power of two. */
static bool abd_checksum_whole_steps(const struct iovec *span, size_t count, size_t step)
{
	while (count > 0 && (span[count - 1].iov_len & (step - 1)) == 0)
		count--;
	return count == 0;
}

struct abd_checksum_fletcher {
	struct abd_checksum sum;
	const struct abd_fletcher_kernel *kernel;
	bool byteswap;
	struct abd_fletcher_state state;
};

static void abd_checksum_fletcher_add(struct abd_checksum *sum)
{
	struct abd_checksum_fletcher *op = (struct abd_checksum_fletcher *)sum;

	if (!sum->begun)
		abd_fletcher_begin(&op->state, op->kernel, op->byteswap);
	sum->begun = true;
	abd_fletcher_add(&op->state, sum->span, sum->count);
	sum->count = 0;
}

static void abd_checksum_fletcher(
	const abd_t *abd, size_t off, size_t size, uint64_t checksum[4], bool byteswap)
{
	struct abd_checksum_fletcher op;
	struct abd_checksum *sum = &op.sum;

	op.kernel = abd_fletcher_for(size);
	op.byteswap = byteswap;
	abd_checksum_walk(sum, abd_checksum_fletcher_add, abd, off, size);
	if (!sum->begun && sum->count > 0 && !byteswap &&
		abd_checksum_whole_steps(sum->span, sum->count - 1, op.kernel->step)) {
		op.kernel->whole(checksum, sum->span, sum->count);
		return;
	}
	abd_checksum_fletcher_add(sum);
	abd_fletcher_end(&op.state, checksum);
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

/* ---- crc32c ---- */

struct abd_checksum_crc32c {
	struct abd_checksum sum;
	const struct abd_crc32c_kernel *kernel;
	uint32_t state;
};

static void abd_checksum_crc32c_add(struct abd_checksum *sum)
{
	struct abd_checksum_crc32c *op = (struct abd_checksum_crc32c *)sum;

	op->state = op->kernel->add(op->state, sum->span, sum->count);
	sum->count = 0;
}

uint32_t abd_crc32c(const abd_t *abd, size_t off, size_t size, uint32_t seed)
{
	struct abd_checksum_crc32c op;

	abd_check_range(__func__, abd, off, size);
	op.kernel = abd_crc32c_for(size);
	op.state = ~seed;
	abd_checksum_walk(&op.sum, abd_checksum_crc32c_add, abd, off, size);
	abd_checksum_crc32c_add(&op.sum);
	return ~op.state;
}

/* ---- xxh3 ---- */

struct abd_checksum_xxh3 {
	struct abd_checksum sum;
	const struct abd_xxh3_kernel *kernel;
	size_t size;
	uint64_t seed;
	struct abd_xxh3_state state;
};

static void abd_checksum_xxh3_add(struct abd_checksum *sum)
{
	struct abd_checksum_xxh3 *op = (struct abd_checksum_xxh3 *)sum;

	if (!sum->begun)
		op->kernel->begin(&op->state, op->size, op->seed);
	sum->begun = true;
	op->kernel->add(&op->state, sum->span, sum->count);
	sum->count = 0;
}

static uint64_t abd_checksum_xxh3_short(const abd_t *abd, size_t off, size_t size, uint64_t seed)
{
	char joined[ABD_XXH3_SHORT];

	abd_copy_to_buf_off(joined, abd, off, size);
	return abd_xxh3_portable_whole(joined, size, seed);
}

uint64_t abd_xxh3(const abd_t *abd, size_t off, size_t size, uint64_t seed)
{
	struct abd_side a = abd_side(abd, off);
	struct abd_checksum_xxh3 op;
	struct abd_segment whole;

	abd_check_range(__func__, abd, off, size);
	if (size <= ABD_XXH3_SHORT)
		return abd_checksum_xxh3_short(abd, off, size, seed);
	op.kernel = abd_xxh3_for(size);
	if (abd_walk_whole(&whole, &a, NULL, size))
		return op.kernel->whole(whole.a, size, seed);
	op.size = size;
	op.seed = seed;
	abd_checksum_walk(&op.sum, abd_checksum_xxh3_add, abd, off, size);
	abd_checksum_xxh3_add(&op.sum);
	return op.kernel->end(&op.state);
}
