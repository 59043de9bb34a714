/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lanes: several runs of each side that a kernel walks together. A walk from run to run is one
 * stream of addresses, and memory answers several streams faster than one.
 *
 *   lane 0   a ......run 0......   b ......run 0......
 *   lane 1   a ......run 1......   b ......run 1......     a block of each lane in turn
 *
 * Invariant: all lanes have the same length. The caller keeps what is left of longer pieces.
 */
#ifndef ABD_LANES_H
#define ABD_LANES_H

#include "abd_base.h"

enum {
	ABD_LANES = 4,
	/* half a page: pieces that are shorter are not worth a lane */
	ABD_LANE_MIN = 2048,
};

/*
 * The lane behind the nth, in a way that hides it from the compiler, which must not unroll loops
 * over lanes. On Zen 5, 64 to 512 KiB are compared by four lanes no faster than run by run if every
 * lane has load instructions of its own, and 1.35 times as fast if the same instructions visit all
 * lanes in turn; copies are alike. (A prefetcher that follows each instruction runs past the ends
 * of runs; lanes in turn give it nothing to follow.)
 */
static inline unsigned abd_lane_next(unsigned n)
{
	n++;
	__asm__ volatile("" : "+r"(n));
	return n;
}

struct abd_lanes {
	char *a[ABD_LANES];
	const char *b[ABD_LANES];
};

#endif
