/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raw lz4 blocks decoded straight from the runs in which they lie, one decoder per instruction set.
 * Invariant: no kernel reads outside the stated bytes of the runs or writes outside the output,
 * whatever the data. A block is accepted exactly if LZ4_decompress_safe() of liblz4 1.9.4 accepts
 * it, except for blocks with match offset 0: the format forbids them and liblz4 lets them through.
 * Source: the block format's own description, lz4_Block_format.md.
 */
#ifndef ABD_LZ4_DECODE_H
#define ABD_LZ4_DECODE_H

#include "abd_kernel.h"

#include <sys/types.h>
#include <sys/uio.h>

/*
 * Values of stop. Whole: the block must end within dst_size and obey every rule. Prefix: dst is
 * filled, and the rest of the record is cut off.
 */
#define ABD_LZ4_STOP_WHOLE SIZE_MAX
#define ABD_LZ4_STOP_PREFIX (SIZE_MAX - 1)

struct abd_lz4_decoder {
	ABD_KERNEL_HEAD;
	/*
	 * Decode the block of src_size bytes that starts skip bytes into runs[0] into dst.
	 *
	 * Units:   bytes. Runs have any length but 0; together they hold skip + src_size at least,
	 *          and skip is less than runs[0] is long.
	 * stop:    the first stop bytes are wanted: decoding ends once they are final. From
	 *          dst_size on (STOP_PREFIX excepted): the whole block, fully validated. Below it,
	 *          and for STOP_PREFIX, only what was decoded was validated, and a sequence that
	 *          crosses dst_size is cut there: dst may be smaller than the record.
	 * Returns: bytes that are final, at most dst_size; fewer than stop only where the block
	 *          ends before it.
	 *          Errors: -EBADMSG, and dst then holds no promise. Bytes of dst past the result
	 *          may have been overwritten.
	 * hub:     for a group, where hub_size > 0: matches also reach into the bytes there, which
	 *          lie before dst as far as they do in the record. ABD_LZ4_HUB_MARGIN bytes behind
	 *          them may be read: what they hold leaves no trace.
	 * Threads: any; nothing is shared.
	 */
	ssize_t (*decode)(void *dst, size_t dst_size, size_t stop, const struct iovec *runs,
		size_t skip, size_t src_size, const void *hub, size_t hub_size);
	/*
	 * Decode the whole block into several runs of output: dst_size bytes of room that start
	 * dst_skip bytes into dst_runs[0]. The bytes are decoded into window and copied from there
	 * to the runs, since matches reach back across runs: a copy costs less than finding the run
	 * of each match. window holds window_size bytes, at least ABD_LZ4_WINDOW_MIN or dst_size,
	 * whichever is smaller; its contents are of no use afterwards.
	 */
	ssize_t (*decode_scatter)(const struct iovec *dst_runs, size_t dst_skip, size_t dst_size,
		const struct iovec *runs, size_t skip, size_t src_size, void *window,
		size_t window_size);
};

/*
 * The smallest window for scattered output: 64 KiB that a match may reach back, and 64 KiB to fill.
 */
#define ABD_LZ4_WINDOW_MIN ((size_t)128 << 10)

#define ABD_LZ4_HUB_MARGIN ((size_t)128)

/* The decoders. Those of another machine are not built, and not in the table. */
extern const struct abd_lz4_decoder abd_lz4_decode_avx512, abd_lz4_decode_avx2, abd_lz4_decode_neon,
	abd_lz4_decode_portable;

/** Every decoder that was built, best first, ended by NULL. A decoder is added by one file and one
 * line of the table. */
extern const struct abd_lz4_decoder *const abd_lz4_decoders[];

/** The tunable "lz4". */
extern struct abd_choice abd_lz4_choice;

/** The decoder for a block of size bytes. Threads: any; see abd_choice_for(). */
static inline const struct abd_lz4_decoder *abd_lz4_decoder_for(size_t size)
{
	return ABD_CHOOSE(abd_lz4_decoder, &abd_lz4_choice, size);
}

#endif
