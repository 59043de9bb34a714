/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our own lz4 encoder. It can keep matches within groups, so that a block can be entered at each of
 * them; liblz4's can't.
 *
 *      0           hub_size                        64 KiB
 *      [ hub       |.............|.............|....][ hub   |...
 *      [ group 0              ][ group 1       ][ group 2    ...
 *
 * A match reaches back into the group in which its sequence begins, or into the hub: the first
 * bytes of that group's 64 KiB, less the few that belong to a sequence that began before them.
 * Invariant: the block depends on the bytes alone. It is a standard block: the last five bytes are
 * literals, and the last match begins at least twelve bytes before the end.
 * Source: the block format's own description, lz4_Block_format.md.
 */
#ifndef ABD_LZ4_ENCODE_H
#define ABD_LZ4_ENCODE_H

#include "abd_base.h"

#include <abd/codec.h>

/* Each of these pieces of a record begins with a hub. lz4's offsets reach one byte less. */
#define ABD_LZ4_HUB_EVERY ((size_t)64 << 10)

/* What a search keeps in mind, with groups or without. */
size_t abd_lz4_encode_work_size(int effort, bool groups);

/**
 * Encode size bytes of src into dst. index has room for its points; its group_size and hub_size say
 * where groups lie, its count how many there are. NULL: there are no groups.
 *
 * Returns: bytes written, or 0 if they are more than room.
 * Owner:   work holds abd_lz4_encode_work_size() bytes, of no use afterwards.
 */
size_t abd_lz4_encode(void *dst, size_t room, const void *src, size_t size, int effort,
	struct abd_lz4_index *index, void *work);

#endif
