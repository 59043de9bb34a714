/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of one length, in first-level cache: one side as it lies in paths, at any address, the
 * other as it is stored. A long list says which pair comes next, so that not even mixed lengths
 * repeat soon enough to be learnt.
 */
#include "abd_perf_names_length.h"
#include "abd_perf_clock.h"
#include "abd_perf_names_compare.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_stop.h"
#include "abd_perf_table.h"

#include <stdio.h>
#include <stdlib.h>

#define ABD_PERF_PAIRS 128 /* 19 KiB: fits every first-level cache */
#define ABD_PERF_PICKS 8192

/* Rows beside those of one length. */
enum { ABD_PERF_LENGTH_MIXED = 0, ABD_PERF_LENGTH_TREE = ABD_PERF_NAMES_LENGTH_MAX + 1 };

static struct {
	/* up to 7 bytes, the name, a slash, and room for a load */
	uint8_t path[ABD_PERF_PAIRS][80];
	uint64_t stored[ABD_PERF_PAIRS][ABD_PERF_NAMES_LENGTH_MAX / 8 + 1];
	uint8_t at[ABD_PERF_PAIRS];
	uint8_t length[ABD_PERF_PAIRS];
	uint8_t pick[ABD_PERF_PICKS];
	size_t errors;
} pairs;

/* ---- what is timed --------------------------------------------------------------------------- */

static void abd_perf_length_count(uint64_t wrong)
{
	pairs.errors += wrong;
}

/* Comparing alone: where the name is and how long it is are known. */
#define ABD_PERF_LENGTH_COMPARE(stem)                                                        \
	static double abd_perf_length_##stem(void *arg, uint64_t iterations)                 \
	{                                                                                    \
		double start = abd_perf_clock_ns();                                          \
		uint64_t equal = 0;                                                          \
                                                                                             \
		(void)arg;                                                                   \
		for (uint64_t i = 0; i < iterations; i++) {                                  \
			unsigned pair = pairs.pick[i % ABD_PERF_PICKS];                      \
			struct abd_perf_name name = {.p = pairs.path[pair] + pairs.at[pair], \
				.length = pairs.length[pair]};                               \
                                                                                             \
			equal += abd_perf_name_equal_##stem(                                 \
				&name, (const uint8_t *)pairs.stored[pair]);                 \
		}                                                                            \
                                                                                             \
		double ns = abd_perf_clock_ns() - start;                                     \
                                                                                             \
		abd_perf_length_count(iterations - equal);                                   \
		return ns;                                                                   \
	}

/* Finding the end and hashing, and comparing, too. */
#define ABD_PERF_LENGTH_SPLIT(stem, how, compare)                                               \
	static double abd_perf_length_##stem(void *arg, uint64_t iterations)                    \
	{                                                                                       \
		double start = abd_perf_clock_ns();                                             \
		uint64_t equal = 0;                                                             \
                                                                                                \
		(void)arg;                                                                      \
		for (uint64_t i = 0; i < iterations; i++) {                                     \
			unsigned pair = pairs.pick[i % ABD_PERF_PICKS];                         \
			struct abd_perf_name name;                                              \
                                                                                                \
			abd_perf_name_split_##how(&name, pairs.path[pair] + pairs.at[pair], 0); \
			abd_perf_keep((const void *)(uintptr_t)name.hash);                      \
			equal += name.length == pairs.length[pair] &&                           \
				 abd_perf_name_equal_##compare(                                 \
					 &name, (const uint8_t *)pairs.stored[pair]);           \
		}                                                                               \
                                                                                                \
		double ns = abd_perf_clock_ns() - start;                                        \
                                                                                                \
		abd_perf_length_count(iterations - equal);                                      \
		return ns;                                                                      \
	}

ABD_PERF_LENGTH_COMPARE(bytes)
ABD_PERF_LENGTH_COMPARE(cmpsb)
ABD_PERF_LENGTH_COMPARE(libc)
ABD_PERF_LENGTH_COMPARE(masked)
ABD_PERF_LENGTH_COMPARE(ours)
ABD_PERF_LENGTH_SPLIT(split, bytes, none)
ABD_PERF_LENGTH_SPLIT(both, bytes, bytes)
ABD_PERF_LENGTH_SPLIT(pass, keep, kept)

static const struct abd_perf_path abd_perf_length_paths[] = {
	{"byte loop", abd_perf_length_bytes, NULL},
	{"rep cmpsb", abd_perf_length_cmpsb, NULL},
	{"memcmp", abd_perf_length_libc, NULL},
	{"masked words", abd_perf_length_masked, NULL},
	{"ours", abd_perf_length_ours, NULL},
	{"split + hash", abd_perf_length_split, NULL},
	{"all by bytes", abd_perf_length_both, NULL},
	{"all in one pass", abd_perf_length_pass, NULL},
};

