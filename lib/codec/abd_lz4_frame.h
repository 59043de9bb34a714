/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much a record must save to be kept as an lz4 block. Decided here and nowhere else.
 */
#ifndef ABD_LZ4_FRAME_H
#define ABD_LZ4_FRAME_H

#include <stddef.h>

/** The largest block that saves an eighth (12.5 %) of size bytes; size itself below 8 bytes. */
static inline size_t abd_lz4_room(size_t size)
{
	return size - size / 8;
}

#endif
