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
 *   unaligned       both begin at offsets of their own within a page, drawn at random
 *   one byte off    aligned, but in each step one byte at a place drawn at random differs
 */
#include "abd_perf_data.h"
#include "abd_perf_place.h"
#include "abd_perf_scenario.h"

#include <abd/abd.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define STEP ((size_t)128 << 10)
#define FILE_SIZE ((size_t)4 << 20)
#define STEPS (FILE_SIZE / STEP)
#define FILES_MAX 256

/* Each file, twice, as buffers and as the pages they lie in: a page more than it has bytes. */
static struct {
	size_t files, filled; /* filled: bytes */
	int error;            /* of the last file that could not be read */
	abd_t *side[2][FILES_MAX];
	char *page[2][FILES_MAX][FILE_SIZE / PAGE + 1];
	size_t offset[2]; /* where the files begin in their buffers */
} dedupe_set;

static inline char *dedupe_at(unsigned side, size_t file, size_t off)
{
	return dedupe_set.page[side][file][off / PAGE] + off % PAGE;
}

static int dedupe_page(void *buf, size_t len, void *arg)
{
	char ***to = arg;

	for (size_t at = 0; at < len; at += PAGE)
		*(*to)++ = (char *)buf + at;
	return 0;
}

static void dedupe_alloc(const struct abd_perf_options *options)
{
	size_t most = options->mode == ABD_PERF_QUICK ? 16 : options->quick ? 64 : FILES_MAX;
	size_t fit = abd_perf_env_memory() / 4 / FILE_SIZE;

	dedupe_set.files = fit < most ? fit : most;
	abd_perf_place_tune("max_order", "0");
	for (size_t i = 0; i < 2 * dedupe_set.files; i++) {
		dedupe_set.side[i % 2][i / 2] = abd_alloc(FILE_SIZE + PAGE, false);
		if (dedupe_set.side[i % 2][i / 2] == NULL || dedupe_set.files == 0)
			abd_perf_say_die(1, "no memory for two times %zu files", dedupe_set.files);
	}
	abd_perf_place_tune("max_order", "10");
	for (unsigned i = 0; i < 2; i++)
		abd_perf_place_shuffle(dedupe_set.side[i], dedupe_set.files);
	for (size_t i = 0; i < 2 * dedupe_set.files; i++) {
		char **to = dedupe_set.page[i % 2][i / 2];

		abd_iterate_func(
			dedupe_set.side[i % 2][i / 2], 0, FILE_SIZE + PAGE, dedupe_page, &to);
	}
}

static void dedupe_free(void)
{
	for (size_t i = 0; i < 2 * dedupe_set.files; i++)
		abd_free(dedupe_set.side[i % 2][i / 2]);
	abd_cache_reap_now();
}