#define ABD_PERF_LENGTH_PATHS (sizeof(abd_perf_length_paths) / sizeof(abd_perf_length_paths[0]))

/* ---- pairs ----------------------------------------------------------------------------------- */

/*
 * The length of a component of the tree, drawn as often as it is looked up: every place in all the
 * paths is as likely, and those where a component begins count. Longer ones than there is room for
 * are not taken.
 */
static unsigned abd_perf_length_of_tree(const struct abd_perf_names_set *set, uint64_t *random)
{
	for (unsigned tries = 0; tries < 10000; tries++) {
		size_t begin = abd_perf_random_below(random, set->text_size), length;

		if (begin > 0 && set->text[begin - 1] != '/' && set->text[begin - 1] != '\0')
			continue;
		length = strcspn((const char *)set->text + begin, "/");
		if (length > 0 && length <= ABD_PERF_NAMES_LENGTH_MAX)
			return (unsigned)length;
	}
	return 1;
}

static void abd_perf_length_pair(unsigned pair, unsigned length, uint64_t *random)
{
	uint8_t *p;

	memset(pairs.path[pair], '/', sizeof(pairs.path[pair]));
	memset(pairs.stored[pair], 0, sizeof(pairs.stored[pair]));
	pairs.at[pair] = (uint8_t)abd_perf_random_below(random, 8);
	pairs.length[pair] = (uint8_t)length;
	p = pairs.path[pair] + pairs.at[pair];
	for (unsigned i = 0; i < length; i++)
		p[i] = (uint8_t)('a' + abd_perf_random_below(random, 26));
	memcpy(pairs.stored[pair], p, length);
}

static void abd_perf_length_prepare(
	unsigned row, const struct abd_perf_names_set *set, uint64_t *random)
{
	for (unsigned i = 0; i < ABD_PERF_PAIRS; i++) {
		unsigned length = row;

		if (row == ABD_PERF_LENGTH_MIXED)
			length = 1 +
				 (unsigned)abd_perf_random_below(random, ABD_PERF_NAMES_LENGTH_MAX);
		else if (row == ABD_PERF_LENGTH_TREE)
			length = abd_perf_length_of_tree(set, random);
		abd_perf_length_pair(i, length, random);
	}
	for (unsigned i = 0; i < ABD_PERF_PICKS; i++)
		pairs.pick[i] = (uint8_t)abd_perf_random_below(random, ABD_PERF_PAIRS);
}

/* ---- whether they agree ---------------------------------------------------------------------- */

static bool abd_perf_length_agree(
	const struct abd_perf_name *name, const uint8_t *stored, bool equal)
{
	struct abd_perf_name kept;
	bool right;

	abd_perf_name_split_keep(&kept, name->p, 0);
	right = abd_perf_name_equal_bytes(name, stored) == equal &&
		abd_perf_name_equal_libc(name, stored) == equal &&
		abd_perf_name_equal_masked(name, stored) == equal &&
		abd_perf_name_equal_ours(name, stored) == equal &&
		(!ABD_PERF_NAMES_HAVE_CMPSB || abd_perf_name_equal_cmpsb(name, stored) == equal) &&
		kept.length == name->length && abd_perf_name_equal_kept(&kept, stored) == equal;
	if (!right)
		abd_perf_say_warn("methods don't agree about names of %u bytes", name->length);
	return right;
}

