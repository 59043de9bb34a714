/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The key's hash, by which the index and the ghosts go. Inline: it is on the way of every hit.
 * Two products that don't wait for each other, and one over both, after the manner of wyhash.
 * Invariant: without the seed nobody can choose keys that collide. A factor that a key can make 0
 * takes the other out of the product, so each of the four has the seed in it.
 */
#ifndef ABD_ARC_HASH_H
#define ABD_ARC_HASH_H

#include <abd/arc.h>

/* Multiply, and fold the product's halves: every bit of both reaches the middle ones. */
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
	/* All of b in the first factor: the second does not have its lowest bit. */
	uint64_t x = (a ^ (b >> 32 | b << 32)) * (b | 1);

	x ^= x >> 29;
	x *= 0xa0761d6478bd642fu;
	return x ^ x >> 32;
}
#endif

static inline uint64_t abd_arc_hash_key(uint64_t seed, const abd_arc_key_t *key)
{
	uint64_t other = (seed << 32 | seed >> 32) ^ 0xd6e8feb86659fd93u;
	uint64_t a = abd_arc_mix(key->dva[0] ^ seed, key->dva[1] ^ other);
	uint64_t b = abd_arc_mix(key->birth ^ ~other, key->pool ^ seed ^ 0x9e3779b97f4a7c15u);

	return abd_arc_mix(a ^ other ^ 0xa0761d6478bd642fu, b ^ seed);
}

#endif
