/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be done with buffers of any kind, without seeing their pieces: iterate, copy, compare,
 * fill with zeroes.
 *
 * Contract for all: offset and size lie within the buffer; the two sides of a copy do not overlap,
 * unless they are exactly the same bytes. Size 0 does nothing; for calls with a size argument, the
 * buffer may then be NULL.
 *
 * OpenZFS: module/zfs/abd.c, the calls of the same names.
 */
#ifndef ABD_OPERATE_H
#define ABD_OPERATE_H

#include <abd/buffer.h>

ABD_BEGIN_DECLS

/** Called with each piece in order; a result other than 0 ends the iteration. */
typedef int abd_iter_func_t(void *buf, size_t len, void *priv);
typedef int abd_iter_func2_t(void *bufa, void *bufb, size_t len, void *priv);
typedef int abd_iter_const_func_t(const void *buf, size_t len, void *priv);

/**
 * Call func for the pieces of abd [off, off + size), in order.
 *
 * Units:   off and size in bytes.
 * Returns: 0, or the first result of func that was not 0.
 * Owner:   nothing changes hands; the addresses that func gets are valid until the buffer ends.
 * Threads: abd is read, or written if func writes.
 * Source:  abd_iterate_func() in module/zfs/abd.c.
 */
ABD_API int abd_iterate_func(
	abd_t *abd, size_t off, size_t size, abd_iter_func_t *func, void *priv);

/**
 * abd_iterate_func() for callers that only read.
 *
 * Units:   off and size in bytes.
 * Returns: 0, or the first result of func that was not 0.
 * Owner:   nothing changes hands; the addresses that func gets are valid until the buffer ends.
 * Threads: abd is read.
 * Source:  none in OpenZFS, where abd_iterate_func() serves both.
 */
ABD_API int abd_iterate_func_const(
	const abd_t *abd, size_t off, size_t size, abd_iter_const_func_t *func, void *priv);

/**
 * Call func for the common pieces of dabd [doff, doff + size) and sabd [soff, soff + size), in
 * order.
 *
 * Units:   offsets and size in bytes.
 * Returns: 0, or the first result of func that was not 0.
 * Threads: both are read, or written if func writes.
 * Source:  abd_iterate_func2() in module/zfs/abd.c.
 */
ABD_API int abd_iterate_func2(abd_t *dabd, abd_t *sabd, size_t doff, size_t soff, size_t size,
	abd_iter_func2_t *func, void *priv);

/* ---- spans ----------------------------------------------------------------------------------- */

/* Private: where a span's loop goes on. */
struct abd_span_place {
	size_t abd_left, abd_leaf_left, abd_run_step;
	const struct iovec *abd_run;
	const void *abd_entry;
};

/**
 * Part of a buffer that is one piece of memory: buf, len and off may be read. A plain value: it may
 * be copied and dropped, and a copy goes on by itself.
 */
typedef struct abd_span {
	void *buf;  /* the bytes; NULL at the end */
	size_t len; /* how many; 0 at the end */
	size_t off; /* of the first one, in the buffer */
	struct abd_span_place abd_place;
} abd_span_t;

/** The same of a buffer that may only be read. */
typedef struct abd_span_const {
	const void *buf;
	size_t len;
	size_t off;
	struct abd_span_place abd_place;
} abd_span_const_t;

/**
 * Begin to visit bytes [off, off + size) of abd, of any kind, span by span and without a callback:
 *
 *   for (abd_span_begin(&span, abd, off, size); span.len > 0; abd_span_next(&span))
 *           use(span.buf, span.len);
 *
 * Spans come in order, none is empty, and together they are the range. Runs that are neighbours in
 * memory are one span; children of a gang are not joined. Beginning costs the same at any offset,
 * so a loop may stop anywhere, and begin again at span.off or at any other place.
 *
 * Contract: the range lies within the buffer. If size is 0, abd may be NULL. Between two calls the
 *           buffer does not end, and nothing is added to a gang. The caller does not write to a
 *           buffer of zeros.
 * Units:    off and size in bytes.
 * Returns:  nothing; *span is the first span, with len 0 if size is 0.
 * Owner:    nothing changes hands; buf is valid until the buffer ends, and nothing has to be ended.
 * Threads:  abd is read, or written if the caller writes.
 * Source:   none in OpenZFS, where its RFC 16848 asks for it; abd_iterate_func() needs a callback.
 */
ABD_API void abd_span_begin(abd_span_t *span, abd_t *abd, size_t off, size_t size);

