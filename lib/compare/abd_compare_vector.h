/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vector kernels' common body. An instruction set's file defines the words below, includes this once, and fills its
 * record; the walk over a span is the same for all.
 *
 *	vec, VEC_SIZE              a vector and its bytes
 *	vec_differ(a, b)           a vector that is zero where the two are equal
 *	vec_join(seen, a, b)       seen | vec_differ(a, b)
 *	vec_load(p), vec_or(x, y)
 *	vec_is_zero(x)
 *	vec_first(a, b)            index of the first differing byte, VEC_SIZE when none differs
 *	part_equal, part_order, part_diff, part_zero
 *	                           the questions for fewer than VEC_SIZE bytes
 *
 *	|<- block ->|<- block ->|  ...  |<- block ->|
 *	                            |<- last block ->|   ends where the span ends, and may overlap: no loop for a tail
 *
 * Invariant: of every span longer than a block, only blocks that lie wholly within it are read.
 * Four vectors are folded into one test, since a test and its branch per vector would cost more than the loads.
 */
#ifndef VEC_SIZE
#error "abd_compare_vector.h is the body of an instruction set's file"
#endif

#include "abd_compare_word.h"

#include <assert.h>

enum {
	BLOCK_SIZE = 4 * VEC_SIZE,
	FETCH_STEP = 2 * ABD_FETCH_STRIDE,
};

static_assert(FETCH_STEP % BLOCK_SIZE == 0, "a fetching step is whole blocks");

static inline bool block_equal(const uint8_t *a, const uint8_t *b)
{
	vec seen = vec_differ(a, b);

	seen = vec_join(seen, a + VEC_SIZE, b + VEC_SIZE);
	seen = vec_join(seen, a + 2 * VEC_SIZE, b + 2 * VEC_SIZE);
	seen = vec_join(seen, a + 3 * VEC_SIZE, b + 3 * VEC_SIZE);
	return vec_is_zero(seen);
}

/* The first unequal block at or after from, or a value >= end. Blocks begin below end. */
static inline size_t blocks_scan(const uint8_t *a, const uint8_t *b, size_t from, size_t end)
{
	while (from < end && block_equal(a + from, b + from))
		from += BLOCK_SIZE;
	return from;
}

static inline bool step_equal(const uint8_t *a, const uint8_t *b)
{
	for (size_t off = 0; off < FETCH_STEP; off += BLOCK_SIZE)
		if (!block_equal(a + off, b + off))
			return false;
	return true;
}

/* The same, in steps that each fetch two line pairs on each side. Stops at the first unequal step, or past end. */
static inline size_t blocks_scan_fetching(const uint8_t *a, const uint8_t *b, size_t from,
	size_t end, const uint8_t *next_a, const uint8_t *next_b)
{
	for (; from < end && step_equal(a + from, b + from); from += FETCH_STEP) {
		abd_fetch(next_a);
		abd_fetch(next_b);
		abd_fetch(next_a + ABD_FETCH_STRIDE);
		abd_fetch(next_b + ABD_FETCH_STRIDE);
		next_a += FETCH_STEP;
		next_b += FETCH_STEP;
	}
	return from;
}

/*
 * size > BLOCK_SIZE, and at least one hint: walk [0, end), where blocks may begin, and fetch on the way. The side without a
 * hint fetches what it has just read, which costs nothing.
 */
static inline size_t blocks_scan_hinted(const uint8_t *a, const uint8_t *b, size_t size,
	const uint8_t *next_a, const uint8_t *next_b)
{
	size_t start = size > ABD_FETCH_DISTANCE ? size - ABD_FETCH_DISTANCE : 0;
	size_t off = blocks_scan(a, b, 0, start);
	size_t stop = abd_min(off + ABD_FETCH_SIZE, size - FETCH_STEP);

	if (off < start || size < FETCH_STEP)
		return off;
	return blocks_scan_fetching(a, b, off, stop, next_a != NULL ? next_a : a + off,
		next_b != NULL ? next_b : b + off);
}

/* size > BLOCK_SIZE. Everything before the result is equal; the block there, or the span's last, holds the difference. */
static inline size_t span_scan(const uint8_t *a, const uint8_t *b, size_t size,
	const uint8_t *next_a, const uint8_t *next_b)
{
	size_t last = size - BLOCK_SIZE;
	size_t off = 0;

	if (next_a != NULL || next_b != NULL)
		off = blocks_scan_hinted(a, b, size, next_a, next_b);
	off = blocks_scan(a, b, off, last);
	if (off < last)
		return off;
	return block_equal(a + last, b + last) ? size : last;
}

