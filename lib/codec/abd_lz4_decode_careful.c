/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The careful half of the decoder: it decodes one sequence at a time, checks that input is left
 * before each byte, and checks every rule. It also moves from run to run.
 * Invariant: nothing is read beyond the record, and nothing is written beyond the output.
 * Rules: lz4_Block_format.md, "End of block conditions", as liblz4 1.9.4 enforces them, its
 * omissions included.
 */
#include "abd_lz4_decode_state.h"

#include <assert.h>
#include <errno.h>

enum {
	/*
	 * liblz4 keeps these bytes of input free when it reads the extensions of a literal's and of
	 * a match's length.
	 */
	LITERAL_KEEP = 15,
	MATCH_KEEP = 4,
	/* A sequence that is not the last leaves at least these. */
	LAST_INPUT = 8,
	LAST_OUTPUT = 12,
	LAST_LITERALS = 5,
	/*
	 * liblz4's shortcut, which skips the rules, needs more input than this, and at least this
	 * much output.
	 */
	SHORTCUT_INPUT = 16,
	SHORTCUT_OUTPUT = 32,
};

static inline size_t input_left(const struct abd_lz4_state *s)
{
	return (size_t)(s->run_end - s->ip) + s->after;
}

static inline size_t output_left(const struct abd_lz4_state *s)
{
	return (size_t)(s->out_end - s->op) + s->out_after;
}

/*
 * How far ahead to prefetch: to the same place in a later run; if that run is shorter, to the byte
 * that is as far from its end. 0 for long runs: the CPU prefetches those by itself, and a line
 * fetched so early would be evicted, or evict others, before it is used.
 */
static uintptr_t distance_to(const struct abd_lz4_state *s, const struct iovec *later)
{
	const struct iovec *run = s->run;
	uintptr_t here = (uintptr_t)run->iov_base, there = (uintptr_t)later->iov_base;

	if (run->iov_len > ABD_LZ4_AHEAD_MAX)
		return 0;
	if (later->iov_len < run->iov_len)
		return there + later->iov_len - here - run->iov_len;
	return there - here;
}

static uintptr_t distance_ahead(const struct abd_lz4_state *s)
{
	return s->after == 0 ? 0 : distance_to(s, s->run + 1);
}

/*
 * Long literals fetch from the run after the next into the second level, and the token before them
 * from the next one into the first. Zen 4, rows of ratio 1.3 from memory: 1.03 times as fast as
 * both from the next.
 */
static uintptr_t distance_ahead_literals(const struct abd_lz4_state *s)
{
	bool two = s->after > 0 && s->after > s->run[1].iov_len;

	return two ? distance_to(s, s->run + 2) : distance_ahead(s);
}

void abd_lz4_decode_hop(struct abd_lz4_state *s)
{
	assert(s->after > 0);
	s->run++;

	size_t size = abd_min(s->run->iov_len, s->after);

	s->ip = s->run->iov_base;
	s->run_begin = s->ip;
	s->run_end = s->ip + size;
	s->after -= size;
	if (distance_ahead(s) != 0) {
		for (size_t at = 0; at < ABD_LZ4_NEXT; at += 64)
			__builtin_prefetch((const uint8_t *)s->run[1].iov_base + at);
	}
}

/* input_left() > 0 */
static inline uint8_t next_byte(struct abd_lz4_state *s)
{
	if (s->ip == s->run_end)
		abd_lz4_decode_hop(s);
	return *s->ip++;
}

/*
 * Add the extension bytes to length. Returns false if they leave fewer than keep bytes of input.
 * length has 64 bits: 16 MiB of extension bytes would wrap 32.
 */
static bool extend(struct abd_lz4_state *s, uint64_t *length, size_t keep)
{
	uint8_t byte;

	do {
		if (input_left(s) <= keep)
			return false;
		byte = next_byte(s);
		*length += byte;
	} while (byte == 255);
	return true;
}

/* size <= input_left(), output_left() */
static void copy_literals(struct abd_lz4_state *s, size_t size)
{
	while (size > 0) {
		size_t piece;

		if (s->ip == s->run_end)
			abd_lz4_decode_hop(s);
		if (s->op == s->out_end)
			abd_lz4_decode_slide(s);
		piece = abd_min(size, (size_t)(s->run_end - s->ip));
		piece = abd_min(piece, (size_t)(s->out_end - s->op));
		s->copy_literals(s->op, s->ip, piece, distance_ahead_literals(s));
		s->ip += piece;
		s->op += piece;
		size -= piece;
	}
}

/*
 * The bytes before dst repeat with period offset, so each round can copy twice as much as the one
 * before.
 */
static void repeat(uint8_t *dst, size_t offset, size_t size)
{
	const uint8_t *src = dst - offset;

	while (size > offset) {
		memcpy(dst, src, offset);
		dst += offset;
		size -= offset;
		offset *= 2;
	}
	memcpy(dst, src, size);
}

