/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names: looking up the names of a real tree in a hash table that has them, by ways to compare a
 * name.
 *
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", December 2010.
 * A git diff looks up every name of a tree in the dentry cache. `rep cmpsb` is slow to start; words
 * with a masked tail took a look-up from 10 cycles for each byte of its name to 8, where hashing
 * the name byte by byte is included, as it is here.
 *
 * The names have their own lengths: at least 100,000 of /usr, if there are so many. All of them are
 * looked up in a random order; then, to tell what a look-up takes from what a byte takes, those of
 * similar length by themselves, as many of each as there are of the rarest, up to 8,192. A line
 * through these gives both. The set is as warm as the source's: looked up again and again.
 *
 * abd_perf_tree.h describes the table, abd_perf_names_way.h the ways.
 */
#include "abd_perf_data.h"
#include "abd_perf_names_way.h"
#include "abd_perf_scenario.h"

#include <stdlib.h>
#include <string.h>

/* Every way finds every name equal to the table's, and no longer with a byte of it changed. */
static bool names_right(bool plant, uint64_t random)
{
	unsigned char other[320];
	bool right = true;

	((unsigned char *)(tree.words + tree.entry[tree.entries - 1].name))[0] ^= plant;
	for (size_t i = 1; i < tree.entries && right; i++) {
		const struct abd_perf_tree_entry *entry = &tree.entry[i];
		const unsigned char *stored = (unsigned char *)(tree.words + entry->name);

		memcpy(other, tree.text + entry->path, entry->length);
		memset(other + entry->length, 0x5a, 8); /* what follows a name does not matter */
		for (unsigned way = 0; way < NAMES_WAYS; way++)
			right = right && names_way[way].equal(other, stored, entry->length);
		other[abd_perf_random_below(&random, entry->length)] ^= 0x20;
		for (unsigned way = 0; way < NAMES_WAYS; way++)
			right = right && !names_way[way].equal(other, stored, entry->length);
	}
	return right;
}

/* ---- races, and what a byte takes ------------------------------------------------------------ */

#define NAMES_SHORT 4    /* bytes */
#define NAMES_LEAST 1024 /* names that a class needs */

enum { NAMES_CLASSES = 8 }; /* of 1 to 8 bytes, of 9 to 16, to 64 */

static const char *const names_text[NAMES_CLASSES + 1] = {"1 to 8 bytes", "9 to 16 bytes",
	"17 to 24 bytes", "25 to 32 bytes", "33 to 40 bytes", "41 to 48 bytes", "49 to 56 bytes",
	"57 to 64 bytes", "any length"};
static struct abd_perf_race names_race[NAMES_CLASSES + 1];
static double names_mean[NAMES_CLASSES]; /* bytes of a class's names */

/* Race what was drawn. False: it was not measured. */
static bool names_measure(
	struct abd_perf_race *race, const char *text, const struct abd_perf_options *options)
{
	static const struct abd_perf_claim claims[] = {{OURS, BYTES, 0, NULL},
		{OURS, MEMCMP, 0, NULL}, {OURS, CMPSB, 0, NULL}, {WORDS, CMPSB, 0, NULL}};
	struct abd_perf_path path[NAMES_WAYS];
	json_t *result;

	abd_perf_say_step("names of %s", text);
	for (unsigned i = 0; i < NAMES_WAYS; i++)
		path[i] = (struct abd_perf_path){names_way[i].name, names_way[i].run, NULL};
	if (!abd_perf_race_run(race, path, NAMES_WAYS - !NAMES_CMPSB, options))
		return false;
	result = abd_perf_result_add("names", "lookup", "%s", text);
	abd_perf_result_text(result, "state", "warm");
	abd_perf_result_number(result, "names", (double)names.count);
	abd_perf_result_number(result, "bytes", names.bytes);
	abd_perf_result_race(result, race, path, 0);
	abd_perf_result_claims(result, race, path, claims, NAMES_CMPSB ? 4 : 2);
	return true;
}

/*
 * Draw the names of a class that are looked up from now on, NAMES_CLASSES: of any length, in a
 * random order. Returns how many it has.
 */
static size_t names_draw(unsigned class, size_t most, uint64_t random)
{
	size_t found = 0;

	names.at = names.count = 0;
	names.bytes = 0;
	for (uint32_t i = 1; i < tree.entries; i++) {
		const struct abd_perf_tree_entry *entry = &tree.entry[i];

		if (class != NAMES_CLASSES && (entry->length - 1) / 8 != class)
			continue;
		/* Into a place among those before it, which moves to the end: a shuffle. */
		size_t at = abd_perf_random_below(&random, ++found);

		names.query[found - 1] = names.query[at];
		names.query[at] =
			(struct names_query){entry->path, entry->length, entry->parent, i};
	}
	for (; names.count < found && names.count < most; names.count++)
		names.bytes += names.query[names.count].length;
	names.bytes /= (double)(names.count > 0 ? names.count : 1);
	return found;
}