/* size >= VEC_SIZE and everything before from is equal: vector by vector to the first difference, or size. */
static inline size_t span_locate(const uint8_t *a, const uint8_t *b, size_t size, size_t from)
{
	size_t last = size - VEC_SIZE;

	for (; from < last; from += VEC_SIZE) {
		size_t index = vec_first(a + from, b + from);

		if (index < VEC_SIZE)
			return from + index;
	}
	return last + vec_first(a + last, b + last);
}

/* VEC_SIZE to BLOCK_SIZE bytes: two or four vectors, from both ends. */
static inline bool few_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
	const uint8_t *a_last = a + size - VEC_SIZE, *b_last = b + size - VEC_SIZE;
	vec seen = vec_join(vec_differ(a, b), a_last, b_last);

	if (size > 2 * VEC_SIZE) {
		seen = vec_join(seen, a + VEC_SIZE, b + VEC_SIZE);
		seen = vec_join(seen, a_last - VEC_SIZE, b_last - VEC_SIZE);
	}
	return vec_is_zero(seen);
}

static bool vector_equal(const void *a, const void *b, size_t size, const void *next_a,
	const void *next_b)
{
	if (size < VEC_SIZE)
		return part_equal(a, b, size);
	if (size <= BLOCK_SIZE)
		return few_equal(a, b, size);
	return span_scan(a, b, size, next_a, next_b) == size;
}

static inline size_t span_diff(const uint8_t *a, const uint8_t *b, size_t size,
	const uint8_t *next_a, const uint8_t *next_b)
{
	size_t off = 0;

	if (size > BLOCK_SIZE) {
		off = span_scan(a, b, size, next_a, next_b);
		if (off == size)
			return size;
	}
	return span_locate(a, b, size, off);
}

static size_t vector_diff(const void *a, const void *b, size_t size, const void *next_a,
	const void *next_b)
{
	if (size < VEC_SIZE)
		return part_diff(a, b, size);
	return span_diff(a, b, size, next_a, next_b);
}

static int vector_order(const void *a, const void *b, size_t size, const void *next_a,
	const void *next_b)
{
	const uint8_t *x = a, *y = b;
	size_t off;

	if (size < VEC_SIZE)
		return part_order(a, b, size);
	off = span_diff(a, b, size, next_a, next_b);
	return off < size ? x[off] - y[off] : 0;
}

static inline vec block_bits(const uint8_t *p)
{
	return vec_or(vec_or(vec_load(p), vec_load(p + VEC_SIZE)),
		vec_or(vec_load(p + 2 * VEC_SIZE), vec_load(p + 3 * VEC_SIZE)));
}

static inline size_t zero_scan(const uint8_t *p, size_t from, size_t end)
{
	while (from < end && vec_is_zero(block_bits(p + from)))
		from += BLOCK_SIZE;
	return from;
}

/* As zero_scan, fetching one line per block, so that the last 4 KiB of a run fetch ABD_FETCH_SIZE of the next. */
static inline size_t zero_scan_fetching(const uint8_t *p, size_t from, size_t end,
	const uint8_t *next)
{
	size_t fetched = 0;

	for (; from < end && vec_is_zero(block_bits(p + from)); from += BLOCK_SIZE) {
		if (fetched < ABD_FETCH_SIZE)
			abd_fetch(next + fetched);
		fetched += ABD_FETCH_STRIDE;
	}
	return from;
}

static inline bool span_zero(const uint8_t *p, size_t size, const uint8_t *next)
{
	size_t last = size - BLOCK_SIZE;
	size_t start = size > ABD_FETCH_DISTANCE ? size - ABD_FETCH_DISTANCE : 0;
	size_t off;

	if (next == NULL)
		start = last;
	off = zero_scan(p, 0, start);
	if (next != NULL && off >= start)
		off = zero_scan_fetching(p, off, last, next);
	return off >= last && vec_is_zero(block_bits(p + last));
}

static bool vector_zero(const void *p, size_t size, const void *next)
{
	const uint8_t *x = p;

	if (size < VEC_SIZE)
		return part_zero(x, size);
	if (size > BLOCK_SIZE)
		return span_zero(x, size, next);
	for (size_t off = 0; off < size - VEC_SIZE; off += VEC_SIZE)
		if (!vec_is_zero(vec_load(x + off)))
			return false;
	return vec_is_zero(vec_load(x + size - VEC_SIZE));
}

static bool vector_key_equal(const void *a, const void *b, size_t size)
{
	return vector_equal(a, b, size, NULL, NULL);
}