/* 0 < offset <= op - out_base; size <= output_left() */
static void copy_match(struct abd_lz4_state *s, size_t offset, size_t size)
{
	size_t room = (size_t)(s->out_end - s->op);

	if (room >= ABD_LZ4_COPY_MARGIN && size <= room - ABD_LZ4_COPY_MARGIN) {
		s->copy_match(s->op, offset, size);
		s->op += size;
		return;
	}
	while (size > 0) {
		size_t piece;

		if (s->op == s->out_end)
			abd_lz4_decode_slide(s);
		piece = abd_min(size, (size_t)(s->out_end - s->op));
		repeat(s->op, offset, piece);
		s->op += piece;
		size -= piece;
	}
}

/* The literals of a whole decode. Returns as abd_lz4_decode_careful(). */
static int whole_literals(struct abd_lz4_state *s, uint64_t size, bool shortcut)
{
	size_t input = input_left(s), output = output_left(s);

	if (!shortcut && (size + LAST_OUTPUT > output || size + LAST_INPUT > input)) {
		if (size != input || size > output)
			return -EBADMSG;
		copy_literals(s, (size_t)size);
		return 0;
	}
	copy_literals(s, (size_t)size);
	return 1;
}

/*
 * The literals of a partial decode: the output may be smaller than the record, so its end does not
 * tell which sequence is the last.
 */
static int partial_literals(struct abd_lz4_state *s, uint64_t size, bool shortcut)
{
	size_t input = input_left(s), output = output_left(s);
	bool last = !shortcut && size + LAST_INPUT > input;

	if (last && size != input)
		return -EBADMSG;
	copy_literals(s, (size_t)(size < output ? size : output));
	return last || size >= output ? 0 : 1;
}

static int partial_match(struct abd_lz4_state *s, size_t offset, uint64_t size)
{
	size_t output = output_left(s);

	copy_match(s, offset, (size_t)(size < output ? size : output));
	return size >= output ? 0 : 1;
}

int abd_lz4_decode_careful(struct abd_lz4_state *s)
{
	unsigned token = next_byte(s);
	uint64_t literals = token >> 4, length = token & 15;
	size_t offset;
	bool shortcut = literals != 15 && input_left(s) > SHORTCUT_INPUT &&
			(s->partial || output_left(s) >= SHORTCUT_OUTPUT);
	int more;

	if (literals == 15 && !extend(s, &literals, LITERAL_KEEP))
		return -EBADMSG;
	more = s->partial ? partial_literals(s, literals, shortcut)
			  : whole_literals(s, literals, shortcut);
	if (more <= 0)
		return more;

	offset = next_byte(s);
	offset |= (size_t)next_byte(s) << 8;
	if (length == 15) {
		shortcut = false;
		if (!extend(s, &length, MATCH_KEEP))
			return -EBADMSG;
	}
	length += 4;
	if (offset == 0 || (offset > (size_t)(s->op - s->out_base) &&
				   !abd_lz4_decode_in_hub(s, s->op, offset, length)))
		return -EBADMSG;
	if (s->partial)
		return partial_match(s, offset, length);
	if (length + LAST_LITERALS > output_left(s) && !(shortcut && offset >= 8))
		return -EBADMSG;
	copy_match(s, offset, (size_t)length);
	return 1;
}

/* left: bytes from ip to the run's end, at most tail. */
static inline bool enter_stitch(struct abd_lz4_state *s, size_t left, size_t tail, size_t head)
{
	const struct iovec *next = s->run + 1;
	uint8_t *seam = s->stitch + ABD_LZ4_LONG_STITCH;

	if (s->after < head || next->iov_len < head || (size_t)(s->run_end - s->run_begin) < tail)
		return false;
	memcpy(seam - tail, s->run_end - tail, tail);
	memcpy(seam, next->iov_base, head);
	s->ip = seam - left;
	s->token_limit = seam - 1;
	s->window_end = seam + head;
	s->stitched = true;
	s->ahead = 0;
	s->ahead_literals = 0;
	return true;
}

bool abd_lz4_decode_enter_long(struct abd_lz4_state *s)
{
	size_t left = (size_t)(s->run_end - s->ip);

	return left <= ABD_LZ4_LONG_STITCH &&
	       enter_stitch(s, left, ABD_LZ4_LONG_STITCH, ABD_LZ4_LONG_STITCH);
}

