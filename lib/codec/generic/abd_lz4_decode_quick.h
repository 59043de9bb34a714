/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The quick half of the decoder, a template: each instruction set's file defines
 * fill_short() and fill(), for matches at offsets below 8 and 16, includes this, and names the
 * result with ABD_LZ4_DECODER().
 * Invariant: a sequence is decoded here only when all its reads lie in the window and all its
 * writes in the output, the overrun of wide copies included; otherwise ip and op stay at its start,
 * and the careful loop decodes it by the rules.
 */
#include "abd_lz4_decode_copy.h"
#include "abd_lz4_decode_state.h"

/* Little-endian, any alignment. */
static inline size_t load_offset(const uint8_t *p)
{
	return (size_t)p[0] | (size_t)p[1] << 8;
}

/*
 * The next token: everything waits for it. clang 14 moves the load below the checks and merges the
 * byte into a register that waits for the offset. Pinning the load there gains 4 % (ELF, source
 * text). gcc 12 leaves the load in place; pinning it would cost 1 %.
 */
#if defined(__clang__)
static inline size_t load_token(const uint8_t *p)
{
	size_t token = *p;

	__asm__ volatile("" : "+r"(token));
	return token;
}
#else
static inline size_t load_token(const uint8_t *p)
{
	return *p;
}
#endif

static inline void fetch(const uint8_t *p, uintptr_t ahead)
{
	__builtin_prefetch((const void *)((uintptr_t)p + ahead));
}

/*
 * Long literals prefetch one line for each line copied. It goes to the second-level cache, since
 * the first level allows too few requests in flight. Records of ratio 1.3 and 2.8 from 300 MiB at
 * random: 1.02 times as fast as liblz4 with the first level, 1.10 times with the second.
 */
static inline void fetch_literals(const uint8_t *p, uintptr_t ahead)
{
	__builtin_prefetch((const void *)((uintptr_t)p + ahead), 0, 2);
}

/* Copy at least size bytes in steps of 32. dst and src are at least 32 bytes apart. */
static inline void copy_long(uint8_t *dst, const uint8_t *src, size_t size)
{
	uint8_t *end = dst + size;

	do {
		copy_32(dst, src);
		dst += 32;
		src += 32;
	} while (dst < end);
}

/*
 * The same for literals, which come from the input window: each step also prefetches from the next
 * run.
 */
static inline void copy_long_literals(
	uint8_t *dst, const uint8_t *src, size_t size, uintptr_t ahead)
{
	uint8_t *end = dst + size;

	do {
		fetch_literals(src, ahead);
		copy_wide(dst, src);
		dst += WIDE;
		src += WIDE;
	} while (dst < end);
}

/* Copy exactly size bytes: the last step overlaps the one before it. */
static void copy_exactly(uint8_t *dst, const uint8_t *src, size_t size, uintptr_t ahead)
{
	if (size < WIDE) {
		memcpy(dst, src, size);
		return;
	}
	if (size > WIDE)
		copy_long_literals(dst, src, size - WIDE, ahead);
	copy_wide(dst + size - WIDE, src + size - WIDE);
}

/*
 * Keep an address in a register: gcc 12 subtracts the offset anew for every word of a match.
 * Without this, real files decode 0.98 times as fast, rows of any ratio 0.98 to 0.99.
 */
static inline const uint8_t *pin(const uint8_t *p)
{
	__asm__("" : "+r"(p));
	return p;
}

/*
 * Copy a match of 4 to 18 bytes. It writes 18 bytes; with the fill_short() of
 * abd_lz4_decode_words.h, 24. Returns false for offset 0, which is damage: this is asked here,
 * where offsets are rare.
 */
static inline bool copy_short(uint8_t *dst, const uint8_t *src, size_t offset)
{
	if (ABD_UNLIKELY(offset < 8)) {
		if (offset == 0)
			return false;
		fill_short(dst, offset);
		return true;
	}
	src = pin(src);
	copy_8(dst, src);
	copy_8(dst + 8, src + 8);
	memcpy(dst + 16, src + 16, 2);
	return true;
}

