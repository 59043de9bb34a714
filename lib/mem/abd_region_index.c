/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A leaf, once made, is never freed.
 */
#include "abd_region_index.h"
#include "abd_mem.h"

#include <sys/mman.h>

/* User space ends at 2^47 on x86-64, at 2^48 on arm64, unless a program asks for more by name. */
#define ABD_REGION_INDEX_BITS ((sizeof(void *) == 8 ? 48 : 32) - ABD_REGION_SHIFT)
#define ABD_REGION_LEAF_BITS (sizeof(void *) == 8 ? 13 : 10)
#define ABD_REGION_LEAF_SIZE ((size_t)1 << ABD_REGION_LEAF_BITS)
#define ABD_REGION_LEAVES ((size_t)1 << (ABD_REGION_INDEX_BITS - ABD_REGION_LEAF_BITS))

typedef struct abd_region *_Atomic abd_region_entry;

static abd_region_entry *_Atomic abd_region_leaf[ABD_REGION_LEAVES];

/* The entry of an address; NULL: there is none. */
static abd_region_entry *abd_region_entry_of(const void *address)
{
	size_t number = (uintptr_t)address >> ABD_REGION_SHIFT;
	size_t leaf = number >> ABD_REGION_LEAF_BITS;

	if (leaf >= ABD_REGION_LEAVES)
		return NULL;

	abd_region_entry *entries =
		atomic_load_explicit(&abd_region_leaf[leaf], memory_order_acquire);

	return entries != NULL ? &entries[number & (ABD_REGION_LEAF_SIZE - 1)] : NULL;
}

struct abd_region *abd_region_index_get(const void *run)
{
	abd_region_entry *entry = abd_region_entry_of(run);

	return entry != NULL ? atomic_load_explicit(entry, memory_order_acquire) : NULL;
}

static bool abd_region_leaf_make(size_t leaf)
{
	size_t bytes = ABD_REGION_LEAF_SIZE * sizeof(abd_region_entry);
	abd_region_entry *none = NULL;
	void *map;

	if (abd_mem_refused())
		return false;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return false;
	if (!atomic_compare_exchange_strong(&abd_region_leaf[leaf], &none, map))
		munmap(map, bytes); /* another thread was first */
	return true;
}

/* Make sure the leaf exists. False: no memory, or the address is beyond the index. */
static bool abd_region_leaf_have(size_t leaf)
{
	return leaf < ABD_REGION_LEAVES &&
	       (atomic_load(&abd_region_leaf[leaf]) != NULL || abd_region_leaf_make(leaf));
}

static size_t abd_region_leaf_of(uintptr_t address)
{
	return address >> ABD_REGION_SHIFT >> ABD_REGION_LEAF_BITS;
}

bool abd_region_index_set(const void *base, struct abd_region *region)
{
	if (!abd_region_leaf_have(abd_region_leaf_of((uintptr_t)base)))
		return false;
	atomic_store_explicit(abd_region_entry_of(base), region, memory_order_release);
	return true;
}

bool abd_region_index_prepare(const void *base, size_t size)
{
	size_t last = abd_region_leaf_of((uintptr_t)base + size - 1);

	for (size_t leaf = abd_region_leaf_of((uintptr_t)base); leaf <= last; leaf++)
		if (!abd_region_leaf_have(leaf))
			return false;
	return true;
}