/**
 * Go on to the next span of the range.
 *
 * Contract: *span comes from abd_span_begin() or this call, or is a copy; its buffer has not ended.
 * Returns:  nothing; *span is the next one. Behind the last span len is 0, in every later call too.
 * Threads:  the buffer is read, *span written.
 * Source:   none in OpenZFS.
 */
ABD_API void abd_span_next(abd_span_t *span);

/**
 * abd_span_begin() for callers that only read.
 *
 * Contract: as abd_span_begin().
 * Units:    off and size in bytes.
 * Returns:  nothing; *span is the first span, with len 0 if size is 0.
 * Owner:    nothing changes hands; buf is valid until the buffer ends.
 * Threads:  abd is read.
 * Source:   none in OpenZFS.
 */
ABD_API void abd_span_begin_const(
	abd_span_const_t *span, const abd_t *abd, size_t off, size_t size);

/**
 * abd_span_next() for callers that only read.
 *
 * Contract: as abd_span_next(); *span comes from abd_span_begin_const().
 * Returns:  nothing; *span is the next one, with len 0 if there is none.
 * Threads:  the buffer is read, *span written.
 * Source:   none in OpenZFS.
 */
ABD_API void abd_span_next_const(abd_span_const_t *span);

/* ---- copying, comparing, filling ------------------------------------------------------------- */

/**
 * Copy size bytes of sabd from soff into dabd at doff.
 *
 * Contract: dabd is not made of zeros (abd_get_zeros()).
 * Units:    offsets and size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  sabd is read, dabd written.
 * Source:   abd_copy_off() in module/zfs/abd.c.
 */
ABD_API void abd_copy_off(abd_t *dabd, const abd_t *sabd, size_t doff, size_t soff, size_t size);

/**
 * abd_copy_off() for bytes that nobody will read soon. They go past the caches, by the kernel that
 * abd_copy_off() takes for the largest sizes. For small copies, and for copies of some MiB that are
 * read soon, abd_copy_off() is faster.
 *
 * Contract: as abd_copy_off().
 * Units:    offsets and size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  sabd is read, dabd written.
 * Source:   none in OpenZFS.
 */
ABD_API void abd_copy_stream_off(
	abd_t *dabd, const abd_t *sabd, size_t doff, size_t soff, size_t size);

/**
 * Copy size bytes of buf into abd at off.
 *
 * Contract: abd is not made of zeros.
 * Units:    off and size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  abd is written.
 * Source:   abd_copy_from_buf_off() in module/zfs/abd.c.
 */
ABD_API void abd_copy_from_buf_off(abd_t *abd, const void *buf, size_t off, size_t size);

/**
 * Copy size bytes of abd from off into buf.
 *
 * Units:   off and size in bytes.
 * Returns: nothing; can't fail.
 * Threads: abd is read.
 * Source:  abd_copy_to_buf_off() in module/zfs/abd.c.
 */
ABD_API void abd_copy_to_buf_off(void *buf, const abd_t *abd, size_t off, size_t size);

/**
 * Fill size bytes of abd from off with zeroes.
 *
 * Contract: abd is not made of zeros.
 * Units:    off and size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  abd is written.
 * Source:   abd_zero_off() in module/zfs/abd.c.
 */
ABD_API void abd_zero_off(abd_t *abd, size_t off, size_t size);

/**
 * Compare two buffers of the same size.
 *
 * Contract: equal sizes.
 * Returns:  less than, equal to or greater than 0: bytes compare as unsigned, as in memcmp().
 * Threads:  both are read.
 * Source:   abd_cmp() in module/zfs/abd.c.
 */
ABD_API int abd_cmp(const abd_t *dabd, const abd_t *sabd);

/**
 * Compare size bytes of abd from off with buf.
 *
 * Units:   off and size in bytes.
 * Returns: less than, equal to or greater than 0, as memcmp().
 * Threads: abd is read.
 * Source:  abd_cmp_buf_off() in module/zfs/abd.c.
 */
ABD_API int abd_cmp_buf_off(const abd_t *abd, const void *buf, size_t off, size_t size);

/**
 * Whether size bytes of abd from off are all zero.
 *
 * Units:   off and size in bytes; any length and alignment.
 * Returns: 0 if they are all zero, else not 0.
 * Threads: abd is read.
 * Source:  abd_cmp_zero_off() in module/zfs/abd.c.
 */
ABD_API int abd_cmp_zero_off(const abd_t *abd, size_t off, size_t size);

/**
 * Check every invariant of the buffer and of its children, in every build. An invariant that does
 * not hold is a broken contract.
 *
 * Returns: nothing, if all hold.
 * Threads: abd is read.
 * Source:  abd_verify() in module/zfs/abd.c.
 */
