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
 */
#include "abd_perf_names_way.h"
#include "abd_perf_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- look-ups -------------------------------------------------------------------------------- */

static struct {
	struct abd_perf_names_set set;
	struct abd_perf_names_query *query;
	size_t count, at;
	double bytes;  /* of a name, on average */
	size_t missed; /* look-ups that did not find what they should */
} names;

#define NAMES_WAY(stem)                                                                      \
	static double names_run_##stem(void *arg, uint64_t iterations)                       \
	{                                                                                    \
		double start = abd_perf_clock_ns();                                          \
                                                                                             \
		(void)arg;                                                                   \
		for (; iterations > 0; iterations--) {                                       \
			const struct abd_perf_names_query *query = &names.query[names.at];   \
                                                                                             \
			names.missed += names_find(&names.set, names.set.text + query->path, \
						query->length, query->parent,                \
						names_equal_##stem) != query->wanted;        \
			names.at = names.at + 1 < names.count ? names.at + 1 : 0;            \
		}                                                                            \
		return abd_perf_clock_ns() - start;                                          \
	}

NAMES_WAY(bytes)
NAMES_WAY(cmpsb)
NAMES_WAY(words)
NAMES_WAY(memcmp)
NAMES_WAY(ours)

enum { BYTES, WORDS, MEMCMP, OURS, CMPSB, NAMES_WAYS };

static const struct {
	const char *name;
	double (*run)(void *arg, uint64_t iterations);
	names_equal_t *equal;
} names_way[NAMES_WAYS] = {{"byte loop", names_run_bytes, names_equal_bytes},
	{"masked words", names_run_words, names_equal_words},
	{"memcmp", names_run_memcmp, names_equal_memcmp},
	{"abd_key_equal", names_run_ours, names_equal_ours},
	{"repe cmpsb", names_run_cmpsb, names_equal_cmpsb}};

/* ---- whether all ways find all names --------------------------------------------------------- */

/* Every way finds every name equal to the table's, and no longer with a byte of it changed. */
static bool names_right(bool plant, uint64_t random)
{
	unsigned char other[320];
	bool right = true;

	((unsigned char *)(names.set.words + names.set.entry[names.set.entries - 1].name))[0] ^=
		plant;
	for (size_t i = 1; i < names.set.entries && right; i++) {
		const struct abd_perf_names_entry *entry = &names.set.entry[i];
		const unsigned char *stored = (unsigned char *)(names.set.words + entry->name);

		memcpy(other, names.set.text + entry->path, entry->length);
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

static const char *const names_text[ABD_PERF_NAMES_LENGTHS + 1] = {"1 to 8 bytes", "9 to 16 bytes",
	"17 to 24 bytes", "25 to 32 bytes", "33 to 40 bytes", "41 to 48 bytes", "49 to 56 bytes",
	"57 to 64 bytes", "any length"};
static struct abd_perf_race names_race[ABD_PERF_NAMES_LENGTHS + 1];
static double names_mean[ABD_PERF_NAMES_LENGTHS]; /* bytes of a class's names */

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

/* Look up so many of a class from now on. Returns how many it has. */
static size_t names_draw(unsigned class, size_t most, uint64_t random)
{
	size_t found = abd_perf_names_draw(&names.set, class, most, random, names.query);

	names.at = 0;
	names.count = found < most ? found : most;
	names.bytes = 0;
	for (size_t i = 0; i < names.count; i++)
		names.bytes += (double)names.query[i].length / (double)names.count;
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
	double ns[ABD_PERF_NAMES_LENGTHS];
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

static bool names_wanted(void)
{
	bool wanted = false;

	for (unsigned i = 0; i <= ABD_PERF_NAMES_LENGTHS; i++)
		wanted |= abd_perf_say_wants("names of %s", names_text[i]);
	return wanted;
}

static void names_races(const struct abd_perf_options *options)
{
	size_t least = options->mode == ABD_PERF_QUICK ? 2048 : 8192;
	unsigned classes = 0, rounds = ABD_PERF_ROUNDS_MAX; /* those that all classes have */

	names_draw(ABD_PERF_NAMES_LENGTHS, names.set.entries, options->seed);
	names_measure(
		&names_race[ABD_PERF_NAMES_LENGTHS], names_text[ABD_PERF_NAMES_LENGTHS], options);
	for (unsigned i = 0; i < ABD_PERF_NAMES_LENGTHS; i++) {
		size_t found = names_draw(i, 1, options->seed);

		least = found >= NAMES_LEAST && found < least ? found : least;
	}
	for (unsigned i = 0; i < ABD_PERF_NAMES_LENGTHS && !abd_perf_say_stopped(); i++) {
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
	const char *root = options->input != NULL ? options->input : "/usr";
	int status = 1;

	abd_perf_say_begin("names", ABD_PERF_NAMES_LENGTHS + 1);
	if (!names_wanted())
		return 0;
	if (!abd_perf_names_make(&names.set, root, 1 << (options->quick ? 17 : 20)))
		return ABD_PERF_LEFT_OUT;
	if (names.set.entries < 100000)
		abd_perf_say_warn("names: %s holds %zu: fewer than 100,000 may be learnt by heart",
			root, names.set.entries - 1);
	names.query = calloc(names.set.entries, sizeof(*names.query));
	if (names.query == NULL)
		abd_perf_say_die(1, "no memory for %zu look-ups", names.set.entries);
	names.missed = 0;
	if (names_right(options->plant, options->seed)) {
		names_races(options);
		status = names.missed > 0;
	}
	if (status != 0)
		abd_perf_say_warn("names: a way to compare did not find what is there");
	free(names.query);
	abd_perf_names_free(&names.set);
	return status;
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
