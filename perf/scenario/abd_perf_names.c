/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names: how much a fast comparison of short names saves when paths are looked up component by
 * component, as the kernel does for git diff.
 *
 * Paths of a real tree are looked up in a hash table, in the order of the tree and in random order,
 * by each way of comparing. All ways must find the same entries.
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", Dec 2010.
 */
#include "abd_perf_clock.h"
#include "abd_perf_names_compare.h"
#include "abd_perf_names_set.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ABD_PERF_NAMES_MOST 131072
#define ABD_PERF_NAMES_FEW 16384
#define ABD_PERF_NAMES_CLAIM                                                                 \
	"rep cmpsb is slow to start: words with a masked tail instead make git diff faster " \
	"(linux-kernel, Dec 2010)"

struct abd_perf_names_path {
	const struct abd_perf_names_set *set;
	const uint32_t *order;
	const struct abd_perf_names_method *method;
	uint64_t expected;
	size_t errors;
};

/* One iteration looks up all paths once. */
static double abd_perf_names_pass(void *arg, uint64_t iterations)
{
	struct abd_perf_names_path *path = arg;
	double start = abd_perf_clock_ns();

	for (uint64_t i = 0; i < iterations; i++)
		path->errors += path->method->pass(path->set, path->order) != path->expected;
	return abd_perf_clock_ns() - start;
}

static void abd_perf_names_record(const struct abd_perf_race *race,
	const struct abd_perf_path *path, const struct abd_perf_names_set *set, const char *order)
{
	static const struct {
		unsigned of, against;
	} pair[] = {{ABD_PERF_NAMES_MASKED, ABD_PERF_NAMES_CMPSB},
		{ABD_PERF_NAMES_OURS, ABD_PERF_NAMES_CMPSB},
		{ABD_PERF_NAMES_OURS, ABD_PERF_NAMES_BYTES},
		{ABD_PERF_NAMES_OURS, ABD_PERF_NAMES_LIBC}};
	struct abd_perf_result *result = abd_perf_result_add("names", "lookup", "%s", order);
	unsigned where[ABD_PERF_NAMES_COUNT] = {0};

	abd_perf_result_number(result, "paths", (double)set->count);
	abd_perf_result_number(result, "components", (double)set->components);
	abd_perf_result_number(result, "entries", (double)(set->entries - 1));
	abd_perf_result_number(
		result, "component_bytes", (double)set->component_bytes / (double)set->components);
	for (unsigned i = 0, method = 0; i < race->paths; i++, method++) {
		double values[ABD_PERF_ROUNDS_MAX];

		while (abd_perf_names_methods[method].name != path[i].name)
			method++;
		where[method] = i;
		for (unsigned j = 0; j < race->rounds; j++)
			values[j] = race->ns[i][j] / (double)set->components;
		abd_perf_result_figure(
			result, path[i].name, "ns", abd_perf_stat(values, race->rounds));
	}
	for (unsigned i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		struct abd_perf_ratio *ratio;

		if (!abd_perf_names_method_here(pair[i].against))
			continue;
		ratio = abd_perf_result_ratio(result, abd_perf_names_methods[pair[i].of].name,
			abd_perf_names_methods[pair[i].against].name,
			abd_perf_race_ratio(race, where[pair[i].of], where[pair[i].against]));
		ratio->source =
			pair[i].against == ABD_PERF_NAMES_CMPSB ? ABD_PERF_NAMES_CLAIM : NULL;
	}
}

/* Returns an exit status. */
static int abd_perf_names_order_run(const struct abd_perf_names_set *set, const uint32_t *order,
	const char *text, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_names_path names_path[ABD_PERF_NAMES_COUNT];
	struct abd_perf_path path[ABD_PERF_NAMES_COUNT];
	unsigned paths = 0;
	size_t errors = 0;

	abd_perf_say_step("%zu paths, %s", set->count, text);
	for (unsigned i = 0; i < ABD_PERF_NAMES_COUNT; i++) {
		if (!abd_perf_names_method_here(i))
			continue;
		names_path[paths] = (struct abd_perf_names_path){set, order,
			&abd_perf_names_methods[i], abd_perf_names_expected(set, order), 0};
		path[paths] = (struct abd_perf_path){
			abd_perf_names_methods[i].name, abd_perf_names_pass, &names_path[paths]};
		paths++;
	}
	if (abd_perf_race_run(&race, path, paths, options))
		abd_perf_names_record(&race, path, set, text);
	/* The first compares hash and length alone: a baseline to subtract, which is not checked.
	 */
	for (unsigned i = 1; i < paths; i++)
		errors += names_path[i].errors;
	if (errors == 0)
		return 0;
	abd_perf_say_warn(
		"%zu passes over the paths, %s, did not find what is there", errors, text);
	return 1;
}

static int abd_perf_names_orders(
	const struct abd_perf_names_set *set, const struct abd_perf_options *options)
{
	uint32_t *order = malloc(set->count * sizeof(*order));
	uint64_t random = options->seed;
	int status;

	if (order == NULL)
		abd_perf_say_die(1, "no memory for the order of %zu paths", set->count);
	for (size_t i = 0; i < set->count; i++)
		order[i] = (uint32_t)i;
	status = abd_perf_names_order_run(set, order, "in order", options);
	abd_perf_shuffle(order, set->count, &random);
	if (status == 0 && !abd_perf_stop_wanted())
		status = abd_perf_names_order_run(set, order, "shuffled", options);
	free(order);
	return status;
}

static int abd_perf_names_run(const struct abd_perf_options *options)
{
	const char *root = options->input != NULL ? options->input : "/usr";
	struct abd_perf_names_set set;
	int status = 1;

	abd_perf_say_begin("names", 4);
	abd_perf_say_step("names under %s", root);
	abd_perf_names_set_make(
		&set, root, options->quick ? ABD_PERF_NAMES_FEW : ABD_PERF_NAMES_MOST);
	if (options->plant) /* damage a byte of the name entered last */
		set.word[set.entry[set.entries - 1].word] ^= 0x20;
	abd_perf_say_step("whether all find the same");
	if (abd_perf_names_check(&set))
		status = abd_perf_names_orders(&set, options);
	abd_perf_names_set_free(&set);
	return status;
}

const struct abd_perf_scenario abd_perf_names = {
	.name = "names",
	.summary = "looking up paths name by name, by several ways of comparing names",
	.uses = ABD_PERF_USES_INPUT,
	.normal_s = 14,
	.full_s = 85,
	.run = abd_perf_names_run,
};
