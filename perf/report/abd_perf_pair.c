/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking each figure of A up in B goes through all of B: hundreds against hundreds.
 */
#include "abd_perf_pair.h"
#include "abd_perf_say.h"
#include "abd_perf_text.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

/*
 * Two runs of one program never lie in memory alike, and that alone moves figures: less than this
 * is no change, whatever the intervals say. They only know what changes within a run.
 */
#define ABD_PERF_PAIR_MARGIN 0.02

/*
 * Parameters that say how something was measured; others (compressed_bytes, best) say what was
 * found.
 */
static const char *const abd_perf_pair_conditions[] = {"data", "set", "pages", "record_size",
	"io_size", "size", "extent_size", "length", "lengths", "destination", "state", "batch",
	"threads", "max_order", "count", "mode"};

#define ABD_PERF_PAIR_CONDITIONS \
	(sizeof(abd_perf_pair_conditions) / sizeof(abd_perf_pair_conditions[0]))

/* ---- reading --------------------------------------------------------------------------------- */

/* What keeps a document from being a run of ours; NULL: nothing. */
static const char *abd_perf_pair_fault(const json_t *document)
{
	const char *format = json_string_value(json_object_get(document, "format"));

	if (format == NULL || strcmp(format, "abd-perf-1") != 0)
		return "its format is not abd-perf-1";
	return json_is_array(json_object_get(document, "results")) ? NULL : "it holds no results";
}

json_t *abd_perf_pair_read(const char *path, char *fault, size_t room)
{
	json_error_t error;
	json_t *document = json_load_file(path, 0, &error);
	const char *why = document != NULL ? abd_perf_pair_fault(document) : error.text;

	if (why == NULL)
		return document;
	snprintf(fault, room, "%s", why);
	json_decref(document);
	return NULL;
}

json_t *abd_perf_pair_load(const char *path)
{
	char fault[JSON_ERROR_TEXT_LENGTH];
	json_t *document = abd_perf_pair_read(path, fault, sizeof(fault));

	if (document == NULL)
		abd_perf_say_die(1, "%s: %s", path, fault);
	return document;
}

static const char *abd_perf_pair_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? text : "";
}

static bool abd_perf_pair_same(const json_t *a, const json_t *b, const char *name)
{
	return strcmp(abd_perf_pair_text(a, name), abd_perf_pair_text(b, name)) == 0;
}

static bool abd_perf_pair_same_name(const json_t *a, const json_t *b)
{
	return abd_perf_pair_same(a, b, "scenario") && abd_perf_pair_same(a, b, "group") &&
	       abd_perf_pair_same(a, b, "name");
}

static bool abd_perf_pair_same_conditions(const json_t *a, const json_t *b)
{
	const json_t *of_a = json_object_get(a, "parameters"),
		     *of_b = json_object_get(b, "parameters");

	for (size_t i = 0; i < ABD_PERF_PAIR_CONDITIONS; i++) {
		const json_t *x = json_object_get(of_a, abd_perf_pair_conditions[i]);
		const json_t *y = json_object_get(of_b, abd_perf_pair_conditions[i]);

		if ((x == NULL) != (y == NULL) || (x != NULL && !json_equal(x, y)))
			return false;
	}
	return true;
}

static bool abd_perf_pair_summary(const json_t *figure, struct abd_perf_summary *value)
{
	const json_t *relative = json_object_get(figure, "relative");

	value->median = json_number_value(json_object_get(figure, "median"));
	value->low = json_number_value(json_object_get(figure, "low"));
	value->high = json_number_value(json_object_get(figure, "high"));
	value->mad = json_number_value(json_object_get(figure, "mad"));
	value->rounds = (unsigned)json_integer_value(json_object_get(figure, "rounds"));
	value->relative = json_number_value(json_object_get(relative, "median"));
	value->relative_low = json_number_value(json_object_get(relative, "low"));
	value->relative_high = json_number_value(json_object_get(relative, "high"));
	if (value->relative_high < value->relative_low)
		value->relative_low = 0; /* no interval: taken for none */
	return value->low > 0 && value->low <= value->median && value->median <= value->high;
}

/*
 * Of a ratio only where both sides were measured, in the same rounds: not against what others
 * published.
 */
static bool abd_perf_pair_takes_part(const json_t *result, const char *list, const json_t *item)
{
	bool of = false, against = false;
	size_t i;
	json_t *figure;

	if (strcmp(list, "figures") == 0)
		return true;
	json_array_foreach(json_object_get(result, "figures"), i, figure)
	{
		const char *name = abd_perf_pair_text(figure, "name");

		of |= strcmp(name, abd_perf_pair_text(item, "of")) == 0;
		against |= strcmp(name, abd_perf_pair_text(item, "against")) == 0;
	}
	return of && against;
}