/* Read a file of the tree into what is still empty of the first side. */
static bool dedupe_read(FTSENT *entry, void *arg)
{
	size_t *unread = arg;
	size_t all = dedupe_set.files * FILE_SIZE;
	ssize_t got = 0;
	int fd;

	if (entry->fts_info != FTS_F)
		return true;
	fd = open(entry->fts_path, O_RDONLY | O_CLOEXEC);
	*unread += fd < 0;
	dedupe_set.error = fd < 0 ? errno : dedupe_set.error;
	while (fd >= 0 && dedupe_set.filled < all) {
		size_t file = dedupe_set.filled / FILE_SIZE, off = dedupe_set.filled % FILE_SIZE;

		got = read(fd, dedupe_at(0, file, off), PAGE - off % PAGE);
		if (got <= 0)
			break;
		dedupe_set.filled += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	return dedupe_set.filled < all;
}

/*
 * Make the files and fill the first side. False, after a warning: the tree holds nothing. Ends the
 * program when there is no memory.
 */
static bool dedupe_make(const struct abd_perf_options *options)
{
	const char *root = options->input != NULL ? options->input : "/usr";
	size_t unread = 0, tree;

	dedupe_alloc(options);
	dedupe_set.filled = 0;
	abd_perf_files_walk(root, dedupe_read, &unread);
	if (unread > 0)
		abd_perf_say_warn("%zu files under %s can't be read: %s", unread, root,
			strerror(dedupe_set.error));
	tree = dedupe_set.filled;
	if (tree == 0) {
		abd_perf_say_warn("dedupe is left out: %s holds no data that can be read", root);
		dedupe_free();
		return false;
	}
	/* A small tree, again and again. */
	for (; dedupe_set.filled < dedupe_set.files * FILE_SIZE; dedupe_set.filled++)
		*dedupe_at(0, dedupe_set.filled / FILE_SIZE, dedupe_set.filled % FILE_SIZE) =
			*dedupe_at(0, (dedupe_set.filled - tree) / FILE_SIZE,
				(dedupe_set.filled - tree) % FILE_SIZE);
	return true;
}

/* Where files begin from now on; the second side is made the same again, from the first. */
static void dedupe_offsets(size_t a_off, size_t b_off)
{
	dedupe_set.offset[0] = a_off;
	dedupe_set.offset[1] = b_off;
	for (size_t i = 0; i < dedupe_set.files; i++)
		abd_copy_off(dedupe_set.side[1][i], dedupe_set.side[0][i], b_off, a_off,
			FILE_SIZE + PAGE - (a_off > b_off ? a_off : b_off));
}

static struct {
	bool differ; /* a byte is changed before each step, and set right after it */
	size_t step; /* the next one */
	uint64_t random;
	unsigned wrong; /* answers */
} dedupe;

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

typedef bool dedupe_same_t(const char *a, const char *b, size_t size);
static dedupe_same_t *const dedupe_same[] = {dedupe_bytes, dedupe_words, dedupe_memcmp, NULL};
enum { BYTES, WORDS, MEMCMP, OURS, WAYS };

/* b_off: where the second side is looked at, which is wrong with the patch's bug alone. */
static bool dedupe_equal(unsigned way, size_t file, size_t a_off, size_t b_off)
{
	if (way == OURS)
		return abd_equal_off(
			dedupe_set.side[0][file], dedupe_set.side[1][file], a_off, b_off, STEP);
	for (size_t end = a_off + STEP; a_off < end;) {
		size_t a = PAGE - a_off % PAGE, b = PAGE - b_off % PAGE, size = a < b ? a : b;

		size = size < end - a_off ? size : end - a_off;
		if (!dedupe_same[way](dedupe_at(0, file, a_off), dedupe_at(1, file, b_off), size))
			return false;
		a_off += size;
		b_off += size;
	}
	return true;
}

static void dedupe_step(unsigned way)
{
	size_t file = dedupe.step / STEPS % dedupe_set.files, off = dedupe.step++ % STEPS * STEP;
	char *other = NULL;

	if (dedupe.differ) {
		other = dedupe_at(1, file,
			dedupe_set.offset[1] + off + abd_perf_random_below(&dedupe.random, STEP));
		*other ^= 1;
	}
	dedupe.wrong += dedupe_equal(way, file, dedupe_set.offset[0] + off,
				dedupe_set.offset[1] + off) != (other == NULL);
	if (other != NULL)
		*other ^= 1;
}

static double dedupe_run(void *arg, uint64_t iterations)
{
	unsigned way = *(const unsigned *)arg;
	double start = abd_perf_clock_ns();

	for (; iterations > 0; iterations--)
		dedupe_step(way);
	return abd_perf_clock_ns() - start;
}

/* Whether every way finds every step equal; and, of one in sixteen, finds the byte that differs. */
static bool dedupe_right(bool plant)
{
	size_t bug = 0;

	*dedupe_at(1, dedupe_set.files / 2, FILE_SIZE / 2) ^= plant;
	for (dedupe.step = 0; dedupe.step < dedupe_set.files * STEPS * WAYS;) {
		dedupe.differ = dedupe.step / WAYS % 16 == 0;
		dedupe_step((unsigned)(dedupe.step / (dedupe_set.files * STEPS)));
	}
	dedupe.differ = false;
	for (size_t i = 0; i < dedupe_set.files * STEPS; i++) {
		size_t off = i % STEPS * STEP;

		bug += dedupe_equal(
			MEMCMP, i / STEPS, dedupe_set.offset[0] + off, dedupe_set.offset[0] + off);
	}
	/* The patch's bug goes unseen where both sides begin alike, or where all bytes are. */
	return dedupe.wrong == 0 &&
	       (dedupe_set.offset[0] == dedupe_set.offset[1] || bug < dedupe_set.files * STEPS);
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static int dedupe_race(const char *name, bool differ, const struct abd_perf_options *options)
{
	static const struct abd_perf_said said = {"dedupe", 90.7 / 68.9,
		"1m30.7s by bytes, 1m8.9s by words: sys time of duperemove (linux-fsdevel, 2021)"};
	const struct abd_perf_claim claims[] = {
		{WORDS, BYTES, 0, differ || dedupe_set.offset[0] != 0 ? NULL : &said},
		{OURS, BYTES, 0, NULL}, {OURS, MEMCMP, 0, NULL}};
	static const unsigned way[WAYS] = {BYTES, WORDS, MEMCMP, OURS};
	static struct abd_perf_race race;
	struct abd_perf_path path[WAYS] = {{.name = "byte loop"}, {.name = "word loop"},
		{.name = "memcmp"}, {.name = "abd_equal_off"}};

	abd_perf_say_step("%s", name);
	if (!abd_perf_say_wanted())
		return 0;
	if (!dedupe_right(options->plant)) {
		abd_perf_say_warn("%s: %u answers were wrong", name, dedupe.wrong);
		return 1;
	}
	for (unsigned i = 0; i < WAYS; i++) {
		path[i].run = dedupe_run;
		memcpy(&path[i].arg, &(const void *){&way[i]}, sizeof(path[i].arg));
	}
	dedupe.differ = differ;
	if (abd_perf_race_run(&race, path, WAYS, options)) {
		json_t *result = abd_perf_result_add("dedupe", "proof", "%s", name);

		abd_perf_result_text(result, "data", "tree");
		abd_perf_result_text(
			result, "state", abd_perf_env_state(2 * dedupe_set.files * FILE_SIZE));
		abd_perf_result_number(
			result, "set_bytes", (double)(2 * dedupe_set.files * FILE_SIZE));
		abd_perf_result_race(result, &race, path, differ ? 0 : (double)STEP);
		abd_perf_result_claims(result, &race, path, claims, 3);
	}
	return dedupe.wrong != 0;
}

static int dedupe_scenario(const struct abd_perf_options *options)
{
	int status;

	abd_perf_say_begin("dedupe", 3);
	if (!abd_perf_say_wants("aligned") && !abd_perf_say_wants("one byte off") &&
		!abd_perf_say_wants("unaligned"))
		return 0;
	memset(&dedupe, 0, sizeof(dedupe));
	dedupe.random = options->seed;
	if (!dedupe_make(options))
		return ABD_PERF_LEFT_OUT;
	dedupe_offsets(0, 0);
	status = dedupe_race("aligned", false, options);
	if (status == 0 && !abd_perf_say_stopped())
		status = dedupe_race("one byte off", true, options);
	dedupe_offsets(1 + abd_perf_random_below(&dedupe.random, PAGE / 2),
		PAGE / 2 + 1 + abd_perf_random_below(&dedupe.random, PAGE / 2));
	if (status == 0 && !abd_perf_say_stopped())
		status = dedupe_race("unaligned", false, options);
	dedupe_free();
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
