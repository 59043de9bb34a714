/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares keys at unaligned addresses with abd_key_equal() and with a call of memcmp(): keys of
 * one length, keys of lengths from 1 to 64 drawn anew for every pair, and such keys of which half
 * differ, at a place drawn anew. A branch predictor learns a short list of lengths by heart, and
 * with it a case that no engine has; the 2^20 pairs here are more than any remembers. linux-kernel,
 * "Big git diff speedup by avoiding x86 fast string memcmp", Dec 2010: names of 31 bytes on
 * average.
 */
#include "abd_perf_compare_key.h"
#include "abd_perf_clock.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <abd/abd.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	unsigned char *a, *b;
	struct abd_perf_key *key;
	size_t count; /* a power of two */
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
		const struct abd_perf_key *key = &keys.key[i & (keys.count - 1)];

		equal += abd_key_equal(keys.a + key->a, keys.b + key->b, key->length);
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
		const struct abd_perf_key *key = &keys.key[i & (keys.count - 1)];

		equal += compare(keys.a + key->a, keys.b + key->b, key->length) == 0;
	}
	abd_perf_keep(&equal);
	return abd_perf_clock_ns() - start;
}

/*
 * b's second half holds a's bytes one byte further on, so alignments always differ; its first half
 * holds them with about every 16th byte changed, at places drawn at random. length 0: 1 to 64,
 * drawn anew for every pair; differ: half of the pairs are compared with the changed bytes.
 */
static void abd_perf_key_prepare(unsigned length, bool differ, uint64_t *random)
{
	unsigned char *same = keys.b + ABD_PERF_KEY_ROOM;

	for (size_t i = 0; i < ABD_PERF_KEY_ROOM; i++)
		same[i + 1] = keys.b[i + 1] = keys.a[i] = (unsigned char)abd_perf_random(random);
	for (size_t i = 0; i < ABD_PERF_KEY_ROOM / 16; i++)
		keys.b[1 + abd_perf_random_below(random, ABD_PERF_KEY_ROOM)] ^= 1;
	abd_perf_compare_key_draw(keys.key, keys.count, length, differ, random);
}

static void abd_perf_key_race(unsigned length, bool differ, const struct abd_perf_options *options)
{
	static const struct abd_perf_path path[] = {
		{"abd_key_equal", abd_perf_key_ours, NULL},
		{"memcmp", abd_perf_key_libc, NULL},
	};
	static struct abd_perf_race race;
	uint64_t random = options->seed;
	char text[40];

	if (length != 0)
		snprintf(text, sizeof(text), "%u", length);
	else
		snprintf(
			text, sizeof(text), "1 to 64%s", differ ? ", half of them different," : "");
	abd_perf_say_step("keys of %s bytes", text);
	abd_perf_key_prepare(length, differ, &random);
	if (!abd_perf_race_run(&race, path, 2, options))
		return;

	json_t *result = abd_perf_result_add("compare", "keys", "abd_key_equal, %s bytes", text);

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
	unsigned steps = 2;

	for (unsigned length = 1; length <= ABD_PERF_KEY_MAX; length++)
		steps += abd_perf_key_wanted(length, options);
	return steps;
}

void abd_perf_compare_keys(const struct abd_perf_options *options)
{
	keys.a = malloc(ABD_PERF_KEY_ROOM + 1);
	keys.b = malloc(2 * ABD_PERF_KEY_ROOM + 1);
	keys.count = ABD_PERF_KEYS;
	keys.key = malloc(keys.count * sizeof(*keys.key));
	if (keys.a == NULL || keys.b == NULL || keys.key == NULL)
		abd_perf_say_die(1, "no memory for %zu keys", keys.count);
	abd_perf_key_race(0, false, options);
	if (!abd_perf_say_stopped())
		abd_perf_key_race(0, true, options);
	for (unsigned length = 1; length <= ABD_PERF_KEY_MAX && !abd_perf_say_stopped(); length++) {
		if (abd_perf_key_wanted(length, options))
			abd_perf_key_race(length, false, options);
	}
	free(keys.a);
	free(keys.b);
	free(keys.key);
}
