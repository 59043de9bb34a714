/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An xxh3 kernel, a template: the including file is compiled for an instruction set, by which
 * xxHash chooses its vectors, and makes a kernel of these functions.
 */
#ifndef ABD_XXH3_WORDS_H
#define ABD_XXH3_WORDS_H

#include "abd_xxh3.h"

#include <assert.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(sizeof(struct abd_xxh3_state) >= sizeof(XXH3_state_t), "xxHash's state fits");
static_assert(_Alignof(struct abd_xxh3_state) >= _Alignof(XXH3_state_t), "and is aligned");

static uint64_t whole(const void *span, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(span, size, seed);
}

static void begin(struct abd_xxh3_state *state, uint64_t seed)
{
	XXH3_state_t *xxh = (XXH3_state_t *)state;

	XXH3_INITSTATE(xxh);
	XXH3_64bits_reset_withSeed(xxh, seed);
}

static void add(struct abd_xxh3_state *state, const void *span, size_t size)
{
	XXH3_64bits_update((XXH3_state_t *)state, span, size);
}

static uint64_t end(const struct abd_xxh3_state *state)
{
	return XXH3_64bits_digest((const XXH3_state_t *)state);
}

#endif
