/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dedupe: how much time a fast comparison saves a program that proves byte for byte that extents
 * are equal, for each kernel.
 *
 * The source's data set is made in memory, as large as memory allows: files of 4 MiB, half of them
 * copies of the other half. (With --record-size above 4 MiB a file is one record.) Made twice:
 *   aligned  original and copy both begin at offset 0 of their buffers
 *   shifted  original and copy begin at different odd offsets of their buffers
 * Source: linux-fsdevel, "vfs: Optimize dedupe comparison", Jul 2021: 20,000 files of 4 MB, fully
 * duplicated, 80 GB. A patch there indexed the destination's page with the source's offset. The
 * shifted data shows that bug, which is checked.
 */
#include "abd_perf_clock.h"
#include "abd_perf_env.h"
#include "abd_perf_place.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define PAGE ((size_t)4096)
#define ABD_PERF_DEDUPE_FILE (4 * MIB)
#define ABD_PERF_DEDUPE_EXTENT ((size_t)128 << 10)
#define ABD_PERF_DEDUPE_SOURCE                                                           \
	"word loop for byte loop: sys time of duperemove from 1m30.7s to 1m8.9s, -25 % " \
	"(linux-fsdevel, Jul 2021)"

enum { SCALAR, WORD, LIBC, AUTO, KERNELS };

static const char *const abd_perf_dedupe_kernel[KERNELS] = {"scalar", "word", "libc", "auto"};

static const struct abd_perf_claim abd_perf_dedupe_claims[] = {
	{WORD, SCALAR, 0, ABD_PERF_DEDUPE_SOURCE}, {AUTO, SCALAR, 0, NULL}, {AUTO, WORD, 0, NULL},
	{AUTO, LIBC, 0, NULL}};

struct abd_perf_dedupe {
	abd_t **file; /* original, copy, original, copy ... */
	size_t files, file_size, extent_size;
	size_t *offset; /* where the data of each file begins in its buffer */
	uint64_t random;
	size_t errors; /* proofs that a kernel did not confirm */
};

struct abd_perf_dedupe_path {
	struct abd_perf_dedupe *set;
	const char *kernel;
};

/* ---- the data -------------------------------------------------------------------------------- */

static void abd_perf_dedupe_make(
	struct abd_perf_dedupe *set, const struct abd_perf_options *options)
{
	static const size_t most_of[] = {[ABD_PERF_NORMAL] = 256 * MIB,
		[ABD_PERF_QUICK] = 64 * MIB,
		[ABD_PERF_FULL] = 2048 * MIB};
	size_t most = most_of[options->mode], bytes = abd_perf_env_memory() / 4;

	set->random = options->seed;
	set->errors = 0;
	set->extent_size =
		options->record_size != 0 ? options->record_size : ABD_PERF_DEDUPE_EXTENT;
	set->file_size =
		set->extent_size > ABD_PERF_DEDUPE_FILE ? set->extent_size : ABD_PERF_DEDUPE_FILE;
	set->files = (bytes < most ? bytes : most) / set->file_size / 2 * 2;
	set->file = calloc(set->files, sizeof(*set->file));
	set->offset = calloc(set->files, sizeof(*set->offset));
	if (set->files == 0 || set->file == NULL || set->offset == NULL)
		abd_perf_say_die(1,
			"a quarter of the memory is too little for two files of %zu MiB",
			set->file_size / MIB);
	abd_perf_place_tune("max_order", "0");
	for (size_t i = 0; i < set->files; i++) {
		set->file[i] =
			abd_alloc((set->file_size + PAGE - 1) / PAGE * PAGE + 2 * PAGE, false);
		if (set->file[i] == NULL)
			abd_perf_say_die(1, "no memory for %zu files of %zu MiB", set->files,
				set->file_size / MIB);
	}
	abd_perf_place_tune("max_order", "10");
	abd_perf_place_shuffle(set->file, set->files);
}

static void abd_perf_dedupe_free(struct abd_perf_dedupe *set)
{
	for (size_t i = 0; i < set->files; i++)
		abd_free(set->file[i]);
	free(set->file);
	free(set->offset);
	abd_cache_reap_now();
}

/* Fill with random words, so that only copied extents are equal. */
static void abd_perf_dedupe_random(struct abd_perf_dedupe *set, abd_t *abd, size_t off, size_t size)
{
	uint64_t word[512];

	for (size_t n; size > 0; off += n, size -= n) {
		for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
			word[i] = abd_perf_random(&set->random);
		n = size < sizeof(word) ? size : sizeof(word);
		abd_copy_from_buf_off(abd, word, off, n);
	}
}

static void abd_perf_dedupe_fill(struct abd_perf_dedupe *set, bool shifted, bool plant)
{
	for (size_t i = 0; i < set->files && !abd_perf_stop_wanted(); i += 2) {
		size_t *offset = &set->offset[i];

		/* Two different odd offsets of less than a page. */
		for (unsigned j = 0; j < 2 && shifted; j++)
			do
				offset[j] = abd_perf_random_below(&set->random, PAGE / 2) * 2 + 1;
			while (j == 1 && offset[1] == offset[0]);
		abd_perf_dedupe_random(set, set->file[i], offset[0], set->file_size);
		abd_copy_off(set->file[i + 1], set->file[i], offset[1], offset[0], set->file_size);
	}
	if (plant) {
		unsigned char byte;

		abd_copy_to_buf_off(&byte, set->file[1], PAGE, 1);
		byte ^= 0x20;
		abd_copy_from_buf_off(set->file[1], &byte, PAGE, 1);
	}
}