/* A round that was disturbed may have a line that falls, and has no part in what follows. */
static void names_add_lines(unsigned classes, unsigned rounds)
{
	static const struct abd_perf_said said = {"names", 10 / 8.,
		"10 cycles for each byte with rep cmpsb, 8 by masked words (linux-kernel, 2010)"};
	static double byte[NAMES_WAYS][ABD_PERF_ROUNDS_MAX], few[NAMES_WAYS][ABD_PERF_ROUNDS_MAX];
	static double ratio[2][ABD_PERF_ROUNDS_MAX];
	unsigned ways = names_race[0].paths, sound = 0;
	double ns[NAMES_CLASSES];
	json_t *result;

	for (unsigned i = 0; i < rounds; i++) {
		bool rises = true;

		for (unsigned way = 0; way < ways; way++) {
			for (unsigned j = 0; j < classes; j++)
				ns[j] = names_race[j].ns[way][i];
			byte[way][sound] = abd_perf_stat_line(
				names_mean, ns, classes, NAMES_SHORT, &few[way][sound]);
			rises = rises && byte[way][sound] > 0 && few[way][sound] > 0;
		}
		ratio[0][sound] = byte[CMPSB][sound] / byte[WORDS][sound];
		ratio[1][sound] = few[CMPSB][sound] / few[WORDS][sound];
		sound += rises;
	}
	for (unsigned i = 0; i < 2 && sound > 0; i++) {
		result = abd_perf_result_add(
			"names", "line", i == 0 ? "a byte" : "a look-up of 4 bytes");
		for (unsigned way = 0; way < ways; way++)
			abd_perf_result_figure(result, names_way[way].name, "ns",
				abd_perf_stat(i == 0 ? byte[way] : few[way], sound));
		if (NAMES_CMPSB)
			abd_perf_result_ratio(result, names_way[WORDS].name, names_way[CMPSB].name,
				abd_perf_stat(ratio[i], sound), 0, i == 0 ? &said : NULL);
	}
}

static void names_races(const struct abd_perf_options *options)
{
	size_t least = options->mode == ABD_PERF_QUICK ? 2048 : 8192;
	unsigned classes = 0, rounds = ABD_PERF_ROUNDS_MAX; /* those that all classes have */

	names_draw(NAMES_CLASSES, tree.entries, options->seed);
	names_measure(&names_race[NAMES_CLASSES], names_text[NAMES_CLASSES], options);
	for (unsigned i = 0; i < NAMES_CLASSES; i++) {
		size_t found = names_draw(i, 1, options->seed);

		least = found >= NAMES_LEAST && found < least ? found : least;
	}
	for (unsigned i = 0; i < NAMES_CLASSES && !abd_perf_say_stopped(); i++) {
		if (names_draw(i, least, options->seed) < NAMES_LEAST)
			continue;
		names_mean[classes] = names.bytes;
		if (!names_measure(&names_race[classes], names_text[i], options))
			continue;
		rounds = names_race[classes].rounds < rounds ? names_race[classes].rounds : rounds;
		classes++;
	}
	if (classes >= 3)
		names_add_lines(classes, rounds);
}

static int names_scenario(const struct abd_perf_options *options)
{
	const char *root = abd_perf_files_root(options);
	bool wanted = false, right;

	abd_perf_say_begin("names", NAMES_CLASSES + 1);
	for (unsigned i = 0; i <= NAMES_CLASSES; i++)
		wanted |= abd_perf_say_wants("names of %s", names_text[i]);
	if (!wanted)
		return 0;
	if (!abd_perf_tree_make(&tree, root, 1 << (options->quick ? 17 : 20))) {
		abd_perf_say_warn("names is left out: %s holds no names", root);
		return ABD_PERF_LEFT_OUT;
	}
	if (tree.entries < 100000)
		abd_perf_say_warn("names: %s holds %zu: fewer than 100,000 may be learnt by heart",
			root, tree.entries - 1);
	names.query = calloc(tree.entries, sizeof(*names.query));
	if (names.query == NULL)
		abd_perf_say_die(1, "no memory to look up %zu names", tree.entries - 1);
	names.missed = 0;
	right = names_right(options->plant, options->seed);
	if (right)
		names_races(options);
	right = right && names.missed == 0;
	if (!right)
		abd_perf_say_warn("names: a way to compare did not find what is there");
	free(names.query);
	abd_perf_tree_free(&tree);
	return !right;
}

const struct abd_perf_scenario abd_perf_names = {
	.name = "names",
	.summary =
		"looking up a tree's names in a hash table, by ways to compare them and by length",
	.uses = ABD_PERF_USES_INPUT,
	.normal_s = 3,
	.full_s = 12,
	.claim = {"names: .*", 3},
	.headline = {"names: .*", 3, 3},
	.run = names_scenario,
};
