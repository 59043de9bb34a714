/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compaction: abd_arc_compact.c.
 */
#ifndef ABD_ARC_COMPACT_H
#define ABD_ARC_COMPACT_H

#include "abd_arc_impl.h"

/**
 * Empty slabs of so many bytes, and about a MiB of records at most, by moving their records to
 * others. They become free when readers have been waited for. Returns how many bytes; 0: no slab is
 * worth that. Under lock.
 */
size_t abd_arc_compact_some(struct abd_arc *arc, size_t bytes);

#endif
