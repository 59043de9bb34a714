/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bare loops for one instruction set, which defines, before it includes this:
 *
 *   NAME(loop)                     the loops' names
 *   TARGET                         the functions' attribute
 *   VEC, VEC_SIZE, ZERO, LOAD(p), STORE(p, v), STREAM(p, v), DIFFER(a, b), OR(x, y), IS_ZERO(v)
 *
 * The loops are those that won somewhere (docs/notes/plans.md): one run, two or four together, with
 * or without the heads of the next fetched, or all of it. The number of lanes is hidden from the
 * compiler, which would unroll their loop: the same instruction visits all lanes (abd_lanes.h).
 */

/* heads: how many of the runs' parts are fetched: 0 none, 4 the first quarter, 1 all. */
#define FETCH(p, off, heads, rw)                                                            \
	do {                                                                                \
		for (size_t l_ = 0; (heads) > 0 && l_ < 256; l_ += 64 * (heads))            \
			__builtin_prefetch((p) + (off) / ((heads) + !(heads)) + l_, rw, 3); \
	} while (0)

/* What remains of the runs, fewer than there are lanes, is done by the C library. */
#define LANES_LOOP(lanes, REST, ...)                                               \
	do {                                                                       \
		size_t lanes_ = (lanes), at = 0;                                   \
                                                                                   \
		__asm__("" : "+r"(lanes_));                                        \
		for (; count - at >= lanes_; at += lanes_) {                       \
			size_t next = count - at >= 2 * lanes_ ? at + lanes_ : at; \
                                                                                   \
			for (size_t off = 0; off < RUN; off += 256)                \
				__VA_ARGS__;                                       \
			(void)next;                                                \
		}                                                                  \
		for (; at < count; at++)                                           \
			REST;                                                      \
	} while (0)

#define COMPARE_BLOCKS(heads)                                                          \
	{                                                                              \
		VEC seen = ZERO;                                                       \
                                                                                       \
		for (size_t i = 0; i < lanes_; i = abd_perf_limit_next(i)) {           \
			for (size_t v = off; v < off + 256; v += VEC_SIZE)             \
				seen = OR(seen, DIFFER(a[at + i] + v, b[at + i] + v)); \
			FETCH(a[next + i], off, heads, 0);                             \
			FETCH(b[next + i], off, heads, 0);                             \
		}                                                                      \
		if (!IS_ZERO(seen))                                                    \
			return false;                                                  \
	}

#define COMPARE_LOOP(name, lanes, heads)                                            \
	TARGET static bool NAME(name)(size_t count, char *const *a, char *const *b) \
	{                                                                           \
		LANES_LOOP(lanes, if (memcmp(a[at], b[at], RUN) != 0) return false, \
			COMPARE_BLOCKS(heads));                                     \
		return true;                                                        \
	}

#define COPY_LOOP(name, lanes, heads, PUT, END)                                      \
	TARGET static bool NAME(name)(size_t count, char *const *a, char *const *b)  \
	{                                                                            \
		LANES_LOOP(                                                          \
			lanes, memcpy(b[at], a[at], RUN),                            \
			for (size_t i = 0; i < lanes_; i = abd_perf_limit_next(i)) { \
				FETCH(a[next + i], off, heads, 0);                   \
				for (size_t v = off; v < off + 256; v += VEC_SIZE)   \
					PUT(b[at + i] + v, LOAD(a[at + i] + v));     \
			});                                                          \
		END;                                                                 \
		return true;                                                         \
	}

#define ZERO_LOOP(name, lanes, heads, PUT, END)                                      \
	TARGET static bool NAME(name)(size_t count, char *const *a, char *const *b)  \
	{                                                                            \
		VEC zero = ZERO;                                                     \
                                                                                     \
		__asm__("" : "+x"(zero));                                            \
		(void)a;                                                             \
		LANES_LOOP(                                                          \
			lanes, memset(b[at], 0, RUN),                                \
			for (size_t i = 0; i < lanes_; i = abd_perf_limit_next(i)) { \
				FETCH(b[next + i], off, heads, 1);                   \
				for (size_t v = off; v < off + 256; v += VEC_SIZE)   \
					PUT(b[at + i] + v, zero);                    \
			});                                                          \
		END;                                                                 \
		return true;                                                         \
	}

/* Four quarters of one run together. */
TARGET static bool NAME(quarters)(size_t count, char *const *a, char *const *b)
{
	for (size_t at = 0; at < count; at++)
		for (size_t off = 0; off < RUN / 4; off += 256) {
			VEC seen = ZERO;

			for (size_t part = off; part < RUN; part += RUN / 4)
				for (size_t v = part; v < part + 256; v += VEC_SIZE)
					seen = OR(seen, DIFFER(a[at] + v, b[at] + v));
			if (!IS_ZERO(seen))
				return false;
		}
	return true;
}

COMPARE_LOOP(one, 1, 0)
COMPARE_LOOP(one_heads, 1, 4)
COMPARE_LOOP(pair_heads, 2, 4)
COMPARE_LOOP(four, 4, 0)
COMPARE_LOOP(four_heads, 4, 4)
COPY_LOOP(vectors, 1, 0, STORE, (void)0)
COPY_LOOP(vectors_whole, 1, 1, STORE, (void)0)
COPY_LOOP(vectors_four, 4, 0, STORE, (void)0)
COPY_LOOP(stream, 1, 4, STREAM, _mm_sfence())
COPY_LOOP(stream_whole, 1, 1, STREAM, _mm_sfence())
COPY_LOOP(stream_pair, 2, 4, STREAM, _mm_sfence())
COPY_LOOP(stream_four, 4, 1, STREAM, _mm_sfence())
ZERO_LOOP(zero, 1, 0, STORE, (void)0)
ZERO_LOOP(zero_heads, 1, 4, STORE, (void)0)
ZERO_LOOP(zero_four, 4, 4, STORE, (void)0)
ZERO_LOOP(zero_stream, 1, 0, STREAM, _mm_sfence())
ZERO_LOOP(zero_stream_pair, 2, 0, STREAM, _mm_sfence())

#undef FETCH
#undef LANES_LOOP
#undef COMPARE_BLOCKS
#undef COMPARE_LOOP
#undef COPY_LOOP
#undef ZERO_LOOP
#undef NAME
#undef TARGET
#undef VEC
#undef VEC_SIZE
#undef ZERO
#undef LOAD
#undef STORE
#undef STREAM
#undef DIFFER
#undef OR
#undef IS_ZERO
