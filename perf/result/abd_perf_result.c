/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of results, in the order they were measured.
 */
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ABD_PERF_ONCE(abd_perf_result_list, json_array())

/* The number of the step that had the last result, and where its results begin in the list. */
static unsigned abd_perf_result_step;
static size_t abd_perf_result_first;

/* Bytes of the UTF-8 character that text begins with; 0: it begins with none. */
static size_t abd_perf_result_sign(const char *text)
{
	for (size_t size = 1; size <= 4 && text[size - 1] != '\0'; size++) {
		json_t *sign = json_stringn(text, size);

		json_decref(sign);
		if (sign != NULL)
			return size;
	}
	return 0;
}

json_t *abd_perf_result_string(const char *text)
{
	json_t *string = json_string(text);
	char *escaped, *to;

	if (string != NULL)
		return string;
	to = escaped = malloc(strlen(text) * 4 + 1);
	if (escaped == NULL)
		return NULL;
	while (*text != '\0') {
		size_t size = abd_perf_result_sign(text);

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

json_t *abd_perf_result_add(const char *scenario, const char *group, const char *format, ...)
{
	char name[96];
	va_list arguments;
	json_t *result;

	va_start(arguments, format);
	vsnprintf(name, sizeof(name), format, arguments);
	va_end(arguments);
	result = json_pack("{s:s, s:s, s:o, s:{}, s:[], s:[]}", "scenario", scenario, "group",
		group, "name", abd_perf_result_string(name), "parameters", "figures", "ratios");
	if (abd_perf_result_step != abd_perf_say_steps())
		abd_perf_result_first = json_array_size(abd_perf_result_list());
	abd_perf_result_step = abd_perf_say_steps();
	json_array_append_new(abd_perf_result_list(), result);
	return result;
}

void abd_perf_result_wrong(const char *scenario)
{
	json_t *result;
	size_t i;

	if (abd_perf_result_step != abd_perf_say_steps())
		abd_perf_result_add(scenario, "wrong", "%s",
			*abd_perf_say_name() != '\0' ? abd_perf_say_name() : scenario);
	json_array_foreach(abd_perf_result_list(), i, result)
	{
		if (i < abd_perf_result_first)
			continue;
		json_array_clear(json_object_get(result, "figures"));
		json_array_clear(json_object_get(result, "ratios"));
		json_object_set_new(result, "wrong", json_true());
	}
}

void abd_perf_result_text(json_t *result, const char *name, const char *text)
{
	json_object_set_new(
		json_object_get(result, "parameters"), name, abd_perf_result_string(text));
}

/* Whole numbers stay whole: sizes of sets and records must not be rounded. */
void abd_perf_result_number(json_t *result, const char *name, double number)
{
	bool whole = number == floor(number) && fabs(number) < 1e15;

	json_object_set_new(json_object_get(result, "parameters"), name,
		whole ? json_integer((json_int_t)number) : json_real(number));
}

void abd_perf_result_size(json_t *result, const char *name, size_t size)
{
	abd_perf_result_number(result, name, (double)size);
}

json_t *abd_perf_result_summary(const struct abd_perf_summary *summary)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:i}", "median", summary->median, "low",
		summary->low, "high", summary->high, "mad", summary->mad, "rounds",
		(int)summary->rounds);
}

void abd_perf_result_figure(
	json_t *result, const char *name, const char *unit, struct abd_perf_summary value)
{
	json_t *figure = abd_perf_result_summary(&value);

	json_object_set_new(figure, "name", abd_perf_result_string(name));
	json_object_set_new(figure, "unit", abd_perf_result_string(unit));
	json_object_set_new(figure, "idle",
		value.idle_why != NULL
			? json_pack("{s:f, s:s}", "share", value.idle, "why", value.idle_why)
			: json_null());
	json_object_set_new(figure, "relative",
		value.relative > 0 ? json_pack("{s:f, s:f, s:f}", "median", value.relative, "low",
					     value.relative_low, "high", value.relative_high)
				   : json_null());
	json_array_append_new(json_object_get(result, "figures"), figure);
}

void abd_perf_result_value(json_t *result, const char *name, const char *unit, double value)
{
	abd_perf_result_figure(result, name, unit, abd_perf_stat(&value, 1));
}

void abd_perf_result_ratio(json_t *result, const char *of, const char *against,
	struct abd_perf_summary value, double target, const struct abd_perf_said *source)
{
	json_t *ratio = abd_perf_result_summary(&value);

	json_object_set_new(ratio, "of", abd_perf_result_string(of));
	json_object_set_new(ratio, "against", abd_perf_result_string(against));
	json_object_set_new(ratio, "verdict", json_string("can't tell"));
	json_object_set_new(ratio, "target", target != 0 ? json_real(target) : json_null());
	json_object_set_new(ratio, "target_verdict", json_null());
	json_object_set_new(ratio, "source",
		source != NULL ? abd_perf_result_string(source->text) : json_null());
	json_object_set_new(ratio, "claim",
		source != NULL && source->claim != NULL ? json_string(source->claim) : json_null());
	json_object_set_new(ratio, "published",
		source != NULL && source->ratio > 0 ? json_real(source->ratio) : json_null());
	json_array_append_new(json_object_get(result, "ratios"), ratio);
}

void abd_perf_result_race(json_t *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, double bytes)
{
	json_t *figures = json_object_get(result, "figures"), *counters;

	for (unsigned i = 0; i < race->paths; i++) {
		abd_perf_result_figure(result, path[i].name, bytes > 0 ? "GB/s" : "ns",
			bytes > 0 ? abd_perf_race_rate(race, i, bytes) : abd_perf_race_ns(race, i));
		counters = json_object();
		for (unsigned j = 0; j < ABD_PERF_COUNTERS; j++)
			if (race->counted[i][j] > 0)
				json_object_set_new(counters, abd_perf_counter_name[j],
					json_real((double)race->counted[i][j] /
						  (double)race->iterations[i]));
		if (json_object_size(counters) > 0)
			json_object_set(json_array_get(figures, json_array_size(figures) - 1),
				"counters", counters);
		json_decref(counters);
	}
}

void abd_perf_result_named(json_t *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, const char *of, const char *against, double target,
	const struct abd_perf_said *source)
{
	unsigned a = race->paths, b = race->paths;

	for (unsigned i = 0; i < race->paths; i++) {
		a = strcmp(path[i].name, of) == 0 ? i : a;
		b = strcmp(path[i].name, against) == 0 ? i : b;
	}
	if (a < race->paths && b < race->paths)
		abd_perf_result_ratio(
			result, of, against, abd_perf_race_ratio(race, a, b), target, source);
}

void abd_perf_result_claims(json_t *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_claim *claim, unsigned count)
{
	for (; count > 0; count--, claim++)
		abd_perf_result_ratio(result, path[claim->of].name, path[claim->against].name,
			abd_perf_race_ratio(race, claim->of, claim->against), claim->target,
			claim->source);
}
