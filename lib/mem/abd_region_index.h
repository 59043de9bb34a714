/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which region an address lies in: a table of two levels. The second level exists only for
 * addresses in use.
 * Invariant: an entry is the region that starts at its address, or NULL. Regions start at
 * multiples of their size. Linux: page tables. 64 KiB serve 32 GiB of addresses.
 */
#ifndef ABD_REGION_INDEX_H
#define ABD_REGION_INDEX_H

#include "abd_chunk_provider.h"

#define ABD_REGION_SHIFT (ABD_CHUNK_SHIFT + ABD_CHUNK_ORDER_MAX)
#define ABD_REGION_SIZE ((size_t)1 << ABD_REGION_SHIFT)

struct abd_region;

/** The region that run lies in; NULL: none. Threads: any that owns the run. */
struct abd_region *abd_region_index_get(const void *run);

/** Enter a region that starts at base, or NULL. False: no memory, or the address is beyond the
 * index. Threads: any. */
bool abd_region_index_set(const void *base, struct abd_region *region);

/** Make room for all regions of [base, base + size), so that entering them can't fail. False: no
 * memory, or the address is beyond the index. */
bool abd_region_index_prepare(const void *base, size_t size);

#endif