/* ---- the proofs ------------------------------------------------------------------------------ */

/*
 * Count the extents of copies that equal those of their originals. wrong_page: with the bug of the
 * source's patch, which indexed the destination's page with the source's offset.
 */
static size_t abd_perf_dedupe_equal(const struct abd_perf_dedupe *set, bool wrong_page)
{
	size_t equal = 0, size = set->extent_size;

	for (size_t i = 0; i < set->files; i += 2) {
		for (size_t at = 0; at + size <= set->file_size; at += size) {
			size_t src = set->offset[i] + at, dst = set->offset[i + 1] + at;

			if (wrong_page)
				dst = dst - dst % PAGE + src % PAGE;
			equal += abd_equal_off(set->file[i + 1], set->file[i], dst, src, size);
		}
	}
	return equal;
}

static size_t abd_perf_dedupe_proofs(const struct abd_perf_dedupe *set)
{
	return set->files / 2 * (set->file_size / set->extent_size);
}

static double abd_perf_dedupe_run_path(void *arg, uint64_t iterations)
{
	const struct abd_perf_dedupe_path *path = arg;
	size_t equal = 0;
	double start;

	/* "auto": the kernel that the library chooses, or the one in ABD_COMPARE. */
	abd_perf_place_tune("compare",
		strcmp(path->kernel, "auto") != 0 ? path->kernel : abd_perf_place_found("compare"));
	start = abd_perf_clock_ns();
	for (uint64_t n = 0; n < iterations; n++)
		equal += abd_perf_dedupe_equal(path->set, false);
	start = abd_perf_clock_ns() - start;
	path->set->errors += iterations * abd_perf_dedupe_proofs(path->set) - equal;
	return start;
}

static void abd_perf_dedupe_record(const struct abd_perf_dedupe *set,
	const struct abd_perf_race *race, const struct abd_perf_path *path, const char *name)
{
	struct abd_perf_result *result = abd_perf_result_add("dedupe", "proof", "%s", name);
	size_t proofs = abd_perf_dedupe_proofs(set);

	abd_perf_result_size(result, "extent_size", set->extent_size);
	abd_perf_result_number(result, "proofs", (double)proofs);
	abd_perf_result_number(result, "bytes", (double)(proofs * set->extent_size));
	for (unsigned i = 0; i < KERNELS; i++)
		abd_perf_result_figure(result, path[i].name, "ms",
			abd_perf_stat_scale(abd_perf_race_ns(race, i), 1e-6));
	abd_perf_result_claims(result, race, path, abd_perf_dedupe_claims,
		sizeof(abd_perf_dedupe_claims) / sizeof(abd_perf_dedupe_claims[0]));
}

/* Returns an exit status: 1 when a kernel did not confirm a proof. */
static int abd_perf_dedupe_race(
	struct abd_perf_dedupe *set, bool shifted, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_dedupe_path forced[KERNELS];
	struct abd_perf_path path[KERNELS];
	const char *name = shifted ? "shifted" : "aligned";

	abd_perf_say_step("proofs, %s", name);
	abd_perf_dedupe_fill(set, shifted, options->plant);
	if (shifted && !abd_perf_stop_wanted() && abd_perf_dedupe_equal(set, true) != 0) {
		abd_perf_say_warn(
			"the data does not show a destination indexed with the source's offset");
		return 1;
	}
	for (unsigned i = 0; i < KERNELS; i++) {
		forced[i] = (struct abd_perf_dedupe_path){set, abd_perf_dedupe_kernel[i]};
		path[i] = (struct abd_perf_path){
			abd_perf_dedupe_kernel[i], abd_perf_dedupe_run_path, &forced[i]};
	}

	bool run = abd_perf_race_run(&race, path, KERNELS, options);

	abd_perf_place_restore("compare");
	if (run)
		abd_perf_dedupe_record(set, &race, path, name);
	if (set->errors == 0)
		return 0;
	abd_perf_say_warn("%zu times a kernel found extents unequal that are equal", set->errors);
	return 1;
}

static int abd_perf_dedupe_run(const struct abd_perf_options *options)
{
	struct abd_perf_dedupe set;
	int status = 0;

	abd_perf_say_begin("dedupe", 3);
	abd_perf_say_step("making files");
	abd_perf_dedupe_make(&set, options);
	for (int shifted = 0; shifted < 2 && status == 0 && !abd_perf_stop_wanted(); shifted++)
		status = abd_perf_dedupe_race(&set, shifted != 0, options);
	abd_perf_dedupe_free(&set);
	return status;
}

const struct abd_perf_scenario abd_perf_dedupe = {
	.name = "dedupe",
	.summary = "proving byte for byte that extents are equal, by comparison kernel",
	.uses = ABD_PERF_USES_RECORD_SIZE,
	.normal_s = 4,
	.full_s = 30,
	.run = abd_perf_dedupe_run,
};
