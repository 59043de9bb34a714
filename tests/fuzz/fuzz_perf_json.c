/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: what `abd-perf compare` does with two files: reads, pairs, judges and prints
 * them, and makes a tree of it. An input that begins with a brace is both texts, with a line "---"
 * between them, or one to be compared with itself; another one is a few changes and a list of
 * choices: one file is made from the list (fuzz_perf_json.h), the other from the list as changed,
 * since two runs of one program have most benchmarks in common.
 * Invariant: files are refused with a reason or compared; what is printed is UTF-8; every pair is
 * in the tree; a run does not differ from itself.
 */
#include "fuzz_perf_json.h"

#include "abd_perf_diff.h"
#include "abd_perf_pair.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIST = 4096 };

static const char *const filters[] = {NULL, "", "equal|libc", "^arc-read: .*, ", "size [0-9]+"};

/* A file in memory, to be read by its name. */
static json_t *load(unsigned which, const char *text, size_t size)
{
	static int file[2] = {-1, -1};
	char path[64], fault[JSON_ERROR_TEXT_LENGTH] = "";
	json_t *document;

	if (file[which] < 0)
		file[which] = memfd_create("run", 0);
	fuzz_check(ftruncate(file[which], 0) == 0 &&
			   pwrite(file[which], text, size, 0) == (ssize_t)size,
		"%zu bytes", size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file[which]);
	document = abd_perf_pair_read(path, fault, sizeof(fault));
	fuzz_check((document == NULL) == (*fault != '\0'), "'%s'", fault);
	return document;
}

/* What would go to the terminal. */
static void print(const struct abd_perf_pairs *pairs)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = stdout;
	json_t *string;

	stdout = open_memstream(&text, &size);
	abd_perf_diff_print(pairs, pairs->count % 4 != 0);
	fclose(stdout);
	stdout = out;
	string = json_stringn(text, size);
	fuzz_check(string != NULL, "not UTF-8: %s", text);
	for (size_t i = 0; i < size; i++)
		fuzz_check((unsigned char)text[i] >= ' ' || text[i] == '\n', "sign %d printed",
			text[i]);
	json_decref(string);
	free(text);
}

static void check_pairs(const struct abd_perf_pairs *pairs)
{
	json_t *tree = abd_perf_pair_json(pairs);

	fuzz_check(json_array_size(json_object_get(tree, "pairs")) == pairs->count,
		"a tree without some of %zu pairs", pairs->count);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct abd_perf_summary *ratio = &pairs->pair[i].ratio;

		fuzz_check(ratio->low > 0 && ratio->low <= ratio->median &&
				   ratio->median <= ratio->high && isfinite(ratio->high),
			"%g [%g, %g]", ratio->median, ratio->low, ratio->high);
		fuzz_check(i == 0 || pairs->pair[i - 1].weight >= pairs->pair[i].weight,
			"pair %zu is more important", i);
	}
	json_decref(tree);
	print(pairs);
}

static void check_same(json_t *a)
{
	struct abd_perf_pairs pairs;

	abd_perf_pair_make(&pairs, json_incref(a), json_incref(a), NULL);
	for (size_t i = 0; i < pairs.count; i++)
		fuzz_check(pairs.pair[i].verdict == ABD_PERF_CANT_TELL, "%s: %s",
			pairs.pair[i].name, abd_perf_pair_verdict_text(&pairs.pair[i]));
	fuzz_check(pairs.only_a + pairs.only_b == 0, "%zu, %zu", pairs.only_a, pairs.only_b);
	abd_perf_pair_free(&pairs);
}

/*
 * Every benchmark of a is paired, or only there, or has no proper interval; and the other way
 * round.
 */
static void compare(json_t *a, json_t *b, const char *filter)
{
	struct abd_perf_pairs pairs, back;

	abd_perf_pair_make(&pairs, json_incref(a), json_incref(b), filter);
	abd_perf_pair_make(&back, json_incref(b), json_incref(a), filter);
	check_pairs(&pairs);
	fuzz_check(pairs.only_a == back.only_b && pairs.only_b == back.only_a,
		"%zu and %zu, then %zu and %zu", pairs.only_a, pairs.only_b, back.only_a,
		back.only_b);
	abd_perf_pair_free(&pairs);
	abd_perf_pair_free(&back);
}

/* Two texts, or one that is both. */
static void take_texts(const uint8_t *data, size_t size, const char *text[2], size_t length[2])
{
	const char *between = memmem(data, size, "\n---\n", 5);

	text[0] = text[1] = (const char *)data;
	length[0] = length[1] = size;
	if (between == NULL)
		return;
	length[0] = (size_t)(between - text[0]);
	text[1] = between + 5;
	length[1] = size - length[0] - 5;
}

/* How many changes, the changes (where, two bytes, and to what), and the list. */
static void make_texts(const uint8_t *data, size_t size, const char *text[2], size_t length[2])
{
	static char made[2][FUZZ_JSON_ROOM];
	static uint8_t list[LIST];
	struct fuzz_input in = {data, data + size}, changes, choices;
	unsigned count = fuzz_byte(&in) % 8;

	changes = in;
	for (unsigned i = 0; i < 3 * count; i++)
		fuzz_byte(&in);
	size = (size_t)(in.end - in.next) < LIST ? (size_t)(in.end - in.next) : LIST;
	memcpy(list, in.next, size);
	for (unsigned i = 0; i < 2; i++) {
		choices = (struct fuzz_input){list, list + size};
		length[i] = fuzz_json_document(&choices, made[i]);
		text[i] = made[i];
		for (; i == 0 && count > 0 && size > 0; count--) {
			size_t at = fuzz_below(&changes, size);

			list[at] = fuzz_byte(&changes);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned filter = size > 0 ? data[size - 1] : 0;
	const char *text[2];
	size_t length[2];
	json_t *document[2];

	if (size > 0 && *data == '{')
		take_texts(data, size, text, length);
	else
		make_texts(data, size, text, length);
	for (unsigned i = 0; i < 2; i++)
		document[i] = load(i, text[i], length[i]);
	if (document[0] != NULL)
		check_same(document[0]);
	if (document[0] != NULL && document[1] != NULL)
		compare(document[0], document[1],
			filters[filter % (sizeof(filters) / sizeof(*filters))]);
	json_decref(document[0]);
	json_decref(document[1]);
	return 0;
}
