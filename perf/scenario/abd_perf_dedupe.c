/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dedupe: proving that files are equal, as FIDEDUPERANGE does: in steps of 128 KiB, page by page,
 * each side cut where its own pages end.
 *
 * Source: linux-fsdevel, "vfs: Optimize dedupe comparison", July 2021: 20,000 files of 4 MB, each
 * there twice. A word loop in place of a byte loop took the system time of duperemove from 1m30.7s
 * to 1m8.9s. Words are compared when both addresses are aligned, and the tail, as all else, byte by
 * byte. The patch indexed the destination's page by the source's offset: the data shows that bug.
 *
 * The bytes are those of a real tree, cut into files of 4 MiB, each in memory twice, in pages of
 * 4 KiB at random addresses: 512 MiB without --full. All ways walk on from where the last one was,
 * so that a page is met again only after all others: cold, where the last cache is smaller.
 *   aligned         both sides begin with a page
 *   unaligned       both begin at offsets of their own within a page, at which no words meet
 *   one byte off    aligned, but in each step one byte at a place drawn at random differs
 */
#include "abd_perf_data.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>

#include <stdlib.h>
#include <string.h>

#define PAGE ((size_t)4096)
#define STEP ((size_t)128 << 10)
#define FILE_SIZE ((size_t)4 << 20)
#define STEPS (FILE_SIZE / STEP)
#define FILES_MAX 256

static struct {
	/* Each file, twice, as buffers and as the pages they lie in: one more than it has bytes. */
	size_t files;
	abd_t *side[2][FILES_MAX];
	char *page[2][FILES_MAX][FILE_SIZE / PAGE + 1];
	size_t offset[2]; /* where the files begin in their buffers */
	bool differ;      /* a byte is changed before each step, and set right after it */
	size_t step;      /* the next one */
	uint64_t random;
	unsigned wrong; /* answers */
} dedupe;

static inline char *dedupe_at(unsigned side, size_t file, size_t off)
{
	return dedupe.page[side][file][off / PAGE] + off % PAGE;
}

/* Fill the first side. False, after a warning: the tree holds nothing. */
static bool dedupe_make(const struct abd_perf_options *options)
{
	size_t most = options->mode == ABD_PERF_QUICK ? 16 : options->quick ? 64 : FILES_MAX;
	size_t fit = abd_perf_env_memory() / 4 / FILE_SIZE;
	struct abd_perf_data data;

	dedupe.files = fit < most ? fit : most;
	if (!abd_perf_files_load_tree(&data, "dedupe", options, dedupe.files * FILE_SIZE))
		return false;
	for (unsigned side = 0; side < 2; side++) {
		abd_perf_place_alloc(dedupe.side[side], dedupe.files, FILE_SIZE + PAGE);
		abd_perf_place_shuffle(dedupe.side[side], dedupe.files);
		for (size_t i = 0; i < dedupe.files; i++)
			abd_perf_place_pages(dedupe.side[side][i], dedupe.page[side][i]);
	}
	for (size_t i = 0; i < dedupe.files; i++)
		abd_copy_from_buf(dedupe.side[0][i], data.bytes + i * FILE_SIZE, FILE_SIZE);
	free(data.bytes);
	return true;
}

/* Draw where files begin from now on, or at 0. The second side is made the same again. */
static void dedupe_offsets(bool aligned)
{
	size_t a = 1 + abd_perf_random_below(&dedupe.random, PAGE / 2),
	       b = a + 1 + abd_perf_random_below(&dedupe.random, PAGE / 2 - 1);

	b += (b - a) % sizeof(uint64_t) == 0; /* else words would meet on the next page */
	dedupe.offset[0] = a = aligned ? 0 : a;
	dedupe.offset[1] = b = aligned ? 0 : b;
	for (size_t i = 0; i < dedupe.files; i++)
		abd_copy_off(dedupe.side[1][i], dedupe.side[0][i], b, a, FILE_SIZE + PAGE - b);
}

/* ---- ways to compare what lies in one page on each side -------------------------------------- */

static bool dedupe_bytes(const char *a, const char *b, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static bool dedupe_words(const char *a, const char *b, size_t size)
{
	size_t at = 0;

	if (((uintptr_t)a | (uintptr_t)b) % sizeof(uint64_t) == 0)
		for (; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t))
			if (*(const uint64_t *)(const void *)(a + at) !=
				*(const uint64_t *)(const void *)(b + at))
				return false;
	return dedupe_bytes(a + at, b + at, size - at);
}

static bool dedupe_memcmp(const char *a, const char *b, size_t size)
{
	return memcmp(a, b, size) == 0;
}

enum { BYTES, WORDS, MEMCMP, OURS, WAYS };

static const struct {
	const char *name;
	bool (*same)(const char *a, const char *b, size_t size); /* of one page on each side */
} dedupe_ways[WAYS] = {{"byte loop", dedupe_bytes}, {"word loop", dedupe_words},
	{"memcmp", dedupe_memcmp}, {"abd_equal_off", NULL}};

