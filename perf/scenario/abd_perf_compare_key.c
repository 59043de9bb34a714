/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares equal keys at unaligned addresses with abd_key_equal() and with a call of memcmp(): keys
 * of one length, and keys of all lengths mixed at random. With mixed lengths the CPU mispredicts
 * the branches on the length, as it does in a directory of names. linux-kernel, "Big git diff
 * speedup by avoiding x86 fast string memcmp", Dec 2010: names of 31 bytes on average.
 */
#include "abd_perf_compare_key.h"
#include "abd_perf_clock.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <abd/abd.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ABD_PERF_KEYS 1024
#define ABD_PERF_KEY_MAX 64

static struct {
	unsigned char a[ABD_PERF_KEYS * 16 + ABD_PERF_KEY_MAX],
		b[ABD_PERF_KEYS * 16 + ABD_PERF_KEY_MAX];
	uint16_t at[ABD_PERF_KEYS]; /* where a key begins, in a and in b */
	uint8_t length[ABD_PERF_KEYS];
} keys;

/*
 * memcmp() through a volatile pointer, so that the compiler can't replace the call by inline code.
 */
static int (*volatile abd_perf_key_memcmp)(const void *, const void *, size_t) = memcmp;

static double abd_perf_key_ours(void *arg, uint64_t iterations)
{
	double start = abd_perf_clock_ns();
	unsigned equal = 0;

	(void)arg;
	for (uint64_t i = 0; i < iterations; i++) {
		size_t key = i % ABD_PERF_KEYS, at = keys.at[key];

		equal += abd_key_equal(keys.a + at, keys.b + at + 1, keys.length[key]);
	}
	abd_perf_keep(&equal);
	return abd_perf_clock_ns() - start;
}

static double abd_perf_key_libc(void *arg, uint64_t iterations)
{
	int (*compare)(const void *, const void *, size_t) = abd_perf_key_memcmp;
	double start = abd_perf_clock_ns();
	unsigned equal = 0;

	(void)arg;
	for (uint64_t i = 0; i < iterations; i++) {
		size_t key = i % ABD_PERF_KEYS, at = keys.at[key];

		equal += compare(keys.a + at, keys.b + at + 1, keys.length[key]) == 0;
	}
	abd_perf_keep(&equal);
	return abd_perf_clock_ns() - start;
}

/*
 * b holds a's bytes one byte further on, so their alignment always differs. length 0: 1 to 64,
 * mixed.
 */
static void abd_perf_key_prepare(unsigned length, uint64_t *random)
{
	for (size_t i = 0; i < sizeof(keys.a) - 1; i++)
		keys.b[i + 1] = keys.a[i] = (unsigned char)abd_perf_random(random);
	for (size_t i = 0; i < ABD_PERF_KEYS; i++) {
		keys.at[i] = (uint16_t)abd_perf_random_below(
			random, sizeof(keys.a) - ABD_PERF_KEY_MAX - 1);
		keys.length[i] = (uint8_t)(length != 0 ? length
						       : 1 + abd_perf_random_below(
								     random, ABD_PERF_KEY_MAX));
	}
}

static void abd_perf_key_race(unsigned length, const struct abd_perf_options *options)
{
	static const struct abd_perf_path path[] = {
		{"abd_key_equal", abd_perf_key_ours, NULL},
		{"memcmp", abd_perf_key_libc, NULL},
	};
	static struct abd_perf_race race;
	uint64_t random = options->seed;
	char text[24] = "1 to 64, mixed";

	if (length != 0)
		snprintf(text, sizeof(text), "%u", length);
	abd_perf_say_step("keys of %s bytes", text);
	abd_perf_key_prepare(length, &random);
	if (!abd_perf_race_run(&race, path, 2, options))
		return;

	struct abd_perf_result *result =
		abd_perf_result_add("compare", "keys", "abd_key_equal, %s bytes", text);

	abd_perf_result_number(result, "size", length);
	abd_perf_result_text(result, "length", text);
	abd_perf_result_race(result, &race, path, 0);
	abd_perf_result_claims(result, &race, path, &(struct abd_perf_claim){0, 1, 0.9, NULL}, 1);
}

/* With --full all lengths; else those at and beside powers of two. */
static bool abd_perf_key_wanted(unsigned length, const struct abd_perf_options *options)
{
	return !options->quick || (length & (length - 1)) == 0 || ((length + 1) & length) == 0 ||
	       ((length - 1) & (length - 2)) == 0 || length == 24 || length == 48;
}

unsigned abd_perf_compare_key_steps(const struct abd_perf_options *options)
{
	unsigned steps = 1;

	for (unsigned length = 1; length <= ABD_PERF_KEY_MAX; length++)
		steps += abd_perf_key_wanted(length, options);
	return steps;
}

void abd_perf_compare_keys(const struct abd_perf_options *options)
{
	abd_perf_key_race(0, options);
	for (unsigned length = 1; length <= ABD_PERF_KEY_MAX && !abd_perf_stop_wanted(); length++) {
		if (abd_perf_key_wanted(length, options))
			abd_perf_key_race(length, options);
	}
}
