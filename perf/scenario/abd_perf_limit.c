/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The families of loops, and which of them is fastest. Each takes three turns, and its shortest
 * counts: the race that follows measures the winner.
 */
#include "abd_perf_limit.h"

#include "abd_perf_clock.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

enum { RUN = 4096, TURNS = 3 };

static bool abd_perf_limit_libc_compare(size_t count, char *const *a, char *const *b)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(a[i], b[i], RUN) != 0)
			return false;
	return true;
}

static bool abd_perf_limit_libc_copy(size_t count, char *const *a, char *const *b)
{
	for (size_t i = 0; i < count; i++)
		memcpy(b[i], a[i], RUN);
	return true;
}

static bool abd_perf_limit_libc_zero(size_t count, char *const *a, char *const *b)
{
	(void)a;
	for (size_t i = 0; i < count; i++)
		memset(b[i], 0, RUN);
	return true;
}

static bool abd_perf_limit_everywhere(void)
{
	return true;
}

#if defined(__x86_64__)
#include <immintrin.h>

static inline size_t abd_perf_limit_next(size_t i)
{
	i++;
	__asm__ volatile("" : "+r"(i));
	return i;
}

#define NAME(loop) abd_perf_limit_avx512_##loop
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define VEC __m512i
#define VEC_SIZE 64
#define ZERO _mm512_setzero_si512()
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, v) _mm512_store_si512(p, v)
#define STREAM(p, v) _mm512_stream_si512((void *)(p), v)
#define DIFFER(x, y) _mm512_xor_si512(LOAD(x), LOAD(y))
#define OR(x, y) _mm512_or_si512(x, y)
#define IS_ZERO(v) (_mm512_test_epi64_mask(v, v) == 0)
#include "abd_perf_limit_loops.h"

#define NAME(loop) abd_perf_limit_avx2_##loop
#define TARGET __attribute__((target("avx2")))
#define VEC __m256i
#define VEC_SIZE 32
#define ZERO _mm256_setzero_si256()
#define LOAD(p) _mm256_loadu_si256((const __m256i_u *)(p))
#define STORE(p, v) _mm256_store_si256((__m256i *)(void *)(p), v)
#define STREAM(p, v) _mm256_stream_si256((__m256i *)(void *)(p), v)
#define DIFFER(x, y) _mm256_xor_si256(LOAD(x), LOAD(y))
#define OR(x, y) _mm256_or_si256(x, y)
#define IS_ZERO(v) (_mm256_testz_si256(v, v) != 0)
#include "abd_perf_limit_loops.h"

/* The string instruction, the head of the next source fetched. */
static bool abd_perf_limit_string(size_t count, char *const *a, char *const *b)
{
	for (size_t i = 0; i < count; i++) {
		const char *from = a[i], *next = a[i + 1 < count ? i + 1 : i];
		char *to = b[i];
		size_t size = RUN;

		for (size_t line = 0; line < 8 * 64; line += 64)
			__builtin_prefetch(next + line, 0, 3);
		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
	}
	return true;
}

static bool abd_perf_limit_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

static bool abd_perf_limit_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

#define ABD_PERF_LIMIT_X86(...) __VA_ARGS__
#else
#define ABD_PERF_LIMIT_X86(...)
#endif

struct abd_perf_limit_loop {
	bool (*supported)(void);
	bool (*run)(size_t count, char *const *a, char *const *b);
};

