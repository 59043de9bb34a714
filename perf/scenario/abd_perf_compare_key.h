/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of the compare scenario that measures short keys and names.
 */
#ifndef ABD_PERF_COMPARE_KEY_H
#define ABD_PERF_COMPARE_KEY_H

#include "abd_perf_clock.h"
#include "abd_perf_options.h"

/* A pair: where its keys begin, and their length. */
struct abd_perf_key {
	uint32_t a : 24, length : 8, b;
};
#define ABD_PERF_KEYS ((size_t)1 << 20)
#define ABD_PERF_KEY_MAX 64
#define ABD_PERF_KEY_ROOM ((size_t)1 << 20) /* bytes that keys lie in: more than L1 */

/**
 * Draw count pairs. length 0: of 1 to 64 bytes, anew for each; differ: half of them begin
 * in the bytes of b of which about every 16th was changed.
 */
static inline void abd_perf_compare_key_draw(
	struct abd_perf_key *key, size_t count, unsigned length, bool differ, uint64_t *random)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = abd_perf_random_below(random, ABD_PERF_KEY_ROOM - ABD_PERF_KEY_MAX);
		bool changed = differ && abd_perf_random(random) % 2 == 0;

		key[i].a = (uint32_t)at & 0xffffff;
		key[i].b = (uint32_t)(at + 1 + (changed ? 0 : ABD_PERF_KEY_ROOM));
		key[i].length = (uint8_t)(length != 0 ? length
						      : 1 + abd_perf_random_below(
								    random, ABD_PERF_KEY_MAX));
	}
}

/** The number of steps that abd_perf_compare_keys() takes. */
unsigned abd_perf_compare_key_steps(const struct abd_perf_options *options);
void abd_perf_compare_keys(const struct abd_perf_options *options);

#endif
