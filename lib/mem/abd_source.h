/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source: where blocks come from when none is in reserve, and where they go when the reserve is
 * full.
 */
#ifndef ABD_SOURCE_H
#define ABD_SOURCE_H

#include "abd_base.h"

/**
 * tag is a number of the source's own. Blocks with the same tag >> 8 are a group: freeing one may
 * make room for another.
 */
struct abd_source {
	void *(*alloc)(size_t size, unsigned tag); /* NULL: none */
	void (*free)(void *block, size_t size, unsigned tag);
};

#endif
