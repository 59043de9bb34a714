/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Works on the tree that abd_perf_json.h describes. Until abd_perf_merge_end(), "parts" of a figure
 * or ratio holds the summaries of the other processes.
 */
#include "abd_perf_json.h"
#include "abd_perf_race.h"

#include <math.h>
#include <string.h>

#define ABD_PERF_MERGE_SURE 6 /* processes whose medians alone give a 95 % interval */

static double abd_perf_merge_number(const json_t *item, const char *name)
{
	return json_number_value(json_object_get(item, name));
}

static bool abd_perf_merge_same(const json_t *a, const json_t *b, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (!json_equal(json_object_get(a, *names), json_object_get(b, *names)))
			return false;
	}
	return true;
}

/* Find the items of more in to, each after the one before it, and add them as parts. */
static void abd_perf_merge_items(json_t *to, const json_t *more, const char *const *names)
{
	size_t at = 0, i;
	json_t *item;

	json_array_foreach(more, i, item)
	{
		size_t found = at;

		while (found < json_array_size(to) &&
			!abd_perf_merge_same(json_array_get(to, found), item, names))
			found++;
		if (found == json_array_size(to))
			continue;
		at = found + 1;

		json_t *of = json_array_get(to, found), *parts = json_object_get(of, "parts");

		if (parts == NULL) {
			parts = json_array();
			json_object_set_new(of, "parts", parts);
		}
		json_array_append(parts, item);
	}
}

void abd_perf_merge_add(json_t *results, const json_t *more)
{
	static const char *const row[] = {"scenario", "group", "name", NULL},
				 *const figure[] = {"name", "unit", NULL},
				 *const ratio[] = {"of", "against", NULL};
	size_t at = 0, i;
	json_t *item;

	json_array_foreach(more, i, item)
	{
		size_t found = at;

		while (found < json_array_size(results) &&
			!abd_perf_merge_same(json_array_get(results, found), item, row))
			found++;
		if (found == json_array_size(results))
			continue;
		at = found + 1;

		json_t *to = json_array_get(results, found);

		abd_perf_merge_items(
			json_object_get(to, "figures"), json_object_get(item, "figures"), figure);
		abd_perf_merge_items(
			json_object_get(to, "ratios"), json_object_get(item, "ratios"), ratio);
	}
}

/* Summarise of and the same member of its parts; member NULL: these themselves. */
static void abd_perf_merge_summary(json_t *of, const json_t *parts, const char *member)
{
	json_t *to = member != NULL ? json_object_get(of, member) : of, *medians = json_array(),
	       *part;
	double median[ABD_PERF_ROUNDS_MAX], low = INFINITY, high = -INFINITY;
	unsigned n = 0;
	size_t i;

	for (i = 0; i <= json_array_size(parts) && n < ABD_PERF_ROUNDS_MAX; i++) {
		part = i == 0 ? of : json_array_get(parts, i - 1);
		part = member != NULL ? json_object_get(part, member) : part;
		if (!json_is_object(part))
			continue;
		median[n++] = abd_perf_merge_number(part, "median");
		low = fmin(low, abd_perf_merge_number(part, "low"));
		high = fmax(high, abd_perf_merge_number(part, "high"));
		json_array_append(medians, json_object_get(part, "median"));
	}
	if (!json_is_object(to)) {
		json_decref(medians);
		return;
	}

	struct abd_perf_summary summary = abd_perf_stat(median, n);

	if (n >= ABD_PERF_MERGE_SURE) {
		low = summary.low;
		high = summary.high;
	}
	json_object_set_new(to, "median", json_real(summary.median));
	json_object_set_new(to, "low", json_real(low));
	json_object_set_new(to, "high", json_real(high));
	json_object_set_new(to, "processes", medians);
}

static void abd_perf_merge_verdict(json_t *ratio)
{
	struct abd_perf_summary value = {.median = abd_perf_merge_number(ratio, "median"),
		.low = abd_perf_merge_number(ratio, "low"),
		.high = abd_perf_merge_number(ratio, "high"),
		.rounds = (unsigned)abd_perf_merge_number(ratio, "rounds")};
	double target = abd_perf_merge_number(ratio, "target");

	json_object_set_new(ratio, "verdict",
		json_string(abd_perf_stat_verdict_text(
			abd_perf_stat_verdict(&value, abd_perf_race_margin()))));
	if (target != 0)
		json_object_set_new(ratio, "target_verdict",
			json_string(value.low >= target   ? "met"
				    : value.high < target ? "missed"
							  : "can't tell"));
}

static void abd_perf_merge_item(json_t *item)
{
	json_t *parts = json_incref(json_object_get(item, "parts")), *part;
	json_int_t rounds = json_integer_value(json_object_get(item, "rounds"));
	size_t i;

	json_object_del(item, "parts");
	json_array_foreach(parts, i, part) rounds +=
		json_integer_value(json_object_get(part, "rounds"));
	json_object_set_new(item, "rounds", json_integer(rounds));
	abd_perf_merge_summary(item, parts, "relative");
	abd_perf_merge_summary(item, parts, NULL);
	json_decref(parts);
	if (json_object_get(item, "verdict") != NULL)
		abd_perf_merge_verdict(item);
}

void abd_perf_merge_end(json_t *results)
{
	size_t i, j;
	json_t *result, *item;

	json_array_foreach(results, i, result)
	{
		json_array_foreach(json_object_get(result, "figures"), j, item)
			abd_perf_merge_item(item);
		json_array_foreach(json_object_get(result, "ratios"), j, item)
			abd_perf_merge_item(item);
	}
}
