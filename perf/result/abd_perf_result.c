/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of results, in the order they were measured.
 */
#include "abd_perf_result.h"
#include "abd_perf_options.h"
#include "abd_perf_say.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct abd_perf_result *abd_perf_results;
static size_t abd_perf_results_count, abd_perf_results_room;

struct abd_perf_result *abd_perf_result_add(
	const char *scenario, const char *group, const char *format, ...)
{
	va_list arguments;

	if (abd_perf_results_count == abd_perf_results_room) {
		abd_perf_results_room = abd_perf_results_room * 2 + 64;
		abd_perf_results = realloc(
			abd_perf_results, abd_perf_results_room * sizeof(*abd_perf_results));
		if (abd_perf_results == NULL)
			abd_perf_say_die(1, "no memory for results");
	}

	struct abd_perf_result *result = &abd_perf_results[abd_perf_results_count++];

	memset(result, 0, sizeof(*result));
	result->scenario = scenario;
	result->group = group;
	va_start(arguments, format);
	vsnprintf(result->name, sizeof(result->name), format, arguments);
	va_end(arguments);
	return result;
}

size_t abd_perf_result_count(void)
{
	return abd_perf_results_count;
}

const struct abd_perf_result *abd_perf_result_get(size_t i)
{
	return &abd_perf_results[i];
}

static struct abd_perf_parameter *abd_perf_result_parameter(
	struct abd_perf_result *result, const char *name)
{
	assert(result->parameters < ABD_PERF_PARAMETERS);

	struct abd_perf_parameter *parameter = &result->parameter[result->parameters++];

	parameter->name = name;
	return parameter;
}

void abd_perf_result_text(struct abd_perf_result *result, const char *name, const char *text)
{
	struct abd_perf_parameter *parameter = abd_perf_result_parameter(result, name);

	snprintf(parameter->text, sizeof(parameter->text), "%s", text);
}

void abd_perf_result_number(struct abd_perf_result *result, const char *name, double number)
{
	struct abd_perf_parameter *parameter = abd_perf_result_parameter(result, name);

	parameter->number = number;
	parameter->is_number = true;
	snprintf(parameter->text, sizeof(parameter->text), "%.6g", number);
}

void abd_perf_result_size(struct abd_perf_result *result, const char *name, size_t size)
{
	struct abd_perf_parameter *parameter = abd_perf_result_parameter(result, name);

	parameter->number = (double)size;
	parameter->is_number = true;
	abd_perf_options_size_text(size, parameter->text, sizeof(parameter->text));
}

void abd_perf_result_figure(struct abd_perf_result *result, const char *name, const char *unit,
	struct abd_perf_summary value)
{
	assert(result->figures < ABD_PERF_FIGURES);
	result->figure[result->figures++] = (struct abd_perf_figure){name, unit, value};
}

struct abd_perf_ratio *abd_perf_result_ratio(struct abd_perf_result *result, const char *of,
	const char *against, struct abd_perf_summary value)
{
	assert(result->ratios < ABD_PERF_RATIOS);

	struct abd_perf_ratio *ratio = &result->ratio[result->ratios++];

	*ratio = (struct abd_perf_ratio){.of = of,
		.against = against,
		.value = value,
		.verdict = abd_perf_stat_verdict(&value, abd_perf_race_margin())};
	return ratio;
}

void abd_perf_result_race(struct abd_perf_result *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, double bytes)
{
	for (unsigned i = 0; i < race->paths; i++)
		abd_perf_result_figure(result, path[i].name, bytes > 0 ? "GB/s" : "ns",
			bytes > 0 ? abd_perf_race_rate(race, i, bytes) : abd_perf_race_ns(race, i));
}

void abd_perf_result_claims(struct abd_perf_result *result, const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_claim *claim, unsigned count)
{
	for (; count > 0; count--, claim++) {
		struct abd_perf_ratio *ratio = abd_perf_result_ratio(result, path[claim->of].name,
			path[claim->against].name,
			abd_perf_race_ratio(race, claim->of, claim->against));

		ratio->target = claim->target;
		ratio->source = claim->source;
	}
}

const char *abd_perf_result_target_text(const struct abd_perf_ratio *ratio)
{
	if (ratio->target == 0)
		return "";
	if (ratio->value.low >= ratio->target)
		return "met";
	return ratio->value.high < ratio->target ? "missed" : "can't tell";
}