bool abd_perf_names_length_check(void)
{
	uint64_t random = 1;

	for (unsigned length = 1; length <= ABD_PERF_NAMES_LENGTH_MAX; length++) {
		uint8_t *stored = (uint8_t *)pairs.stored[0];
		struct abd_perf_name name = {.length = length};

		abd_perf_length_pair(0, length, &random);
		name.p = pairs.path[0] + pairs.at[0];
		if (!abd_perf_length_agree(&name, stored, true))
			return false;
		for (unsigned i = 0; i < length; i++) {
			bool agree;

			stored[i] ^= 0x80;
			agree = abd_perf_length_agree(&name, stored, false);
			stored[i] ^= 0x80;
			if (!agree)
				return false;
		}
	}
	return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* All lengths, or those around the steps of 8, 16, 32 and 64. */
static bool abd_perf_length_wanted(unsigned length, const struct abd_perf_options *options)
{
	static const uint8_t few[] = {1, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64};

	return !options->quick || memchr(few, (int)length, sizeof(few)) != NULL;
}

unsigned abd_perf_names_length_steps(const struct abd_perf_options *options)
{
	unsigned steps = 2;

	for (unsigned length = 1; length <= ABD_PERF_NAMES_LENGTH_MAX; length++)
		steps += abd_perf_length_wanted(length, options);
	return steps;
}

static void abd_perf_length_race(
	unsigned row, const struct abd_perf_names_set *set, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_path path[ABD_PERF_LENGTH_PATHS];
	struct abd_perf_result *result;
	uint64_t random = options->seed;
	char text[24] = "1 to 64, mixed";
	unsigned paths = 0;

	if (row == ABD_PERF_LENGTH_TREE)
		strcpy(text, "as in the tree");
	else if (row != ABD_PERF_LENGTH_MIXED)
		snprintf(text, sizeof(text), "%u", row);
	abd_perf_say_step("names of %s bytes", text);
	abd_perf_length_prepare(row, set, &random);
	for (unsigned i = 0; i < ABD_PERF_LENGTH_PATHS; i++) {
		if (ABD_PERF_NAMES_HAVE_CMPSB ||
			abd_perf_length_paths[i].run != abd_perf_length_cmpsb)
			path[paths++] = abd_perf_length_paths[i];
	}
	if (!abd_perf_race_run(&race, path, paths, options))
		return;
	result = abd_perf_result_add("names", "length", "names of %s bytes", text);
	abd_perf_result_number(result, "length", row <= ABD_PERF_NAMES_LENGTH_MAX ? row : 0);
	abd_perf_result_text(result, "lengths", text);
	for (unsigned i = 0; i < paths; i++)
		abd_perf_result_figure(result, path[i].name, "ns", abd_perf_race_ns(&race, i));
}

/* Over the lengths, each counted once: the mean of the medians, and the largest with its length. */
static void abd_perf_length_summarise(void)
{
	double sum[ABD_PERF_LENGTH_PATHS] = {0}, worst[ABD_PERF_LENGTH_PATHS] = {0};
	unsigned lengths = 0;

	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (strcmp(result->scenario, "names") != 0 ||
			strcmp(result->group, "length") != 0 ||
			abd_perf_result_find(result, "length")->number == 0)
			continue;
		lengths++;
		for (unsigned j = 0; j < ABD_PERF_LENGTH_PATHS; j++) {
			const struct abd_perf_figure *figure =
				abd_perf_result_find_figure(result, abd_perf_length_paths[j].name);
			double ns = figure != NULL ? figure->value.median : 0;

			sum[j] += ns;
			worst[j] = ns > worst[j] ? ns : worst[j];
		}
	}
	for (unsigned row = 0; row < 2 && lengths > 0; row++) {
		struct abd_perf_result *result =
			abd_perf_result_add("names", "length", row == 0 ? "average" : "worst");

		abd_perf_result_number(result, "length", 0);
		abd_perf_result_text(
			result, "lengths", row == 0 ? "average of lengths" : "worst length");
		for (unsigned j = 0; j < ABD_PERF_LENGTH_PATHS; j++) {
			double value = row == 0 ? sum[j] / lengths : worst[j];

			if (value > 0)
				abd_perf_result_figure(result, abd_perf_length_paths[j].name, "ns",
					abd_perf_stat(&value, 1));
		}
	}
}

int abd_perf_names_length_run(
	const struct abd_perf_names_set *set, const struct abd_perf_options *options)
{
	abd_perf_length_race(ABD_PERF_LENGTH_TREE, set, options);
	if (!abd_perf_stop_wanted())
		abd_perf_length_race(ABD_PERF_LENGTH_MIXED, set, options);
	for (unsigned length = 1; length <= ABD_PERF_NAMES_LENGTH_MAX && !abd_perf_stop_wanted();
		length++) {
		if (abd_perf_length_wanted(length, options))
			abd_perf_length_race(length, set, options);
	}
	abd_perf_length_summarise();
	if (pairs.errors == 0)
		return 0;
	abd_perf_say_warn("%zu equal names were found unequal while measuring", pairs.errors);
	return 1;
}

/* Of averages and worsts there is one each: no spread. */
static void abd_perf_length_cell(struct abd_perf_table *table, const struct abd_perf_figure *figure)
{
	if (figure != NULL && figure->value.rounds == 1)
		abd_perf_table_cell(table, "%.2f", figure->value.median);
	else
		abd_perf_table_figure(table, figure);
}

void abd_perf_names_length_print(void)
{
	struct abd_perf_table *table =
		abd_perf_table_make("<bytes|byte loop|rep cmpsb|memcmp|masked words|ours|split + "
				    "hash|all by bytes|all in one pass");

	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (strcmp(result->scenario, "names") != 0 || strcmp(result->group, "length") != 0)
			continue;
		abd_perf_table_cell(table, "%s", abd_perf_result_find(result, "lengths")->text);
		for (unsigned j = 0; j < ABD_PERF_LENGTH_PATHS; j++)
			abd_perf_length_cell(table,
				abd_perf_result_find_figure(result, abd_perf_length_paths[j].name));
	}
	printf("\nnames: comparing an equal name by its length, ns; the last three: to find its "
	       "end and hash it a byte at a time; the "
	       "same and compare;\nall of it in one pass of 8-byte loads\n");
	abd_perf_table_print(table);
}
