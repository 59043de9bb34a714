/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random words: no two extents are equal but those that were copied.
 */
#include "abd_perf_dedupe_made.h"
#include "abd_perf_clock.h"
#include "abd_perf_env.h"
#include "abd_perf_place.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"

#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define ABD_PERF_MADE_SIZE (4 * MIB)
#define ABD_PERF_MADE_PIECE 4096

void abd_perf_made_make(
	struct abd_perf_made *made, const struct abd_perf_options *options, size_t extent_size)
{
	static const size_t most_of[] = {[ABD_PERF_NORMAL] = 256 * MIB,
		[ABD_PERF_QUICK] = 64 * MIB,
		[ABD_PERF_FULL] = 2048 * MIB};
	size_t most = most_of[options->mode];
	size_t bytes = abd_perf_env_memory() / 4;

	made->random = options->seed;
	made->size = extent_size > ABD_PERF_MADE_SIZE ? extent_size : ABD_PERF_MADE_SIZE;
	made->files = (bytes < most ? bytes : most) / made->size / 2 * 2;
	if (made->files == 0)
		abd_perf_say_die(1,
			"a quarter of the memory is too little for two files of %zu MiB",
			made->size / MIB);
	made->file = malloc(made->files * sizeof(abd_t *));
	if (made->file == NULL)
		abd_perf_say_die(1, "no memory for a list of %zu files", made->files);
	abd_perf_place_tune("max_order", "0");
	for (size_t i = 0; i < made->files; i++) {
		made->file[i] = abd_alloc(abd_perf_pages(made->size) + 2 * ABD_PERF_PAGE, false);
		if (made->file[i] == NULL)
			abd_perf_say_die(1, "no memory for %zu files of %zu MiB", made->files,
				made->size / MIB);
	}
	abd_perf_place_tune("max_order", "10");
	abd_perf_place_shuffle(made->file, made->files, &made->random);
}

void abd_perf_made_free(struct abd_perf_made *made)
{
	for (size_t i = 0; i < made->files; i++)
		abd_free(made->file[i]);
	free(made->file);
	abd_cache_reap_now();
}

static void abd_perf_made_random(struct abd_perf_made *made, abd_t *abd, size_t off, size_t size)
{
	uint64_t word[ABD_PERF_MADE_PIECE / sizeof(uint64_t)];

	for (size_t n; size > 0; off += n, size -= n) {
		for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
			word[i] = abd_perf_random(&made->random);
		n = size < sizeof(word) ? size : sizeof(word);
		abd_copy_from_buf_off(abd, word, off, n);
	}
}

/* Odd, and less than a page. */
static size_t abd_perf_made_odd(struct abd_perf_made *made)
{
	return abd_perf_random_below(&made->random, ABD_PERF_PAGE / 2) * 2 + 1;
}

void abd_perf_made_fill(struct abd_perf_made *made, bool shifted, struct abd_perf_fileset *set)
{
	for (size_t i = 0; i < made->files && !abd_perf_stop_wanted(); i += 2) {
		abd_t *original = made->file[i], *copy = made->file[i + 1];
		size_t base = shifted ? abd_perf_made_odd(made) : 0;
		size_t prefix = base;

		while (shifted && prefix == base)
			prefix = abd_perf_made_odd(made);
		abd_perf_made_random(made, original, base, made->size);
		abd_perf_made_random(made, copy, 0, prefix);
		abd_copy_off(copy, original, prefix, base, made->size);
		abd_perf_fileset_add(set, original, base, made->size);
		abd_perf_fileset_add(set, copy, 0, prefix + made->size);
	}
}

void abd_perf_made_damage(struct abd_perf_made *made)
{
	unsigned char byte;
	abd_t *copy = made->file[made->files - 1];

	/* Behind the longest prefix, in front of what the shortest leaves over. */
	abd_copy_to_buf_off(&byte, copy, ABD_PERF_PAGE, 1);
	byte ^= 0x20;
	abd_copy_from_buf_off(copy, &byte, ABD_PERF_PAGE, 1);
}
