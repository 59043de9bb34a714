/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the tree that abd_perf_json.h describes, with jansson.
 */
#include "abd_perf_json.h"
#include "abd_perf_env.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *abd_perf_json_options(const struct abd_perf_options *options)
{
	return json_pack("{s:s, s:I, s:i, s:f, s:f, s:o, s:o}", "mode",
		abd_perf_options_mode_text(options->mode), "seed", (json_int_t)options->seed,
		"rounds", (int)abd_perf_options_rounds(options), "runtime_s", options->runtime_s,
		"warmup_s", options->warmup_s > 0 ? options->warmup_s : 0.0, "input",
		options->input != NULL ? abd_perf_result_string(options->input) : json_null(),
		"filter",
		options->filter != NULL ? abd_perf_result_string(options->filter) : json_null());
}

static json_t *abd_perf_json_more; /* results of other processes */

bool abd_perf_json_add(const char *text)
{
	json_t *tree = json_loads(text, 0, NULL), *results = json_object_get(tree, "results");

	if (abd_perf_json_more == NULL)
		abd_perf_json_more = json_array();
	if (results != NULL)
		json_array_append(abd_perf_json_more, results);
	json_decref(tree);
	return results != NULL;
}

static json_t *abd_perf_json_tree(const struct abd_perf_options *options, bool complete)
{
	json_t *warnings = json_array();
	const char *warning;

	for (unsigned i = 0; (warning = abd_perf_say_warning(i)) != NULL; i++)
		json_array_append_new(warnings, abd_perf_result_string(warning));
	return json_pack("{s:s, s:b, s:O, s:O, s:o, s:o, s:o, s:O, s:O*}", "format", "abd-perf-1",
		"complete", (int)complete, "environment", abd_perf_env_facts(), "sources",
		abd_perf_env_sources(), "options", abd_perf_json_options(options), "noise",
		abd_perf_result_summary(&abd_perf_race_noise), "warnings", warnings, "results",
		abd_perf_result_list(), "more", abd_perf_json_more);
}

char *abd_perf_json_text(const struct abd_perf_options *options, bool complete)
{
	json_t *tree = abd_perf_json_tree(options, complete);
	char *text = json_dumps(tree, JSON_INDENT(1) | JSON_REAL_PRECISION(6)), *line;

	json_decref(tree);
	if (text == NULL || asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}
