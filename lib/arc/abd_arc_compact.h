/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compaction: abd_arc_compact.c.
 */
#ifndef ABD_ARC_COMPACT_H
#define ABD_ARC_COMPACT_H

#include "abd_arc_impl.h"

/**
 * Empty slabs of this many bytes by moving their records to other slabs, about a MiB of records at
 * most. The slabs become free after a wait for readers. Returns the bytes of these slabs; 0: no
 * slab is worth it. Under lock.
 */
size_t abd_arc_compact_some(struct abd_arc *arc, size_t bytes);

#endif