/* Copy a match of any length. offset > 0; dst has size + 64 bytes of room. */
static inline void copy_match(uint8_t *dst, size_t offset, size_t size)
{
	const uint8_t *src;

	if (ABD_UNLIKELY(offset < 16)) {
		fill(dst, offset, size);
		return;
	}
	src = pin(dst - offset);
	for (int i = 0; i < 48; i += 8)
		copy_8(dst + i, src + i);
	if (size > 48) {
		if (offset < 32)
			offset *= 2;
		copy_long(dst + 48, dst + 48 - offset, size - 48);
	}
}

static void copy_match_call(uint8_t *dst, size_t offset, size_t size)
{
	copy_match(dst, offset, size);
}

/*
 * Add the extension bytes to length. Returns false if they do not end before end, or if length
 * exceeds room: the careful loop must take the sequence.
 */
static inline bool extend(const uint8_t **in, const uint8_t *end, size_t *length, size_t room)
{
	size_t byte;

	do {
		if (ABD_UNLIKELY(*in >= end || *length > room))
			return false;
		byte = *(*in)++;
		*length += byte;
	} while (ABD_UNLIKELY(byte == 255));
	return true;
}

/*
 * Whether a match lies in the output or, as a whole, in the hub; true for offset 0. Comparing
 * addresses takes one instruction where a distance takes three: abd_lz4_decode_begin() has seen to
 * it that the subtraction can't wrap.
 */
static inline bool reaches(const struct abd_lz4_state *s, const uint8_t *base, const uint8_t *out,
	const uint8_t *src, size_t size, const bool hub)
{
	bool within = (uintptr_t)src >= (uintptr_t)base;

	/* The CPU can't predict which of the two it is, so both are asked by one jump. */
	if (hub)
		within |= abd_lz4_decode_in_hub(s, out, (size_t)(out - src), size);
	return within;
}

/*
 * The loop's instructions are its limit on short sequences, so there are few: ip is one behind the
 * token that comes next, and after each token up to limit the window holds the first extension byte
 * of either length, which needs no check.
 */
static inline __attribute__((always_inline)) void quick(struct abd_lz4_state *s, const bool hub)
{
	const uint8_t *ip = s->ip + 1, *const limit = s->token_limit + 1;
	const uint8_t *const window_end = s->window_end;
	uint8_t *op = s->op, *const base = s->out_base, *const out_end = s->out_end;
	uint8_t *const out_limit = s->out_limit;
	const uintptr_t ahead = s->ahead;
	size_t token = ip[-1];

	while (ABD_LIKELY(ip <= limit && op < out_limit)) {
		size_t literals = token >> 4, length = token & 15, offset, byte;
		const uint8_t *in = ip, *src;
		uint8_t *out = op;

		fetch(ip, ahead);
		if (ABD_LIKELY(literals != 15)) {
			copy_16(out, in);
		} else {
			byte = *in++;
			literals += byte;
			if (ABD_UNLIKELY(byte == 255) &&
				!extend(&in, window_end, &literals, (size_t)(out_end - out)))
				break;
			if ((ptrdiff_t)literals > window_end - in - WIDE ||
				(ptrdiff_t)literals > out_end - out - ABD_LZ4_LONG_MARGIN)
				break;
			copy_long_literals(out, in, literals, s->ahead_literals);
		}
		in += literals;
		out += literals;
		token = load_token(in + 2);
		offset = load_offset(in);
		in += 3;
		src = (const uint8_t *)((uintptr_t)out - offset);
		if (ABD_UNLIKELY(!reaches(s, base, out, src, length + 4, hub)))
			break;
		if (ABD_LIKELY(length != 15)) {
			if (!copy_short(out, src, offset))
				break;
		} else {
			byte = in[-1];
			length += byte;
			if (ABD_UNLIKELY(byte == 255) &&
				!extend(&in, window_end, &length, (size_t)(out_end - out)))
				break;
			if (offset == 0 || window_end - in < 4 ||
				(ptrdiff_t)length > out_end - out - ABD_LZ4_COPY_MARGIN)
				break;
			if (hub && !reaches(s, base, out, src, length + 4, true))
				break;
			token = load_token(in++);
			copy_match(out, offset, length + 4);
		}
		op = out + length + 4;
		ip = in;
	}
	s->ip = ip - 1;
	s->op = op;
}