/* b_off: where the second side is looked at, which is wrong with the patch's bug alone. */
static bool dedupe_equal(unsigned way, size_t file, size_t a_off, size_t b_off)
{
	if (way == OURS)
		return abd_equal_off(
			dedupe.side[0][file], dedupe.side[1][file], a_off, b_off, STEP);
	for (size_t end = a_off + STEP; a_off < end;) {
		size_t a = PAGE - a_off % PAGE, b = PAGE - b_off % PAGE, size = a < b ? a : b;

		size = size < end - a_off ? size : end - a_off;
		if (!dedupe_ways[way].same(
			    dedupe_at(0, file, a_off), dedupe_at(1, file, b_off), size))
			return false;
		a_off += size;
		b_off += size;
	}
	return true;
}

static void dedupe_step(unsigned way)
{
	size_t file = dedupe.step / STEPS % dedupe.files, off = dedupe.step++ % STEPS * STEP;
	char *other = NULL;

	if (dedupe.differ) {
		other = dedupe_at(1, file,
			dedupe.offset[1] + off + abd_perf_random_below(&dedupe.random, STEP));
		*other ^= 1;
	}
	dedupe.wrong += dedupe_equal(way, file, dedupe.offset[0] + off, dedupe.offset[1] + off) !=
			(other == NULL);
	if (other != NULL)
		*other ^= 1;
}

ABD_PERF_LOOP(const unsigned, dedupe_run, (dedupe_step(*o), 1))

/* Whether every way finds every step equal; and, of one in sixteen, finds the byte that differs. */
static bool dedupe_right(bool plant)
{
	size_t bug = 0;

	*dedupe_at(1, dedupe.files / 2, FILE_SIZE / 2) ^= plant;
	for (dedupe.step = 0; dedupe.step < dedupe.files * STEPS * WAYS;) {
		dedupe.differ = dedupe.step / WAYS % 16 == 0;
		dedupe_step((unsigned)(dedupe.step / (dedupe.files * STEPS)));
	}
	dedupe.differ = false;
	for (size_t i = 0; i < dedupe.files * STEPS; i++) {
		size_t off = i % STEPS * STEP;

		bug += dedupe_equal(
			MEMCMP, i / STEPS, dedupe.offset[0] + off, dedupe.offset[0] + off);
	}
	/* The patch's bug goes unseen where both sides begin alike, or where all bytes are. */
	return dedupe.wrong == 0 &&
	       (dedupe.offset[0] == dedupe.offset[1] || bug < dedupe.files * STEPS);
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static int dedupe_race(const char *name, bool differ, const struct abd_perf_options *options)
{
	static const struct abd_perf_said said = {"dedupe", 90.7 / 68.9,
		"1m30.7s by bytes, 1m8.9s by words: sys time of duperemove (linux-fsdevel, 2021)"};
	const struct abd_perf_claim claims[] = {
		{WORDS, BYTES, 0, differ || dedupe.offset[0] != 0 ? NULL : &said},
		{OURS, BYTES, 0, NULL}, {OURS, MEMCMP, 0, NULL}};
	static unsigned way[WAYS] = {BYTES, WORDS, MEMCMP, OURS};
	static struct abd_perf_race race;
	struct abd_perf_path path[WAYS];

	abd_perf_say_step("%s", name);
	if (!abd_perf_say_wanted())
		return 0;
	if (!dedupe_right(options->plant)) {
		abd_perf_say_warn("%s: %u answers were wrong", name, dedupe.wrong);
		return 1;
	}
	for (unsigned i = 0; i < WAYS; i++)
		path[i] = (struct abd_perf_path){dedupe_ways[i].name, dedupe_run, &way[i]};
	dedupe.differ = differ;
	if (abd_perf_race_run(&race, path, WAYS, options)) {
		json_t *result = abd_perf_result_add("dedupe", "proof", "%s", name);
		size_t bytes = 2 * dedupe.files * FILE_SIZE;

		abd_perf_result_text(result, "data", "tree");
		abd_perf_result_text(result, "state", abd_perf_env_state(bytes));
		abd_perf_result_size(result, "set_bytes", bytes);
		abd_perf_result_race(result, &race, path, differ ? 0 : (double)STEP);
		abd_perf_result_claims(result, &race, path, claims, 3);
	}
	return dedupe.wrong != 0;
}

static int dedupe_scenario(const struct abd_perf_options *options)
{
	static const char *const name[] = {"aligned", "one byte off", "unaligned"};
	bool wanted = false;
	int status = 0;

	abd_perf_say_begin("dedupe", 3);
	for (unsigned i = 0; i < 3; i++)
		wanted |= abd_perf_say_wants("%s", name[i]);
	if (!wanted)
		return 0;
	dedupe.random = options->seed;
	if (!dedupe_make(options))
		return ABD_PERF_LEFT_OUT;
	for (unsigned i = 0; i < 3 && status == 0 && !abd_perf_say_stopped(); i++) {
		if (i != 1)
			dedupe_offsets(i == 0);
		status = dedupe_race(name[i], i == 1, options);
	}
	for (size_t i = 0; i < 2 * dedupe.files; i++)
		abd_free(dedupe.side[i % 2][i / 2]);
	abd_cache_reap_now();
	return status;
}

const struct abd_perf_scenario abd_perf_dedupe = {
	.name = "dedupe",
	.summary = "proving that a tree's files are equal to their copies, in steps of 128 KiB",
	.uses = ABD_PERF_USES_INPUT,
	.normal_s = 4,
	.full_s = 12,
	.claim = {"dedupe: .*", 4},
	.headline = {"dedupe: aligned", 3, 2},
	.run = dedupe_scenario,
};
