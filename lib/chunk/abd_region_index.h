/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which region an address lies in: a table of two levels, whose second level is there only for
 * addresses in use.
 * Invariant: an entry names the region that starts at its address, or nobody. Regions start at
 * multiples of their size. Linux: page tables. 64 KiB serve 32 GiB of addresses.
 */
#ifndef ABD_REGION_INDEX_H
#define ABD_REGION_INDEX_H

#include "abd_chunk_provider.h"

#define ABD_REGION_SHIFT (ABD_CHUNK_SHIFT + ABD_CHUNK_ORDER_MAX)
#define ABD_REGION_SIZE ((size_t)1 << ABD_REGION_SHIFT)

struct abd_region;

/** Whose region run lies in; NULL: nobody's. Threads: any that has a run there. */
struct abd_region *abd_region_index_get(const void *run);

/** Enter a region that starts at base, or NULL. False: no memory, or an address beyond what can be
 * looked up. Threads: any. */
bool abd_region_index_set(const void *base, struct abd_region *region);

/** Have room for all regions of [base, base + size), so that entering them can't fail. False: no memory. */
bool abd_region_index_prepare(const void *base, size_t size);

#endif
