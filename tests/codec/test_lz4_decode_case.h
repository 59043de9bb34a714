/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One case of a decoder against liblz4, for the tests and the fuzzers. Every run and every output
 * is an allocation of exactly its size, so that a checker sees an access one byte too far.
 * Invariant: the expected result comes from LZ4_decompress_safe(), and from a walk over the tokens
 * for errors that it accepts.
 */
#ifndef TEST_LZ4_DECODE_CASE_H
#define TEST_LZ4_DECODE_CASE_H

#include "abd_lz4_decode.h"

#include <lz4.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* There when the address sanitizer is: what lies before and after the block in its runs is not ours
   to read. */
extern void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));

struct lz4_case {
	const struct abd_lz4_decoder *decoder;
	const uint8_t *src;
	size_t src_size;
	size_t dst_size;
	size_t chunk; /* length of every run; 0: random ones */
	size_t skip;  /* bytes of the first run before the block */
	size_t stop;
	uint64_t seed;
};

/* What the tokens say, followed without regard to any rule. */
struct lz4_walk {
	size_t output;
	bool zero_offset;
};

struct lz4_runs {
	struct iovec *runs;
	size_t count;
};

static inline uint64_t lz4_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static inline size_t lz4_below(uint64_t *state, size_t bound)
{
	return (size_t)(lz4_random(state) % bound);
}

static inline size_t lz4_walk_extension(const uint8_t *src, size_t size, size_t *at)
{
	size_t sum = 0;
	uint8_t byte = 255;

	while (byte == 255 && *at < size) {
		byte = src[(*at)++];
		sum += byte;
	}
	return sum;
}

static inline struct lz4_walk lz4_walk(const uint8_t *src, size_t size)
{
	struct lz4_walk walk = {0, false};
	size_t at = 0;

	while (at < size) {
		unsigned token = src[at++];
		size_t literals = token >> 4, match = token & 15;

		if (literals == 15)
			literals += lz4_walk_extension(src, size, &at);
		walk.output += literals;
		if (literals >= size - at || size - at - literals < 2)
			break;
		at += literals;
		walk.zero_offset |= src[at] == 0 && src[at + 1] == 0;
		at += 2;
		if (match == 15)
			match += lz4_walk_extension(src, size, &at);
		walk.output += match + 4;
	}
	return walk;
}

/* Short for the most part, and often one of the lengths at which the decoder takes another way. */
static inline size_t lz4_run_random(uint64_t *seed)
{
	static const size_t bounds[] = {3, 40, 200, 4096},
			    edges[] = {17, 18, 30, 31, 32, 62, 63, 64};
	size_t pick = lz4_below(seed, 8);

	return pick < 4 ? 1 + lz4_below(seed, bounds[pick]) : edges[lz4_below(seed, 8)];
}

/* Cut skip + size bytes into runs of one length, or random ones. */
static inline struct lz4_runs lz4_runs_make(size_t size, size_t chunk, size_t skip, uint64_t seed)
{
	struct lz4_runs r = {NULL, 0};
	size_t left = skip + size, room = 0;

	while (left > 0 || r.count == 0) {
		size_t piece = chunk != 0 ? chunk : lz4_run_random(&seed);

		if (r.count == 0 && piece <= skip)
			piece = skip + 1;
		if (piece > left)
			piece = left;
		if (r.count == room) {
			room = room * 2 + 8;
			r.runs = realloc(r.runs, room * sizeof(*r.runs));
		}
		r.runs[r.count].iov_base = malloc(piece);
		r.runs[r.count].iov_len = piece;
		memset(r.runs[r.count].iov_base, 0xee, piece);
		r.count++;
		left -= piece;
	}
	return r;
}

/* Between runs and one piece of memory. */
static inline void lz4_runs_copy(
	const struct lz4_runs *r, size_t skip, uint8_t *flat, size_t size, bool in)
{
	for (size_t i = 0; i < r->count && size > 0; i++) {
		size_t piece = r->runs[i].iov_len - skip;
		uint8_t *there = (uint8_t *)r->runs[i].iov_base + skip;

		if (piece > size)
			piece = size;
		memcpy(in ? there : flat, in ? flat : there, piece);
		flat += piece;
		size -= piece;
		skip = 0;
	}
}

/* Only [skip, skip + size) may be read. */
static inline void lz4_runs_guard(const struct lz4_runs *r, size_t skip, size_t size)
{
	size_t end = skip + size;

	if (__asan_poison_memory_region == NULL)
		return;
	__asan_poison_memory_region(r->runs[0].iov_base, skip);
	for (size_t i = 0; i < r->count; i++) {
		size_t length = r->runs[i].iov_len, ours = length < end ? length : end;

		__asan_poison_memory_region((uint8_t *)r->runs[i].iov_base + ours, length - ours);
		end -= ours;
	}
}