/*
 * Functions of their own, so that nothing else takes the loop's registers: made words decode 1.01
 * times as fast on Zen 4. Aligned, so that the loop lies in the lines of the CPU's caches as it was
 * measured: with its top 16 bytes into a line, it is 0.94 to 0.97 times as fast as at 0, 32 or 48.
 */
static __attribute__((noinline, aligned(64))) void quick_block(struct abd_lz4_state *s)
{
	quick(s, false);
}

static __attribute__((noinline, aligned(64))) void quick_group(struct abd_lz4_state *s)
{
	quick(s, true);
}

/* Move ip from the stitch back to its place in the run. */
static inline void leave(struct abd_lz4_state *s)
{
	const uint8_t *seam = s->stitch + ABD_LZ4_LONG_STITCH;

	s->stitched = false;
	if (s->ip < seam) {
		s->ip = s->run_end - (seam - s->ip);
	} else {
		size_t past = (size_t)(s->ip - seam);

		abd_lz4_decode_hop(s);
		s->ip += past;
	}
}

/* Decode to the block's end, or in partial decoding to out_stop. Returns 0 or -EBADMSG. */
static inline __attribute__((always_inline)) int decode_all(struct abd_lz4_state *s, const bool hub)
{
	bool wide = false; /* the next stitch is the long one */
	int more = 1;

	while (more > 0) {
		if (wide ? abd_lz4_decode_enter_long(s) : abd_lz4_decode_enter(s)) {
			bool edge;

			if (hub)
				quick_group(s);
			else
				quick_block(s);
			edge = s->ip > s->token_limit;
			wide = !edge && !s->stitched;
			if (s->stitched)
				leave(s);
			if ((edge || wide) && s->op < s->out_stop)
				continue;
		}
		wide = false;
		if (s->partial && s->op >= s->out_stop)
			break;
		more = abd_lz4_decode_careful(s);
	}
	return more < 0 ? more : 0;
}

static __attribute__((noinline)) int decode_block(struct abd_lz4_state *s)
{
	return decode_all(s, false);
}

static __attribute__((noinline)) int decode_group(struct abd_lz4_state *s)
{
	return decode_all(s, true);
}

static ssize_t decode(void *dst, size_t dst_size, size_t stop, const struct iovec *runs,
	size_t skip, size_t src_size, const void *hub, size_t hub_size)
{
	struct abd_lz4_state s;
	ssize_t result;
	int error;

	s.copy_match = copy_match_call;
	s.copy_literals = copy_exactly;
	if (abd_lz4_decode_begin(&s, dst, dst_size, stop, runs, skip, src_size, &result))
		return result;
	s.hub = hub;
	s.hub_size = hub_size;
	error = hub_size > 0 ? decode_group(&s) : decode_block(&s);
	return error != 0 ? error : s.op - (uint8_t *)dst;
}

static ssize_t decode_scatter(const struct iovec *dst_runs, size_t dst_skip, size_t dst_size,
	const struct iovec *runs, size_t skip, size_t src_size, void *window, size_t window_size)
{
	struct abd_lz4_state s;
	struct abd_lz4_sink sink;
	ssize_t result;
	int error;

	s.copy_match = copy_match_call;
	s.copy_literals = copy_exactly;
	if (abd_lz4_decode_begin_scatter(&s, &sink, dst_runs, dst_skip, dst_size, runs, skip,
		    src_size, window, window_size, &result))
		return result;
	error = decode_block(&s);
	return error != 0 ? error : abd_lz4_decode_drain(&s);
}

#define ABD_LZ4_DECODER(suffix, is_supported)                    \
	const struct abd_lz4_decoder abd_lz4_decode_##suffix = { \
		.name = #suffix,                                 \
		.supported = (is_supported),                     \
		.decode = decode,                                \
		.decode_scatter = decode_scatter,                \
	}
