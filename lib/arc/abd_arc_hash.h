/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The key's hash, which the index and the ghosts use. Inline, because every hit computes it.
 * As in wyhash: two products that the CPU computes in parallel, and a third one of both.
 * Invariant: without the seed nobody can choose keys that collide. A factor of 0 makes the other
 * factor irrelevant. The seed is in each of the four factors, so nobody can choose a key that makes
 * one 0.
 */
#ifndef ABD_ARC_HASH_H
#define ABD_ARC_HASH_H

#include "abd_base.h"

#include <abd/arc.h>

/* Multiply, and combine the product's halves: the middle bits depend on every bit of a and b. */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 abd_arc_uint128; /* not an error under -pedantic-errors */

static inline uint64_t abd_arc_mix(uint64_t a, uint64_t b)
{
	abd_arc_uint128 product = (abd_arc_uint128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}
#else
static inline uint64_t abd_arc_mix(uint64_t a, uint64_t b)
{
	/* The second factor has lost the lowest bit of b; the first factor has all bits of b. */
	uint64_t x = (a ^ (b >> 32 | b << 32)) * (b | 1);

	x ^= x >> 29;
	x *= 0xa0761d6478bd642fu;
	return x ^ x >> 32;
}
#endif

/**
 * The place of a hash in a table of so many places, at least 2, that grows by one at a time (linear
 * hashing). If the place does not exist yet: the one that will be split to make it.
 */
static inline size_t abd_arc_hash_home(uint64_t hash, size_t places)
{
	size_t mask = ((size_t)2 << abd_log2(places - 1)) - 1, home = (size_t)hash & mask;

	return home < places ? home : home & mask >> 1;
}

static inline uint64_t abd_arc_hash_key(uint64_t seed, const abd_arc_key_t *key)
{
	uint64_t other = (seed << 32 | seed >> 32) ^ 0xd6e8feb86659fd93u;
	uint64_t a = abd_arc_mix(key->dva[0] ^ seed, key->dva[1] ^ other);
	uint64_t b = abd_arc_mix(key->birth ^ ~other, key->pool ^ seed ^ 0x9e3779b97f4a7c15u);

	return abd_arc_mix(a ^ other ^ 0xa0761d6478bd642fu, b ^ seed);
}

#endif
