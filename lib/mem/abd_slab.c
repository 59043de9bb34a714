/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cutting slabs, and finding the slab of a block.
 */
#include "abd_slab.h"
#include "abd_contract.h"

#include <assert.h>

/* The smallest blocks, of 64 bytes, are 255 in a slab. */
#define ABD_SLAB_WORDS 4
#define ABD_SLAB_BYTES_MIN ((size_t)16 << 10)

struct abd_slab {
	struct abd_slab *next, **link; /* in the list of its size; link is NULL on none */
	uint64_t free[ABD_SLAB_WORDS]; /* bit n: block n is free */
	uint32_t taken, blocks;
};

static_assert(sizeof(struct abd_slab) <= 64, "the head takes no more than the smallest block");

static pthread_mutex_t abd_slab_lock = PTHREAD_MUTEX_INITIALIZER;

/* A slab of a size class has 17 blocks or more; head and rest are at most 4 % of it. */
static size_t abd_slab_bytes(size_t size)
{
	size_t bytes = (size_t)32 << abd_log2(size);

	return bytes < ABD_SLAB_BYTES_MIN ? ABD_SLAB_BYTES_MIN : bytes;
}

static struct abd_slab *abd_slab_head(char *base, size_t bytes)
{
	return (struct abd_slab *)(void *)(base + bytes) - 1;
}

static void abd_slab_list(struct abd_slab **list, struct abd_slab *slab)
{
	slab->link = list;
	slab->next = *list;
	if (slab->next != NULL)
		slab->next->link = &slab->next;
	*list = slab;
}

static void abd_slab_unlist(struct abd_slab *slab)
{
	*slab->link = slab->next;
	if (slab->next != NULL)
		slab->next->link = slab->link;
	slab->link = NULL;
}

/* A slab in which all is free; NULL: no memory. No lock is held. */
static struct abd_slab *abd_slab_make(struct abd_region_heap *heap, size_t size, size_t bytes)
{
	void *base;

	if (abd_region_alloc_many(heap, &base, 1, bytes >> ABD_CHUNK_SHIFT) == 0)
		return NULL;

	struct abd_slab *slab = abd_slab_head(base, bytes);

	memset(slab, 0, sizeof(*slab));
	slab->blocks = (uint32_t)((bytes - sizeof(*slab)) / size);
	for (uint32_t i = 0; i < slab->blocks; i++)
		slab->free[i / 64] |= (uint64_t)1 << i % 64;
	return slab;
}

/* Take up to count blocks of one slab. Returns how many. Locked. */
static size_t abd_slab_take(
	struct abd_slab *slab, char *base, size_t size, void **blocks, size_t count)
{
	size_t taken = 0;

	for (size_t word = 0; word < ABD_SLAB_WORDS; word++)
		for (; slab->free[word] != 0 && taken < count; taken++) {
			size_t bit = (size_t)__builtin_ctzll(slab->free[word]);

			slab->free[word] &= slab->free[word] - 1;
			blocks[taken] = base + (word * 64 + bit) * size;
		}
	slab->taken += (uint32_t)taken;
	if (slab->taken == slab->blocks)
		abd_slab_unlist(slab);
	return taken;
}

size_t abd_slab_alloc(struct abd_slab **list, struct abd_region_heap *heap, size_t size,
	void **blocks, size_t count)
{
	size_t bytes = abd_slab_bytes(size), taken = 0;

	pthread_mutex_lock(&abd_slab_lock);
	while (taken < count) {
		struct abd_slab *slab = *list;

		if (slab == NULL) {
			pthread_mutex_unlock(&abd_slab_lock);
			slab = abd_slab_make(heap, size, bytes);
			pthread_mutex_lock(&abd_slab_lock);
			if (slab == NULL)
				break;
			abd_slab_list(list, slab);
		}
		taken += abd_slab_take(
			slab, (char *)(slab + 1) - bytes, size, blocks + taken, count - taken);
	}
	pthread_mutex_unlock(&abd_slab_lock);
	return taken;
}

/* False: no such taken block begins there. *gone: slabs that are empty now. Locked. */
static bool abd_slab_give(
	struct abd_slab **list, char *block, size_t size, size_t bytes, struct abd_slab **gone)
{
	size_t offset = (uintptr_t)block & (bytes - 1);
	struct abd_slab *slab = abd_slab_head(block - offset, bytes);
	uint32_t number = (uint32_t)offset / (uint32_t)size;
	uint64_t bit = (uint64_t)1 << number % 64;

	if (number >= slab->blocks || number * size != offset ||
		(slab->free[number / 64] & bit) != 0)
		return false;
	slab->free[number / 64] |= bit;
	slab->taken--;
	if (slab->link == NULL)
		abd_slab_list(list, slab);
	if (slab->taken > 0)
		return true;
	abd_slab_unlist(slab);
	slab->next = *gone;
	*gone = slab;
	return true;
}

void abd_slab_free(struct abd_slab **list, struct abd_region_heap *heap, size_t size, void **blocks,
	size_t count)
{
	size_t bytes = abd_slab_bytes(size), known = 0;
	struct abd_slab *gone = NULL;

	pthread_mutex_lock(&abd_slab_lock);
	while (known < count && abd_slab_give(list, blocks[known], size, bytes, &gone))
		known++;
	pthread_mutex_unlock(&abd_slab_lock);
	ABD_REQUIRE_IN("abd_free", known == count, "%p is no block of %zu bytes in use",
		blocks[known], size);
	while (gone != NULL) {
		void *base = (char *)(gone + 1) - bytes;

		gone = gone->next;
		abd_region_free_many(heap, &base, 1, bytes >> ABD_CHUNK_SHIFT);
	}
}

void abd_slab_fork_begin(void)
{
	pthread_mutex_lock(&abd_slab_lock);
}

void abd_slab_fork_end(void)
{
	pthread_mutex_unlock(&abd_slab_lock);
}
