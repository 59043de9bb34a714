/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xxh3 by xxHash's own code with what every machine of the kind has: SSE2 on x86-64, NEON on 64-bit
 * Arm.
 */
#include "abd_xxh3.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(sizeof(struct abd_xxh3_state) >= sizeof(XXH3_state_t), "xxHash's state fits");
static_assert(_Alignof(struct abd_xxh3_state) >= _Alignof(XXH3_state_t), "and is aligned");

uint64_t abd_xxh3_portable_whole(const void *span, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(span, size, seed);
}

static void begin(struct abd_xxh3_state *state, size_t size, uint64_t seed)
{
	XXH3_state_t *xxh = (XXH3_state_t *)state;

	(void)size;
	XXH3_INITSTATE(xxh);
	XXH3_64bits_reset_withSeed(xxh, seed);
}

static void add(struct abd_xxh3_state *state, const struct iovec *span, size_t count)
{
	for (; count > 0; count--, span++)
		XXH3_64bits_update((XXH3_state_t *)state, span->iov_base, span->iov_len);
}

static uint64_t end(const struct abd_xxh3_state *state)
{
	return XXH3_64bits_digest((const XXH3_state_t *)state);
}

static bool supported(void)
{
	return true;
}

const struct abd_xxh3_kernel abd_xxh3_portable = {
	.name = "portable",
	.supported = supported,
	.whole = abd_xxh3_portable_whole,
	.begin = begin,
	.add = add,
	.end = end,
};
