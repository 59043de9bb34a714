/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two or four spans of each side, walked together: a block of each in turn, folded into one test.
 * Towards the end the heads of the lanes to come are fetched, so that their streams don't start
 * cold. To be included behind abd_compare_vector.h.
 *
 * AMD Zen 4, 4 KiB runs at random addresses, against one span at a time (avx512): two lanes 1.04 at
 * 4 MiB and 1.4 at 16 MiB, four 1.02 and 1.8. Eight lanes, and lanes without heads, were slower.
 * AMD Zen 5: two lanes with heads 1.2 at 16 MiB, 1.1 at 256 MiB (docs/notes/plans.md).
 */
#ifndef ABD_COMPARE_LANES_H
#define ABD_COMPARE_LANES_H

static inline vec vec_none(void)
{
	vec none = {0};

	return none;
}

enum {
	/* Heads are fetched while the last bytes of the lanes are compared. */
	LANES_LEAD = ABD_LANE_MIN,
	LANES_HEAD_LINES = 32, /* of all lanes of one side together */
	LANES_LINES = LANES_HEAD_LINES * BLOCK_SIZE / LANES_LEAD,
};

/* Prefetch the lines whose turn it is when done of LANES_LEAD bytes are compared. */
__attribute__((always_inline)) static inline void lanes_fetch(
	const struct abd_lanes *next, unsigned count, size_t done)
{
	unsigned lines = LANES_LINES / count;
	size_t off = done / BLOCK_SIZE * lines * ABD_CACHE_LINE;

	for (unsigned i = 0; i < count; i++)
		for (unsigned line = 0; line < lines; line++) {
			__builtin_prefetch(next->a[i] + off + line * ABD_CACHE_LINE, 0, 3);
			__builtin_prefetch(next->b[i] + off + line * ABD_CACHE_LINE, 0, 3);
		}
}

__attribute__((always_inline)) static inline bool lanes_equal(
	const struct abd_lanes *now, unsigned count, size_t off)
{
	vec seen = vec_none();

	for (unsigned i = 0; i < count; i = abd_lane_next(i)) {
		const uint8_t *a = (const uint8_t *)now->a[i] + off;
		const uint8_t *b = (const uint8_t *)now->b[i] + off;

		for (unsigned v = 0; v < BLOCK_VECTORS; v++)
			seen = vec_join(seen, a + v * VEC_SIZE, b + v * VEC_SIZE);
	}
	return vec_is_zero(seen);
}

__attribute__((always_inline)) static inline size_t lanes_scan(
	const struct abd_lanes *now, unsigned count, size_t size, const struct abd_lanes *next)
{
	size_t last = size - BLOCK_SIZE, lead = size - LANES_LEAD, off = 0;

	for (; off < lead; off += BLOCK_SIZE)
		if (!lanes_equal(now, count, off))
			return off;
	for (size_t done = 0; off < last; off += BLOCK_SIZE, done += BLOCK_SIZE) {
		lanes_fetch(next, count, done);
		if (!lanes_equal(now, count, off))
			return off;
	}
	return lanes_equal(now, count, last) ? size : last;
}

__attribute__((always_inline)) static inline bool lanes_zero_at(
	const struct abd_lanes *now, unsigned count, size_t off)
{
	vec seen = vec_none();

	for (unsigned i = 0; i < count; i = abd_lane_next(i))
		for (unsigned v = 0; v < BLOCK_VECTORS; v++)
			seen = vec_or(
				seen, vec_load((const uint8_t *)now->a[i] + off + v * VEC_SIZE));
	return vec_is_zero(seen);
}

/* One side has half the streams: a line of each lane to come is fetched with each block. */
__attribute__((always_inline)) static inline bool lanes_zero(
	const struct abd_lanes *now, unsigned count, size_t size, const struct abd_lanes *next)
{
	size_t last = size - BLOCK_SIZE;

	for (size_t off = 0; off < last; off += BLOCK_SIZE) {
		for (unsigned i = 0; i < count && off < HEADS_BLOCKS * BLOCK_SIZE; i++)
			__builtin_prefetch(next->a[i] + off / BLOCK_SIZE * ABD_CACHE_LINE, 0, 3);
		if (!lanes_zero_at(now, count, off))
			return false;
	}
	return lanes_zero_at(now, count, last);
}

static bool lanes_zero_pair(const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	return lanes_zero(now, 2, size, next);
}

static bool lanes_zero_four(const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	return lanes_zero(now, 4, size, next);
}

static size_t lanes_pair(const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	return lanes_scan(now, 2, size, next);
}

static size_t lanes_four(const struct abd_lanes *now, size_t size, const struct abd_lanes *next)
{
	return lanes_scan(now, 4, size, next);
}

#endif
