/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Only what surely changed is shown, unless all is asked for: in hundreds of figures, what can't be
 * told from noise hides the rest.
 */
#include "abd_perf_diff.h"
#include "abd_perf_file.h"
#include "abd_perf_say.h"
#include "abd_perf_table.h"
#include "abd_perf_text.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_DIFF_SLOWER 2 /* exit status */

enum { ABD_PERF_DIFF_FAIL = 256, ABD_PERF_DIFF_FILTER, ABD_PERF_DIFF_ALL, ABD_PERF_DIFF_JSON };

struct abd_perf_diff_options {
	const char *path[2];
	unsigned paths;
	const char *filter, *json;
	double fail_if_slower; /* a share; below 0: never */
	bool all;
};

static const struct argp_option abd_perf_diff_table[] = {
	{"fail-if-slower", ABD_PERF_DIFF_FAIL, "PERCENT", 0,
		"Exit with 2 when anything surely became slower or larger, by more than this: 5%",
		0},
	{"filter", ABD_PERF_DIFF_FILTER, "REGEX", 0,
		"Only benchmarks whose \"SCENARIO: NAME, FIGURE\" matches", 0},
	{"all", ABD_PERF_DIFF_ALL, NULL, 0, "Show those that did not surely change, too", 0},
	{"json", ABD_PERF_DIFF_JSON, "FILE", 0, "Also write all of it to FILE", 0},
	{0},
};

static double abd_perf_diff_share(const char *text, struct argp_state *state)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || strcmp(end, "%") != 0 || !(percent >= 0 && percent < 100))
		argp_error(state,
			"--fail-if-slower: '%s' is no share from 0%% to 100%%, such as 5%%", text);
	return percent / 100;
}

