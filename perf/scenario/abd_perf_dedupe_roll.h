/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash that rolls: of a window that moves on by a byte, in two multiplications; and a set of
 * extents to look it up in. It is the polynomial of the window's bytes, modulo 2^64. What it finds
 * is a suspicion, for XXH3 and then the bytes to confirm. Karp and Rabin, "Efficient randomized
 * pattern-matching algorithms", 1987; rsync finds moved blocks this way.
 */
#ifndef ABD_PERF_DEDUPE_ROLL_H
#define ABD_PERF_DEDUPE_ROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ABD_PERF_ROLL_BASE \
	0xd6e8feb86659fd93u /* odd, and as many ones as zeros, so that products fill all bits */

/** The hash of what was hashed before, followed by size bytes. 0 starts. */
uint64_t abd_perf_roll(uint64_t hash, const unsigned char *p, size_t size);
/**
 * What the byte that leaves a window of size bytes has been multiplied with by then: base to the
 * power of size.
 */
uint64_t abd_perf_roll_power(size_t size);

static inline uint64_t abd_perf_roll_next(
	uint64_t hash, unsigned char in, unsigned char out, uint64_t power)
{
	return hash * ABD_PERF_ROLL_BASE + in - out * power;
}

/* Extents by hash: bits to rule out nearly every window with one load, and an open table behind. */
struct abd_perf_roll_set {
	uint64_t *bits;
	unsigned bits_shift;
	struct abd_perf_roll_entry {
		uint64_t hash;
		uint32_t extent; /* its number plus 1; 0: free */
	} * entry;
	size_t mask;
};

/** Room for count extents; false: no memory. */
bool abd_perf_roll_set_make(struct abd_perf_roll_set *set, size_t count);
void abd_perf_roll_set_free(struct abd_perf_roll_set *set);
void abd_perf_roll_set_add(struct abd_perf_roll_set *set, uint64_t hash, uint32_t extent);
/** The next extent with that hash: *at is 0 first. False: there are no more. */
bool abd_perf_roll_set_find(
	const struct abd_perf_roll_set *set, uint64_t hash, size_t *at, uint32_t *extent);

static inline bool abd_perf_roll_set_maybe(const struct abd_perf_roll_set *set, uint64_t hash)
{
	uint64_t bit = hash * 0x9e3779b97f4a7c15u >> set->bits_shift;

	return (set->bits[bit / 64] >> bit % 64 & 1) != 0;
}

#endif