bool abd_lz4_decode_enter(struct abd_lz4_state *s)
{
	size_t left = (size_t)(s->run_end - s->ip);

	if (s->op >= s->out_limit)
		return false;
	/* A run that is used up is not the last one: a sequence always has some input left. */
	if (left == 0) {
		abd_lz4_decode_hop(s);
		left = (size_t)(s->run_end - s->ip);
	}
	if (left < ABD_LZ4_SEQUENCE_MAX)
		return enter_stitch(s, left, ABD_LZ4_TAIL, ABD_LZ4_HEAD);
	s->token_limit = s->run_end - ABD_LZ4_SEQUENCE_MAX;
	s->window_end = s->run_end;
	s->ahead = distance_ahead(s);
	s->ahead_literals = distance_ahead_literals(s);
	return true;
}

static void begin_input(
	struct abd_lz4_state *s, const struct iovec *runs, size_t skip, size_t src_size)
{
	size_t first = abd_min(runs->iov_len - skip, src_size);

	s->run = runs;
	s->ip = (const uint8_t *)runs->iov_base + skip;
	s->run_begin = s->ip;
	s->run_end = s->ip + first;
	s->after = src_size - first;
	s->ahead = 0;
	s->stitched = false;
	first = abd_min(first, (size_t)ABD_LZ4_FIRST);
	for (size_t at = 0; at < first; at += 64)
		__builtin_prefetch(s->ip + at);
}

static void begin_output(struct abd_lz4_state *s, uint8_t *base, size_t size, size_t stop)
{
	size_t quick = size > ABD_LZ4_OUT_MARGIN ? size - ABD_LZ4_OUT_MARGIN : 0;

	/* The quick loop subtracts offsets from addresses, which must not wrap. */
	quick *= (uintptr_t)base > UINT16_MAX;
	s->op = base;
	s->out_base = base;
	s->out_end = base + size;
	s->out_stop = base + abd_min(stop, size);
	s->out_limit = base + abd_min(stop, quick);
}

/*
 * No room for output: a whole decode accepts, as liblz4 does, only the single byte 0, which is the
 * empty block.
 */
static ssize_t decode_nothing(const struct abd_lz4_state *s, bool partial)
{
	if (partial)
		return 0;
	if (input_left(s) != 1)
		return -EBADMSG;
	return *s->ip == 0 ? 0 : -EBADMSG;
}

bool abd_lz4_decode_begin(struct abd_lz4_state *s, void *dst, size_t dst_size, size_t stop,
	const struct iovec *runs, size_t skip, size_t src_size, ssize_t *result)
{
	s->partial = stop < dst_size || stop == ABD_LZ4_STOP_PREFIX;
	s->sink = NULL;
	s->hub_size = 0;
	s->out_after = 0;
	*result = -EBADMSG;
	if (src_size == 0)
		return true;
	begin_input(s, runs, skip, src_size);
	if (dst_size == 0 || stop == 0) {
		*result = decode_nothing(s, s->partial);
		return true;
	}
	begin_output(s, dst, dst_size, stop);
	return false;
}

static void sink_take(struct abd_lz4_sink *sink, const uint8_t *src, size_t size)
{
	sink->produced += size;
	while (size > 0) {
		size_t room = sink->run->iov_len - sink->run_off;
		size_t piece = abd_min(size, room);

		memcpy((uint8_t *)sink->run->iov_base + sink->run_off, src, piece);
		src += piece;
		size -= piece;
		sink->run_off += piece;
		if (piece == room) {
			sink->run++;
			sink->run_off = 0;
		}
	}
}

ssize_t abd_lz4_decode_drain(struct abd_lz4_state *s)
{
	struct abd_lz4_sink *sink = s->sink;

	sink_take(sink, sink->drained, (size_t)(s->op - sink->drained));
	sink->drained = s->op;
	return (ssize_t)sink->produced;
}

void abd_lz4_decode_slide(struct abd_lz4_state *s)
{
	struct abd_lz4_sink *sink = s->sink;
	size_t room = sink->window_size - ABD_LZ4_HISTORY, size = abd_min(room, s->out_after);
	uint8_t *base = s->out_base;

	abd_lz4_decode_drain(s);
	memcpy(base, s->op - ABD_LZ4_HISTORY, ABD_LZ4_HISTORY);
	begin_output(s, base, ABD_LZ4_HISTORY + size, ABD_LZ4_STOP_WHOLE);
	s->op = base + ABD_LZ4_HISTORY;
	s->out_after -= size;
	sink->drained = s->op;
}

bool abd_lz4_decode_begin_scatter(struct abd_lz4_state *s, struct abd_lz4_sink *sink,
	const struct iovec *dst_runs, size_t dst_skip, size_t dst_size, const struct iovec *runs,
	size_t skip, size_t src_size, void *window, size_t window_size, ssize_t *result)
{
	size_t size = abd_min(dst_size, window_size);

	if (abd_lz4_decode_begin(s, window, size, ABD_LZ4_STOP_WHOLE, runs, skip, src_size, result))
		return true;
	*sink = (struct abd_lz4_sink){dst_runs, dst_skip, window, 0, window_size};
	s->sink = sink;
	s->out_after = dst_size - size;
	return false;
}
