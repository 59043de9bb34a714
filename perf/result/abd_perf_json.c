/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds the tree that abd_perf_json.h describes, with jansson.
 */
#include "abd_perf_json.h"
#include "abd_perf_env.h"
#include "abd_perf_jobs.h"
#include "abd_perf_merge.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <abd/version.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character that text begins with; 0: it begins with none. */
static size_t abd_perf_json_sign(const char *text)
{
	for (size_t size = 1; size <= 4 && text[size - 1] != '\0'; size++) {
		json_t *sign = json_stringn(text, size);

		json_decref(sign);
		if (sign != NULL)
			return size;
	}
	return 0;
}

static json_t *abd_perf_json_string(const char *text)
{
	json_t *string = json_string(text);
	char *escaped, *to;

	if (string != NULL)
		return string;
	to = escaped = malloc(strlen(text) * 4 + 1);
	if (escaped == NULL)
		return NULL;
	while (*text != '\0') {
		size_t size = abd_perf_json_sign(text);

		if (size > 0)
			to = (char *)mempcpy(to, text, size);
		else
			to += sprintf(to, "\\x%02x", (unsigned char)*text);
		text += size > 0 ? size : 1;
	}
	*to = '\0';
	string = json_string(escaped);
	free(escaped);
	return string;
}

static json_t *abd_perf_json_summary(const struct abd_perf_summary *summary)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:i}", "median", summary->median, "low",
		summary->low, "high", summary->high, "mad", summary->mad, "rounds",
		(int)summary->rounds);
}

static json_t *abd_perf_json_figure(const struct abd_perf_figure *figure)
{
	const struct abd_perf_summary *value = &figure->value;
	json_t *object = abd_perf_json_summary(value);

	json_object_set_new(object, "name", abd_perf_json_string(figure->name));
	json_object_set_new(object, "unit", abd_perf_json_string(figure->unit));
	json_object_set_new(object, "idle",
		value->idle_why != NULL
			? json_pack("{s:f, s:s}", "share", value->idle, "why", value->idle_why)
			: json_null());
	json_object_set_new(object, "relative",
		value->relative > 0 ? json_pack("{s:f, s:f, s:f}", "median", value->relative, "low",
					      value->relative_low, "high", value->relative_high)
				    : json_null());
	return object;
}

static json_t *abd_perf_json_ratio(const struct abd_perf_ratio *ratio)
{
	json_t *object = abd_perf_json_summary(&ratio->value);

	json_object_set_new(object, "of", abd_perf_json_string(ratio->of));
	json_object_set_new(object, "against", abd_perf_json_string(ratio->against));
	json_object_set_new(
		object, "verdict", json_string(abd_perf_stat_verdict_text(ratio->verdict)));
	json_object_set_new(
		object, "target", ratio->target != 0 ? json_real(ratio->target) : json_null());
	json_object_set_new(object, "target_verdict",
		ratio->target != 0 ? json_string(abd_perf_result_target_text(ratio)) : json_null());
	json_object_set_new(object, "source",
		ratio->source != NULL ? abd_perf_json_string(ratio->source) : json_null());
	return object;
}

/* Whole numbers stay whole: sizes of sets and records must not be rounded. */
static json_t *abd_perf_json_parameter(const struct abd_perf_parameter *parameter)
{
	if (!parameter->is_number)
		return abd_perf_json_string(parameter->text);
	if (parameter->number == floor(parameter->number) && fabs(parameter->number) < 1e15)
		return json_integer((json_int_t)parameter->number);
	return json_real(parameter->number);
}

static json_t *abd_perf_json_result(const struct abd_perf_result *result)
{
	json_t *parameters = json_object(), *figures = json_array(), *ratios = json_array();

	for (unsigned i = 0; i < result->parameters; i++) {
		const struct abd_perf_parameter *parameter = &result->parameter[i];

		json_object_set_new(
			parameters, parameter->name, abd_perf_json_parameter(parameter));
	}
	for (unsigned i = 0; i < result->figures; i++)
		json_array_append_new(figures, abd_perf_json_figure(&result->figure[i]));
	for (unsigned i = 0; i < result->ratios; i++)
		json_array_append_new(ratios, abd_perf_json_ratio(&result->ratio[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "scenario", result->scenario, "group",
		result->group, "name", abd_perf_json_string(result->name), "parameters", parameters,
		"figures", figures, "ratios", ratios);
}

static json_t *abd_perf_json_environment(void)
{
	json_t *object = json_object();
	const struct abd_perf_env *fact;

	for (unsigned i = 0; (fact = abd_perf_env_get(i)) != NULL; i++)
		json_object_set_new(object, fact->name, abd_perf_json_string(fact->text));
	return object;
}

static json_t *abd_perf_json_options(const struct abd_perf_options *options)
{
	return json_pack("{s:s, s:I, s:i, s:f, s:f, s:o, s:o}", "mode",
		abd_perf_options_mode_text(options->mode), "seed", (json_int_t)options->seed,
		"rounds", (int)abd_perf_options_rounds(options), "runtime_s", options->runtime_s,
		"warmup_s", options->warmup_s > 0 ? options->warmup_s : 0.0, "input",
		options->input != NULL ? abd_perf_json_string(options->input) : json_null(),
		"filter",
		options->filter != NULL ? abd_perf_json_string(options->filter) : json_null());
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
	json_t *warnings = json_array(), *sources = json_array(), *results = json_array();
	const char *warning, *source;

	for (unsigned i = 0; (warning = abd_perf_say_warning(i)) != NULL; i++)
		json_array_append_new(warnings, abd_perf_json_string(warning));
	for (unsigned i = 0; (source = abd_perf_env_source_get(i)) != NULL; i++)
		json_array_append_new(sources, abd_perf_json_string(source));
	for (size_t i = 0; i < abd_perf_result_count(); i++)
		json_array_append_new(results, abd_perf_json_result(abd_perf_result_get(i)));
	for (size_t i = 0; i < json_array_size(abd_perf_json_more); i++)
		abd_perf_merge_add(results, json_array_get(abd_perf_json_more, i));
	abd_perf_merge_end(results);
	return json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format",
		"abd-perf-1", "fio version", "abd-perf " ABD_VERSION_STRING, "complete",
		(int)complete, "environment", abd_perf_json_environment(), "sources", sources,
		"options", abd_perf_json_options(options), "noise",
		abd_perf_json_summary(&abd_perf_race_noise), "warnings", warnings, "results",
		results, "jobs", abd_perf_jobs_json());
}

char *abd_perf_json_text(const struct abd_perf_options *options, bool complete)
{
	json_t *tree = abd_perf_json_tree(options, complete);
	char *text =
		tree != NULL ? json_dumps(tree, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) : NULL;
	size_t size = text != NULL ? strlen(text) : 0;
	char *line = text != NULL ? realloc(text, size + 2) : NULL;

	json_decref(tree);
	if (line == NULL) {
		free(text);
		return NULL;
	}
	strcpy(line + size, "\n");
	return line;
}