static inline void lz4_runs_free(struct lz4_runs *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->runs[i].iov_base);
	free(r->runs);
}

static inline const char *lz4_case_whole(const struct lz4_case *c, const struct lz4_runs *in,
	const uint8_t *expected, ssize_t result)
{
	uint8_t *dst = malloc(c->dst_size);
	ssize_t got = c->decoder->decode(
		dst, c->dst_size, ABD_LZ4_STOP_WHOLE, in->runs, c->skip, c->src_size, NULL, 0);
	const char *fault = NULL;

	if (got != result)
		fault = result < 0 ? "accepts what liblz4 rejects"
			: got < 0  ? "rejects what liblz4 accepts"
				   : "another size than liblz4's";
	else if (got > 0 && memcmp(dst, expected, (size_t)got) != 0)
		fault = "other bytes than liblz4's";
	free(dst);
	return fault;
}

/*
 * dst_size and stop may be less than the record: the bytes up to there must be right all the same.
 */
static inline const char *lz4_case_partial(const struct lz4_case *c, const struct lz4_runs *in,
	size_t dst_size, size_t stop, const uint8_t *expected, ssize_t result)
{
	uint8_t *dst = malloc(dst_size);
	ssize_t got =
		c->decoder->decode(dst, dst_size, stop, in->runs, c->skip, c->src_size, NULL, 0);
	size_t least = stop < dst_size ? stop : dst_size;
	const char *fault = NULL;

	if (got != -EBADMSG && (got < 0 || (size_t)got > dst_size)) {
		fault = "partial: a result that can't be";
	} else if (result >= 0) {
		if (least > (size_t)result)
			least = (size_t)result;
		if (got < (ssize_t)least || got > result)
			fault = "partial: too few bytes, or too many";
		else if (got > 0 && memcmp(dst, expected, (size_t)got) != 0)
			fault = "partial: other bytes than the whole's";
	}
	free(dst);
	return fault;
}

static inline const char *lz4_case_scatter(const struct lz4_case *c, const struct lz4_runs *in,
	const uint8_t *expected, ssize_t result)
{
	size_t window_size = c->dst_size < ABD_LZ4_WINDOW_MIN ? c->dst_size : ABD_LZ4_WINDOW_MIN;
	size_t skip = (size_t)(c->seed >> 7) % 9;
	struct lz4_runs out =
		lz4_runs_make(c->dst_size, (size_t)(c->seed >> 11) % 1000, skip, c->seed);
	uint8_t *window = malloc(window_size), *dst = calloc(1, c->dst_size);
	ssize_t got = c->decoder->decode_scatter(
		out.runs, skip, c->dst_size, in->runs, c->skip, c->src_size, window, window_size);
	const char *fault = NULL;

	if (got != result)
		fault = "scatter: another result than liblz4's";
	lz4_runs_copy(&out, skip, dst, c->dst_size, false);
	if (fault == NULL && got > 0 && memcmp(dst, expected, (size_t)got) != 0)
		fault = "scatter: other bytes than liblz4's";
	free(window);
	free(dst);
	lz4_runs_free(&out);
	return fault;
}

/* Returns NULL, or what is wrong. */
static inline const char *lz4_case_check(const struct lz4_case *c)
{
	/* Half of the blocks end before their runs do, as records in pages do. */
	size_t after = (c->seed & 16) != 0 ? (size_t)(c->seed >> 20) % 100 : 0;
	struct lz4_runs in = lz4_runs_make(c->src_size + after, c->chunk, c->skip, c->seed);
	uint8_t *src = malloc(c->src_size), *expected = calloc(1, c->dst_size + 1);
	ssize_t result;
	const char *fault;

	if (c->src_size > 0)
		memcpy(src, c->src, c->src_size);
	lz4_runs_copy(&in, c->skip, src, c->src_size, true);
	result = LZ4_decompress_safe(
		(char *)src, (char *)expected, (int)c->src_size, (int)c->dst_size);
	if (result < 0 || lz4_walk(src, c->src_size).zero_offset)
		result = -EBADMSG;

	lz4_runs_guard(&in, c->skip, c->src_size);
	fault = lz4_case_whole(c, &in, expected, result);
	if (fault == NULL)
		fault = lz4_case_partial(c, &in, c->dst_size, c->stop, expected, result);
	if (fault == NULL && c->stop <= c->dst_size)
		fault = lz4_case_partial(c, &in, c->stop, ABD_LZ4_STOP_PREFIX, expected, result);
	if (fault == NULL)
		fault = lz4_case_scatter(c, &in, expected, result);
	free(src);
	free(expected);
	lz4_runs_free(&in);
	return fault;
}

#endif