static error_t abd_perf_diff_key(int key, char *value, struct argp_state *state)
{
	struct abd_perf_diff_options *options = state->input;

	switch (key) {
	case ABD_PERF_DIFF_FAIL:
		options->fail_if_slower = abd_perf_diff_share(value, state);
		return 0;
	case ABD_PERF_DIFF_FILTER:
		options->filter = value;
		return 0;
	case ABD_PERF_DIFF_ALL:
		options->all = true;
		return 0;
	case ABD_PERF_DIFF_JSON:
		options->json = value;
		return 0;
	case ARGP_KEY_ARG:
		if (options->paths == 2)
			argp_error(state, "two runs are compared, not more");
		options->path[options->paths++] = value;
		return 0;
	case ARGP_KEY_END:
		if (options->paths < 2)
			argp_error(state, "two runs are compared: A.json B.json "
					  "(the scenario of this name: abd-perf run compare)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp abd_perf_diff_argp = {
	.options = abd_perf_diff_table,
	.parser = abd_perf_diff_key,
	.args_doc = "A.json B.json",
	.doc = "What changed from run A to run B: per benchmark the ratio of speeds, B over A, with its interval, what is surest to "
	       "have changed most first.\v"
	       "Examples:\n"
	       "  abd-perf compare before.json after.json\n"
	       "  abd-perf compare main.json change.json --fail-if-slower 5%\n\n"
	       "Exit status: 0; 1 unreadable input; 2 slower than allowed; 64 wrong flags.",
};

/* ---- what is shown --------------------------------------------------------------------------- */

static void abd_perf_diff_print_differences(const struct abd_perf_pairs *pairs)
{
	json_t *differences = abd_perf_pair_differences(pairs), *value;
	const char *name;

	json_object_foreach(differences, name, value)
	{
		char *a = json_dumps(json_array_get(value, 0), JSON_ENCODE_ANY);
		char *b = json_dumps(json_array_get(value, 1), JSON_ENCODE_ANY);
		char fact[64];

		snprintf(fact, sizeof(fact), "%s", name);
		abd_perf_text_whole(fact);
		abd_perf_text_plain(fact);
		if (a != NULL && b != NULL)
			printf("%-16s %s, then %s\n", fact, a, b);
		free(a);
		free(b);
	}
	if (json_object_size(differences) > 0)
		printf("\n");
	json_decref(differences);
}

static void abd_perf_diff_print_pairs(const struct abd_perf_pairs *pairs, bool all)
{
	struct abd_perf_table *table =
		abd_perf_table_make("<benchmark|<path|A|B|<|B over A [95 %]|<");

	for (size_t i = 0; i < pairs->count; i++) {
		const struct abd_perf_pair *pair = &pairs->pair[i];
		const struct abd_perf_ratio ratio = {.value = pair->ratio};

		if (pair->verdict == ABD_PERF_CANT_TELL && !all)
			continue;
		abd_perf_table_cell(table, "%s: %s", pair->scenario, pair->name);
		abd_perf_table_cell(table, "%s", pair->figure);
		abd_perf_table_cell(table, "%.4g", pair->a.median);
		abd_perf_table_cell(table, "%.4g", pair->b.median);
		abd_perf_table_cell(table, "%s", pair->unit);
		abd_perf_table_ratio(table, &ratio);
		abd_perf_table_cell(table, "%s", abd_perf_pair_verdict_text(pair));
	}
	abd_perf_table_print(table);
}

static void abd_perf_diff_print_sum(const struct abd_perf_pairs *pairs)
{
	size_t count[3] = {0};
	double logs = 0;

	for (size_t i = 0; i < pairs->count; i++) {
		count[pairs->pair[i].verdict]++;
		logs += log(pairs->pair[i].ratio.median);
	}
	if (pairs->count == 0)
		printf("The runs have no benchmark in common.\n");
	else if (count[ABD_PERF_FASTER] + count[ABD_PERF_SLOWER] == 0)
		printf("Nothing changed: of %zu benchmarks none differs by more than these rounds can tell, "
		       "or by more than %.1f %%.\n",
			pairs->count, pairs->margin * 100);
	else
		printf("\nOf %zu benchmarks %zu are better, %zu are worse, of %zu one can't tell "
		       "(intervals, and at least %.1f %%);\ngeometric mean of all: %.3f\n",
			pairs->count, count[ABD_PERF_FASTER], count[ABD_PERF_SLOWER],
			count[ABD_PERF_CANT_TELL], pairs->margin * 100,
			exp(logs / (double)pairs->count));
	if (pairs->only_a + pairs->only_b > 0)
		printf("Only in A: %zu; only in B: %zu.\n", pairs->only_a, pairs->only_b);
}

void abd_perf_diff_print(const struct abd_perf_pairs *pairs, bool all)
{
	abd_perf_diff_print_differences(pairs);
	abd_perf_diff_print_pairs(pairs, all);
	abd_perf_diff_print_sum(pairs);
}

/* How many surely became worse, and by more than allowed. */
static size_t abd_perf_diff_slower(const struct abd_perf_pairs *pairs, double allowed)
{
	size_t count = 0;

	for (size_t i = 0; i < pairs->count && allowed >= 0; i++)
		count += pairs->pair[i].verdict == ABD_PERF_SLOWER &&
			 pairs->pair[i].ratio.median < 1 - allowed;
	return count;
}

static int abd_perf_diff_fill(FILE *file, const void *tree)
{
	return json_dumpf(tree, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0 ||
	       fputc('\n', file) == EOF;
}

static void abd_perf_diff_write(const struct abd_perf_pairs *pairs, const char *path)
{
	json_t *tree = abd_perf_pair_json(pairs);
	int error = abd_perf_file_write(path, abd_perf_diff_fill, tree);

	json_decref(tree);
	if (error != 0)
		abd_perf_say_die(1, "--json %s: %s; nothing is left of it", path, strerror(-error));
}

int abd_perf_diff(int argc, char **argv)
{
	struct abd_perf_diff_options options = {.fail_if_slower = -1};
	struct abd_perf_pairs pairs;
	size_t slower;

	argp_parse(&abd_perf_diff_argp, argc, argv, 0, NULL, &options);
	abd_perf_pair_make(&pairs, abd_perf_pair_load(options.path[0]),
		abd_perf_pair_load(options.path[1]), options.filter);
	abd_perf_diff_print(&pairs, options.all);
	if (options.json != NULL)
		abd_perf_diff_write(&pairs, options.json);
	slower = abd_perf_diff_slower(&pairs, options.fail_if_slower);
	if (slower > 0)
		printf("%zu are worse by more than %g %%.\n", slower, options.fail_if_slower * 100);
	abd_perf_pair_free(&pairs);
	return slower > 0 ? ABD_PERF_DIFF_SLOWER : 0;
}
