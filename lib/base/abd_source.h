/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where free blocks come from when nothing is in reserve, and go when the reserve is full.
 */
#ifndef ABD_SOURCE_H
#define ABD_SOURCE_H

#include "abd_base.h"

/** tag is the source's own number; tag >> 8 is a group of blocks of which one may make room for
 * another. */
struct abd_source {
	void *(*alloc)(size_t size, unsigned tag); /* NULL: none */
	void (*free)(void *block, size_t size, unsigned tag);
};

#endif