ABD_API void abd_verify(const abd_t *abd);

/**
 * Call func for the common pieces of up to 3 parity buffers and one data buffer, all from off, in
 * order: func(parity addresses, data address or NULL, len, bytes of data in this piece).
 *
 * The pieces add up to csize bytes. Data past csize is not read (a short column is rebuilt from
 * longer ones). If the data ends before csize, the rest counts as zeros: func then gets NULL and 0
 * bytes of data.
 *
 * Contract: parity is 1 to 3; csize bytes from off lie within each parity buffer, dsize bytes
 *           within dabd, which may be NULL if dsize is 0; dsize is a multiple of 512 or at least
 *           csize; no piece of any buffer ends within a sector of 512 bytes. So every piece but the
 *           last is a multiple of 512 bytes. dabd is none of the parity buffers. Any of them may be
 *           a gang or a view; only dabd may be made of zeros.
 * Units:    off, csize, dsize in bytes; parity in buffers.
 * Returns:  nothing; can't fail.
 * Threads:  the parity buffers are written, dabd is read.
 * Source:   abd_raidz_gen_iterate() in module/zfs/abd.c.
 */
ABD_API void abd_raidz_gen_iterate(abd_t **cabds, abd_t *dabd, size_t off, size_t csize,
	size_t dsize, const unsigned parity,
	void (*func_raidz_gen)(void **, const void *, size_t, size_t));

/**
 * Call func for the common pieces of up to 3 parity buffers and as many targets, tsize bytes from
 * the start of each, in order: func(target addresses, len, parity addresses, mul). Bytes past
 * tsize are not read or written.
 *
 * Contract: parity is 1 to 3; no piece of any buffer ends within a sector of 512 bytes, so every
 *           piece but the last is a multiple of 512 bytes. No two buffers overlap. func writes
 *           to targets only.
 * Units:    tsize in bytes; parity in buffers.
 * Returns:  nothing; can't fail.
 * Owner:    nothing changes hands; mul is passed through.
 * Threads:  parity buffers are read, targets written.
 * Source:   abd_raidz_rec_iterate() in module/zfs/abd.c.
 */
ABD_API void abd_raidz_rec_iterate(abd_t **cabds, abd_t **tabds, size_t tsize,
	const unsigned parity,
	void (*func_raidz_rec)(void **t, const size_t tsize, void **c, const unsigned *mul),
	const unsigned *mul);

/* ---- the same from offset 0 ------------------------------------------------------------------ */

/**
 * abd_copy_off() from offset 0.
 *
 * Contract: as there.
 * Units:    size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  sabd is read, dabd written.
 * Source:   abd_copy() in include/sys/abd.h.
 */
ABD_API void abd_copy(abd_t *dabd, const abd_t *sabd, size_t size);

/**
 * abd_copy_from_buf_off() from offset 0.
 *
 * Contract: as there.
 * Units:    size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  abd is written.
 * Source:   abd_copy_from_buf() in include/sys/abd.h.
 */
ABD_API void abd_copy_from_buf(abd_t *abd, const void *buf, size_t size);

/**
 * abd_copy_to_buf_off() from offset 0.
 *
 * Contract: as there.
 * Units:    size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  abd is read.
 * Source:   abd_copy_to_buf() in include/sys/abd.h.
 */
ABD_API void abd_copy_to_buf(void *buf, const abd_t *abd, size_t size);

/**
 * abd_cmp_buf_off() from offset 0.
 *
 * Contract: as there.
 * Units:    size in bytes.
 * Returns:  as there.
 * Threads:  abd is read.
 * Source:   abd_cmp_buf() in include/sys/abd.h.
 */
ABD_API int abd_cmp_buf(const abd_t *abd, const void *buf, size_t size);

/**
 * abd_cmp_zero_off() from offset 0.
 *
 * Contract: as there.
 * Units:    size in bytes.
 * Returns:  as there.
 * Threads:  abd is read.
 * Source:   abd_cmp_zero() in include/sys/abd.h.
 */
ABD_API int abd_cmp_zero(const abd_t *abd, size_t size);

/**
 * abd_zero_off() from offset 0.
 *
 * Contract: as there.
 * Units:    size in bytes.
 * Returns:  nothing; can't fail.
 * Threads:  abd is written.
 * Source:   abd_zero() in include/sys/abd.h.
 */
ABD_API void abd_zero(abd_t *abd, size_t size);

ABD_END_DECLS

#endif