#define EVERYWHERE(loop) {abd_perf_limit_everywhere, abd_perf_limit_##loop},
#define VECTORS(loop)                                          \
	{abd_perf_limit_avx512, abd_perf_limit_avx512_##loop}, \
		{abd_perf_limit_avx2, abd_perf_limit_avx2_##loop},

/* Each list ends with an empty one. */
static const struct abd_perf_limit_loop abd_perf_limit_compares[] = {EVERYWHERE(libc_compare)
		ABD_PERF_LIMIT_X86(VECTORS(one) VECTORS(one_heads) VECTORS(pair_heads) VECTORS(four)
				VECTORS(four_heads) VECTORS(quarters)){NULL, NULL}};
static const struct abd_perf_limit_loop abd_perf_limit_copies[] = {EVERYWHERE(libc_copy)
		ABD_PERF_LIMIT_X86(EVERYWHERE(string) VECTORS(vectors) VECTORS(vectors_whole)
				VECTORS(vectors_four) VECTORS(stream) VECTORS(stream_whole)
					VECTORS(stream_pair) VECTORS(stream_four)){NULL, NULL}};
static const struct abd_perf_limit_loop abd_perf_limit_zeros[] = {EVERYWHERE(libc_zero)
		ABD_PERF_LIMIT_X86(VECTORS(zero) VECTORS(zero_heads) VECTORS(zero_four)
				VECTORS(zero_stream) VECTORS(zero_stream_pair)){NULL, NULL}};

static const struct abd_perf_limit_loop *const abd_perf_limit_loops[ABD_PERF_LIMITS] = {
	abd_perf_limit_compares, abd_perf_limit_copies, abd_perf_limit_zeros};

bool abd_perf_limit_run(const struct abd_perf_limit *limit, unsigned what)
{
	return abd_perf_limit_loops[what][limit->best[what]].run(limit->count, limit->a, limit->b);
}

/* The shortest time of one pass over the runs. At least 64 KiB a turn, so that the clock can tell.
 */
static double abd_perf_limit_time(const struct abd_perf_limit *limit, unsigned what)
{
	size_t passes = 1 + 16 * 64 / limit->count;
	double best = 0;

	for (int turn = 0; turn <= TURNS; turn++) {
		double start = abd_perf_clock_ns(), ns;
		bool equal = true;

		for (size_t i = 0; i < passes; i++)
			equal = abd_perf_limit_run(limit, what) && equal;
		ns = abd_perf_clock_ns() - start;
		if (!equal)
			abd_perf_say_die(1, "a bare loop finds equal runs different");
		if (turn > 0 && (best == 0 || ns < best)) /* the first turn warms up */
			best = ns;
	}
	return best;
}

/* Whether b holds what the loop should have left there. */
static bool abd_perf_limit_holds(const struct abd_perf_limit *limit, unsigned what)
{
	static const char zeros[RUN];

	if (what != ABD_PERF_LIMIT_ZERO)
		return abd_perf_limit_libc_compare(limit->count, limit->a, limit->b);
	for (size_t i = 0; i < limit->count; i++)
		if (memcmp(limit->b[i], zeros, RUN) != 0)
			return false;
	return true;
}

static void abd_perf_limit_find(struct abd_perf_limit *limit, unsigned what)
{
	const struct abd_perf_limit_loop *loops = abd_perf_limit_loops[what];
	unsigned winner = 0;
	double best = 0;

	for (unsigned i = 0; loops[i].run != NULL; i++) {
		double ns;

		if (!loops[i].supported())
			continue;
		limit->best[what] = i;
		for (size_t run = 0; run < limit->count && what != ABD_PERF_LIMIT_COMPARE; run++)
			limit->b[run][RUN - 1 - run % RUN] ^= 1;
		ns = abd_perf_limit_time(limit, what);
		if (!abd_perf_limit_holds(limit, what))
			abd_perf_say_die(1, "a bare loop does not do what it should");
		if (best == 0 || ns < best) {
			best = ns;
			winner = i;
		}
	}
	limit->best[what] = winner;
}

void abd_perf_limit_make(struct abd_perf_limit *limit, const abd_t *a, const abd_t *b)
{
	size_t count = a->abd_size / RUN;

	*limit = (struct abd_perf_limit){.count = 0};
	if (abd_is_linear(a) || abd_is_linear(b) || a->abd_size % RUN != 0 ||
		a->abd_u.abd_scatter.abd_run_count != count ||
		b->abd_u.abd_scatter.abd_run_count != count)
		return;
	limit->count = count;
	limit->a = malloc(2 * count * sizeof(char *));
	if (limit->a == NULL)
		abd_perf_say_die(1, "no memory for the addresses of %zu runs", count);
	limit->b = limit->a + count;
	for (size_t i = 0; i < count; i++) {
		limit->a[i] = a->abd_u.abd_scatter.abd_runs[i].iov_base;
		limit->b[i] = b->abd_u.abd_scatter.abd_runs[i].iov_base;
	}
	abd_perf_limit_find(limit, ABD_PERF_LIMIT_ZERO);
	abd_perf_limit_find(limit, ABD_PERF_LIMIT_COPY);
	abd_perf_limit_find(limit, ABD_PERF_LIMIT_COMPARE);
}

void abd_perf_limit_free(struct abd_perf_limit *limit)
{
	free(limit->a);
	limit->a = NULL;
}
