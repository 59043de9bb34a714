/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file that a cache is saved in, and read from by the next process.
 *
 *   | head | record | record | ... | end |       words of 64 bits, little-endian
 *
 *   head     0  ABD_ARC_SAVE_MAGIC, whose last byte is the version: 1
 *            1  xxh3 of what follows in the head, with seed 0
 *            2  salt: the seed of all other checksums, another one in each file
 *            3  what T1 should have of the records' bytes, in units of 2^-32
 *   record   0  ABD_ARC_SAVE_RECORD
 *            1  xxh3 of what follows in this head
 *            2  the key: pool; dva in 3 and 4; birth in 5
 *            6  bytes before compression; bytes as stored << 32
 *            7  bytes of the index; flags << 32; uses << 48
 *            8  xxh3 of the record as stored; its seed is the xxh3 of the index, if it has one
 *            9  the index of the block, if any, as abd_lz4_index_put() writes it, then the record
 *   end      a record's head with ABD_ARC_SAVE_END
 *
 * Records come in the order of their value, the best first: the newest of T1 and T2, in turns, so
 * that each part of the file from its begin has as much of T2 as the policy would keep if the cache
 * were smaller. So what a crash cuts off, or a smaller cache has no room for, is worth least.
 *
 * Invariants: nothing in the file is trusted; no size is used before the checksum of its head
 * agrees. A reader that meets a damaged head looks for the next one. Because of the salt, no record
 * whose content is a file like this one is mistaken for a part of it.
 * OpenZFS: the log blocks of the L2ARC, struct l2arc_log_blk_phys in include/sys/arc_impl.h, which
 * are read in l2arc_rebuild(), module/zfs/arc.c.
 */
#ifndef ABD_ARC_SAVE_H
#define ABD_ARC_SAVE_H

#include <abd/arc.h>

#include <endian.h>

#define ABD_ARC_SAVE_MAGIC 0x0165766173646261u  /* "abdsave" 1 */
#define ABD_ARC_SAVE_RECORD 0x0a0d64726f636572u /* "record", and the end of a line */

enum { ABD_ARC_SAVE_HEAD_WORDS = 4, ABD_ARC_SAVE_RECORD_WORDS = 9 };

enum abd_arc_save_flag {
	ABD_ARC_SAVE_FREQUENT = 1 << 0, /* it is in T2 */
	ABD_ARC_SAVE_METADATA = 1 << 1,
	ABD_ARC_SAVE_END = 1 << 2, /* no record, but the end */
};

/** All of the records' bytes, for what T1 should have of them. */
#define ABD_ARC_SAVE_SHARE ((uint64_t)1 << 32)

/** The checksum of memory that is only read. */
uint64_t abd_arc_save_checksum(const void *buf, size_t size, uint64_t seed);

#endif
