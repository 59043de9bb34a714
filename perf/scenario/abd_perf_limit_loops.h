/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bare loops for one instruction set, which defines, before it includes this:
 *
 *   NAME(loop)                     the loops' names
 *   TARGET                         the functions' attribute
 *   VEC, VEC_SIZE, LOAD(p), STORE(p, v), STREAM(p, v), DIFFER(a, b), OR(x, y), IS_ZERO(v)
 *
 * The loops are those that won somewhere (docs/plans.md): one run, two or four together, each with
 * the heads of the next fetched.
 */

#define BLOCK(i, off, step)                                                            \
	do {                                                                           \
		for (size_t v_ = 0; v_ < 256; v_ += VEC_SIZE)                          \
			seen = OR(seen, DIFFER(a[i] + (off) + v_, b[i] + (off) + v_)); \
		__builtin_prefetch(a[next + ((i)-at)] + (off) / (step), 0, 3);         \
		__builtin_prefetch(b[next + ((i)-at)] + (off) / (step), 0, 3);         \
	} while (0)

#define COMPARE_LOOP(name, lanes)                                                    \
	TARGET static bool NAME(name)(size_t count, char *const *a, char *const *b)  \
	{                                                                            \
		for (size_t at = 0; at < count; at += (lanes)) {                     \
			size_t next = at + 2 * (lanes) <= count ? at + (lanes) : at; \
                                                                                     \
			if (count - at < (lanes)) {                                  \
				for (; at < count; at++)                             \
					if (memcmp(a[at], b[at], RUN) != 0)          \
						return false;                        \
				break;                                               \
			}                                                            \
			for (size_t off = 0; off < RUN; off += 256) {                \
				VEC seen = DIFFER(a[at] + off, b[at] + off);         \
                                                                                     \
				for (size_t i = at; i < at + (lanes); i++)           \
					BLOCK(i, off, 4 * (lanes) > 8 ? 8 : 4);      \
				if (!IS_ZERO(seen))                                  \
					return false;                                \
			}                                                            \
		}                                                                    \
		return true;                                                         \
	}

#define COPY_LOOP(name, lanes, PUT, END)                                                        \
	TARGET static void NAME(name)(size_t count, char *const *a, char *const *b)             \
	{                                                                                       \
		for (size_t at = 0; at < count; at += (lanes)) {                                \
			size_t next = at + 2 * (lanes) <= count ? at + (lanes) : at;            \
                                                                                                \
			if (count - at < (lanes)) {                                             \
				for (; at < count; at++)                                        \
					memcpy(b[at], a[at], RUN);                              \
				break;                                                          \
			}                                                                       \
			for (size_t off = 0; off < RUN; off += 256)                             \
				for (size_t i = at; i < at + (lanes); i++) {                    \
					__builtin_prefetch(a[next + (i - at)] + off / 4, 0, 3); \
					for (size_t v = off; v < off + 256; v += VEC_SIZE)      \
						PUT(b[i] + v, LOAD(a[i] + v));                  \
				}                                                               \
		}                                                                               \
		END;                                                                            \
	}

COMPARE_LOOP(one, 1)
COMPARE_LOOP(pair, 2)
COMPARE_LOOP(four, 4)
COPY_LOOP(vectors, 1, STORE, (void)0)
COPY_LOOP(stream, 1, STREAM, _mm_sfence())
COPY_LOOP(stream_pair, 2, STREAM, _mm_sfence())

#undef BLOCK
#undef COMPARE_LOOP
#undef COPY_LOOP
#undef NAME
#undef TARGET
#undef VEC
#undef VEC_SIZE
#undef LOAD
#undef STORE
#undef STREAM
#undef DIFFER
#undef OR
#undef IS_ZERO