/* A figure has a name and a unit, a ratio two names. */
static bool abd_perf_pair_same_item(const json_t *a, const json_t *b)
{
	return abd_perf_pair_same(a, b, "name") && abd_perf_pair_same(a, b, "unit") &&
	       abd_perf_pair_same(a, b, "of") && abd_perf_pair_same(a, b, "against");
}

/* The nth figure or ratio, from 0, of the same benchmark; NULL: that run has none. */
static const json_t *abd_perf_pair_nth(const json_t *results, const json_t *result,
	const char *list, const json_t *item, size_t nth)
{
	size_t i, j;
	json_t *other, *candidate;

	json_array_foreach(results, i, other)
	{
		if (!abd_perf_pair_same_name(result, other) ||
			!abd_perf_pair_same_conditions(result, other))
			continue;
		json_array_foreach(json_object_get(other, list), j, candidate)
		{
			if (abd_perf_pair_same_item(item, candidate) && nth-- == 0)
				return candidate;
		}
	}
	return NULL;
}

/*
 * What the other run has of it: of a benchmark that stands there several times, the one at the same
 * place among them.
 */
static const json_t *abd_perf_pair_find(const json_t *results, const json_t *others,
	const json_t *result, const char *list, const json_t *item)
{
	size_t nth = 0;

	while (abd_perf_pair_nth(results, result, list, item, nth) != item)
		nth++;
	return abd_perf_pair_nth(others, result, list, item, nth);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool abd_perf_pair_is_ambiguous(const json_t *results, const json_t *result)
{
	size_t i;
	json_t *other;

	json_array_foreach(results, i, other)
	{
		if (other != result && abd_perf_pair_same_name(result, other))
			return true;
	}
	return false;
}

/* "one copy, one fence (size 64, linear, fresh)" */
static void abd_perf_pair_name(char *name, size_t room, const json_t *results, const json_t *result)
{
	const json_t *parameters = json_object_get(result, "parameters");
	size_t used = (size_t)snprintf(name, room, "%s", abd_perf_pair_text(result, "name"));
	bool ambiguous = abd_perf_pair_is_ambiguous(results, result);
	const char *before = " (";

	for (size_t i = 0; i < ABD_PERF_PAIR_CONDITIONS && used < room && ambiguous; i++) {
		const json_t *value = json_object_get(parameters, abd_perf_pair_conditions[i]);

		if (json_is_string(value))
			used += (size_t)snprintf(
				name + used, room - used, "%s%s", before, json_string_value(value));
		else if (json_is_number(value))
			used += (size_t)snprintf(name + used, room - used, "%s%s %.6g", before,
				abd_perf_pair_conditions[i], json_number_value(value));
		if (value != NULL)
			before = ", ";
	}
	if (strcmp(before, ", ") == 0 && used < room)
		snprintf(name + used, room - used, ")");
	abd_perf_text_whole(name);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool abd_perf_pair_is_counted(const char *unit)
{
	return strcmp(unit, "bytes") == 0 || strcmp(unit, "x") == 0 || strcmp(unit, "%") == 0;
}

/* Of speeds: where a figure is a time or a size, less is more. */
static struct abd_perf_summary abd_perf_pair_ratio(
	const struct abd_perf_summary *a, const struct abd_perf_summary *b, const char *unit)
{
	bool more = strcmp(unit, "ratio") == 0 || strcmp(unit, "%") == 0 ||
		    (strlen(unit) > 2 && strcmp(unit + strlen(unit) - 2, "/s") == 0);
	const struct abd_perf_summary *over = more ? b : a, *under = more ? a : b;
	struct abd_perf_summary ratio = {.median = over->median / under->median,
		.low = over->low / under->high,
		.high = over->high / under->low,
		.rounds = a->rounds < b->rounds ? a->rounds : b->rounds};

	if (a->relative_low > 0 && b->relative_low > 0) {
		ratio.low = fmin(ratio.low, a->relative_low / b->relative_high);
		ratio.high = fmax(ratio.high, a->relative_high / b->relative_low);
	}
	return ratio;
}

/* False: figures so large and small that their ratio is none. */
static bool abd_perf_pair_judge(struct abd_perf_pair *pair, double margin)
{
	struct abd_perf_summary ratio = abd_perf_pair_ratio(&pair->a, &pair->b, pair->unit);
	double near;

	if (!(ratio.low > 0 && isfinite(ratio.high)))
		return false;
	pair->ratio = ratio;
	/* Sizes and shares are counted, not measured: once is enough. */
	if (abd_perf_pair_is_counted(pair->unit))
		ratio.rounds = ABD_PERF_ROUNDS_MAX;
	pair->verdict = abd_perf_stat_verdict(&ratio, margin);
	near = pair->verdict == ABD_PERF_FASTER ? ratio.low : ratio.high;
	pair->weight = pair->verdict != ABD_PERF_CANT_TELL ? fabs(log(near)) : 0;
	return true;
}

/* What is surest to differ, and by most, first; then by how much it seems to. */
static int abd_perf_pair_order(const void *a, const void *b)
{
	const struct abd_perf_pair *x = a, *y = b;
	double seems_x = fabs(log(x->ratio.median)), seems_y = fabs(log(y->ratio.median));

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (seems_x < seems_y) - (seems_x > seems_y);
}

static double abd_perf_pair_noise(const json_t *document)
{
	struct abd_perf_summary noise;

	return abd_perf_pair_summary(json_object_get(document, "noise"), &noise)
		       ? fabs(noise.median - 1)
		       : 0;
}

static bool abd_perf_pair_wanted(const regex_t *filter, const struct abd_perf_pair *pair)
{
	char text[512];

	snprintf(text, sizeof(text), "%s: %s, %s", pair->scenario, pair->name, pair->figure);
	return filter == NULL || regexec(filter, text, 0, NULL, 0) == 0;
}

/* A pair of which all but the numbers is known. False: it is not to be compared, or not wanted. */
static bool abd_perf_pair_begin(struct abd_perf_pair *pair, const json_t *results,
	const json_t *result, const char *list, const json_t *item, const regex_t *filter)
{
	const char *unit = abd_perf_pair_text(item, "unit");

	memset(pair, 0, sizeof(*pair));
	pair->scenario = abd_perf_pair_text(result, "scenario");
	pair->group = abd_perf_pair_text(result, "group");
	pair->unit = *unit != '\0' ? unit : "ratio";
	if (*unit != '\0')
		snprintf(
			pair->figure, sizeof(pair->figure), "%s", abd_perf_pair_text(item, "name"));
	else
		snprintf(pair->figure, sizeof(pair->figure), "%s / %s",
			abd_perf_pair_text(item, "of"), abd_perf_pair_text(item, "against"));
	abd_perf_text_whole(pair->figure);
	abd_perf_pair_name(pair->name, sizeof(pair->name), results, result);
	return abd_perf_pair_takes_part(result, list, item) && abd_perf_pair_wanted(filter, pair);
}

static void abd_perf_pair_add(struct abd_perf_pairs *pairs, const json_t *result, const char *list,
	const json_t *item, const regex_t *filter)
{
	const json_t *results[] = {
		json_object_get(pairs->a, "results"), json_object_get(pairs->b, "results")};
	struct abd_perf_pair *pair = &pairs->pair[pairs->count];
	const json_t *other;

	if (!abd_perf_pair_begin(pair, results[0], result, list, item, filter))
		return;
	other = abd_perf_pair_find(results[0], results[1], result, list, item);
	if (other == NULL)
		pairs->only_a++;
	else if (abd_perf_pair_summary(item, &pair->a) && abd_perf_pair_summary(other, &pair->b))
		pairs->count += abd_perf_pair_judge(pair, pairs->margin);
}

static struct abd_perf_pair *abd_perf_pair_room(const json_t *results)
{
	size_t count = 1, i;
	struct abd_perf_pair *pair;
	json_t *result;

	json_array_foreach(results, i, result) count +=
		json_array_size(json_object_get(result, "figures")) +
		json_array_size(json_object_get(result, "ratios"));
	pair = malloc(count * sizeof(*pair));
	if (pair == NULL)
		abd_perf_say_die(1, "no memory for two runs");
	return pair;
}

/* Take what A has, with what B has of it. */
static void abd_perf_pair_list(struct abd_perf_pairs *pairs, const regex_t *filter)
{
	static const char *const list[] = {"ratios", "figures"};
	size_t i, j;
	json_t *result, *item;

	json_array_foreach(json_object_get(pairs->a, "results"), i, result)
	{
		for (unsigned k = 0; k < 2; k++)
			json_array_foreach(json_object_get(result, list[k]), j, item)
				abd_perf_pair_add(pairs, result, list[k], item, filter);
	}
}

/* The same from B's side, to count what only B has. */
static size_t abd_perf_pair_only_b(const struct abd_perf_pairs *pairs, const regex_t *filter)
{
	struct abd_perf_pairs back = {.a = pairs->b, .b = pairs->a, .margin = pairs->margin};

	back.pair = abd_perf_pair_room(json_object_get(back.a, "results"));
	abd_perf_pair_list(&back, filter);
	free(back.pair);
	return back.only_a;
}

void abd_perf_pair_make(struct abd_perf_pairs *pairs, json_t *a, json_t *b, const char *filter)
{
	regex_t expression;
	const regex_t *wanted = filter != NULL ? &expression : NULL;

	if (filter != NULL &&
		regcomp(&expression, filter, REG_EXTENDED | REG_NOSUB | REG_ICASE) != 0)
		abd_perf_say_die(EX_USAGE, "--filter: '%s' is no regular expression", filter);
	*pairs = (struct abd_perf_pairs){.a = a, .b = b};
	pairs->margin =
		fmax(ABD_PERF_PAIR_MARGIN, fmax(abd_perf_pair_noise(a), abd_perf_pair_noise(b)));
	pairs->pair = abd_perf_pair_room(json_object_get(a, "results"));
	abd_perf_pair_list(pairs, wanted);
	pairs->only_b = abd_perf_pair_only_b(pairs, wanted);
	qsort(pairs->pair, pairs->count, sizeof(*pairs->pair), abd_perf_pair_order);
	if (filter != NULL)
		regfree(&expression);
}

void abd_perf_pair_free(struct abd_perf_pairs *pairs)
{
	free(pairs->pair);
	json_decref(pairs->a);
	json_decref(pairs->b);
}

/* ---- what is told ---------------------------------------------------------------------------- */

const char *abd_perf_pair_verdict_text(const struct abd_perf_pair *pair)
{
	if (!abd_perf_pair_is_counted(pair->unit) || pair->verdict == ABD_PERF_CANT_TELL)
		return abd_perf_stat_verdict_text(pair->verdict);
	return (pair->verdict == ABD_PERF_FASTER) == (*pair->unit == '%') ? "larger" : "smaller";
}

/* Facts that differ from run to run on one machine tell nothing about it. */
static bool abd_perf_pair_is_fleeting(const char *fact)
{
	static const char *const fleeting[] = {"time", "memory", "load", "load_after", "busy",
		"busy_before", "busy_during", "interrupted"};

	for (size_t i = 0; i < sizeof(fleeting) / sizeof(fleeting[0]); i++) {
		if (strcmp(fact, fleeting[i]) == 0)
			return true;
	}
	return false;
}

static void abd_perf_pair_differ(json_t *differences, json_t *a, json_t *b)
{
	const char *name;
	json_t *value;

	json_object_foreach(a, name, value)
	{
		json_t *other = json_object_get(b, name);

		if (other != NULL && !abd_perf_pair_is_fleeting(name) && !json_equal(value, other))
			json_object_set_new(differences, name, json_pack("[O, O]", value, other));
	}
}

json_t *abd_perf_pair_differences(const struct abd_perf_pairs *pairs)
{
	static const char *const part[] = {"environment", "options"};
	json_t *differences = json_object();

	for (unsigned i = 0; i < 2; i++)
		abd_perf_pair_differ(differences, json_object_get(pairs->a, part[i]),
			json_object_get(pairs->b, part[i]));
	return differences;
}

static json_t *abd_perf_pair_one(const struct abd_perf_pair *pair)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:s}", "scenario",
		pair->scenario, "group", pair->group, "name", pair->name, "figure", pair->figure,
		"unit", pair->unit, "a", pair->a.median, "b", pair->b.median, "median",
		pair->ratio.median, "low", pair->ratio.low, "high", pair->ratio.high, "verdict",
		abd_perf_pair_verdict_text(pair));
}

json_t *abd_perf_pair_json(const struct abd_perf_pairs *pairs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < pairs->count; i++)
		json_array_append_new(list, abd_perf_pair_one(&pairs->pair[i]));
	return json_pack("{s:s, s:f, s:I, s:I, s:o, s:o}", "format", "abd-perf-compare-1", "margin",
		pairs->margin, "only_a", (json_int_t)pairs->only_a, "only_b",
		(json_int_t)pairs->only_b, "differences", abd_perf_pair_differences(pairs), "pairs",
		list);
}
