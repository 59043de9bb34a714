/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two loops of the decoder share. The quick loop (abd_lz4_decode_quick.h, compiled per
 * instruction set) decodes within one window of input, far from every end; the careful one
 * (abd_lz4_decode_careful.c, compiled once) decodes the single sequence that the quick loop left:
 * at the ends of input, output and runs, and everything that is damaged.
 *
 *      run                                next run
 *      [.......................|tail]     [head.....................]
 *                               \           /
 *                       stitch: [tail | head]   sequences that start in the tail are decoded here
 *
 * A sequence of long literals that reaches the run's end is decoded in a longer stitch. Rows of
 * ratio 1.3, whose runs all end within literals, decode 1.09 times as fast by that on Zen 4.
 *
 * Invariant: between sequences ip points at a token, in the run that ends at run_end; while
 * stitched is true, in the stitch.
 */
#ifndef ABD_LZ4_DECODE_STATE_H
#define ABD_LZ4_DECODE_STATE_H

#include "abd_base.h"
#include "abd_lz4_decode.h"

#include <string.h>

enum {
	/*
	 * A token, 14 literals, an offset and the next token: all that a sequence without
	 * extensions reads. liblz4 needs just as much input left to skip its end-of-block rules.
	 * Copies of 16 literals read no further.
	 */
	ABD_LZ4_SEQUENCE_MAX = 18,
	/*
	 * Output that the quick loop keeps free: 14 literals and a short match, which writes at
	 * most 24 bytes. Long literals write up to 63 bytes more than they are, or the match
	 * behind them does.
	 */
	ABD_LZ4_OUT_MARGIN = 40,
	ABD_LZ4_LONG_MARGIN = 64,
	ABD_LZ4_COPY_MARGIN = 128,
	ABD_LZ4_TAIL = 32,
	ABD_LZ4_HEAD = 64,
	ABD_LZ4_LONG_STITCH = 128, /* bytes of either side */
	ABD_LZ4_HISTORY = 64 << 10,
	ABD_LZ4_AHEAD_MAX = 32 << 10,
	/*
	 * How much of the first run is fetched at once, before the first sequence: the CPU's own
	 * prefetchers need some misses before they begin. Zen 4, records of 4 to 128 KiB: 1.05
	 * times as fast from memory, 1.03 to 1.05 times within 12 MiB; 512 bytes two thirds of
	 * that, 2 KiB no more, 4 KiB less.
	 */
	ABD_LZ4_FIRST = 1 << 10,
	/*
	 * How much of each later run is fetched while the run before it is decoded: sequences that
	 * are decoded in a stitch, or carefully, fetch nothing, so the first lines of the next run
	 * would be missing. Zen 4, rows of ratio 1.3 from memory: 1.03 to 1.05 times as fast.
	 */
	ABD_LZ4_NEXT = 256,
};

struct abd_lz4_sink;

struct abd_lz4_state {
	const uint8_t *ip;
	const uint8_t *window_end;
	const uint8_t *token_limit; /* the quick loop takes no token after this one */
	uintptr_t ahead;          /* distance from the byte being decoded to the one to prefetch */
	uintptr_t ahead_literals; /* the same for long literals, which get there sooner */
	uint8_t *op;
	uint8_t *out_base; /* matches reach back to here, or lie in the hub as a whole */
	const uint8_t *hub;
	size_t hub_size; /* 0: there is no hub */
	uint8_t *out_end;
	uint8_t *out_limit; /* the quick loop starts no sequence at or after this */

	const uint8_t *run_begin; /* where the run begins, or the record if later */
	const uint8_t *run_end;   /* where the run ends, or the record if sooner */
	size_t after;             /* bytes of the record in later runs */
	const struct iovec *run;
	size_t out_after; /* room beyond out_end, with a sink */
	uint8_t *out_stop;
	struct abd_lz4_sink *sink;
	/*
	 * The instruction set's own copies. copy_literals() writes exactly size bytes, copy_match()
	 * up to ABD_LZ4_COPY_MARGIN more.
	 */
	void (*copy_literals)(uint8_t *dst, const uint8_t *src, size_t size, uintptr_t ahead);
	void (*copy_match)(uint8_t *dst, size_t offset, size_t size);
	bool partial;
	bool stitched;
	uint8_t stitch[2 * ABD_LZ4_LONG_STITCH];
};

/** Whether size bytes that lie offset bytes before op lie within the hub. */
static inline bool abd_lz4_decode_in_hub(
	const struct abd_lz4_state *s, const uint8_t *op, size_t offset, uint64_t size)
{
	size_t from;

	if (s->hub_size == 0)
		return false;
	from = (size_t)(op - s->hub) - offset;
	return from < s->hub_size && size <= s->hub_size - from;
}

/**
 * Decode one sequence by the rules.
 *
 * Returns: 1 when another follows; 0 at the block's end or, in partial decoding, the output's.
 *          Errors: -EBADMSG.
 */
int abd_lz4_decode_careful(struct abd_lz4_state *s);

/** Go on to the next run. after > 0. */
void abd_lz4_decode_hop(struct abd_lz4_state *s);

/** Prepare a window of input at ip; false: the careful loop must take the next sequence. */
bool abd_lz4_decode_enter(struct abd_lz4_state *s);

/** The same for the long stitch, where the quick loop stopped before the run's end. */
bool abd_lz4_decode_enter_long(struct abd_lz4_state *s);

/**
 * Begin to decode into linear output. Returns true if nothing is left to do: *result is the answer.
 */
bool abd_lz4_decode_begin(struct abd_lz4_state *s, void *dst, size_t dst_size, size_t stop,
	const struct iovec *runs, size_t skip, size_t src_size, ssize_t *result);

/* Scattered output: where the window's contents go next. */
struct abd_lz4_sink {
	const struct iovec *run;
	size_t run_off;
	const uint8_t *drained; /* the window before this has been copied out */
	size_t produced;        /* copied out so far */
	size_t window_size;
};

/** Copy out what the window holds, and keep its last 64 KiB at its start. */
void abd_lz4_decode_slide(struct abd_lz4_state *s);

/** Copy out what is left in the window. Returns bytes produced altogether. */
ssize_t abd_lz4_decode_drain(struct abd_lz4_state *s);

bool abd_lz4_decode_begin_scatter(struct abd_lz4_state *s, struct abd_lz4_sink *sink,
	const struct iovec *dst_runs, size_t dst_skip, size_t dst_size, const struct iovec *runs,
	size_t skip, size_t src_size, void *window, size_t window_size, ssize_t *result);

#endif
