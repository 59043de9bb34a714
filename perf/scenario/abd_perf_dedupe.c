/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dedupe: what a fast comparison is worth to a program that looks for duplicate extents and proves
 * them byte for byte.
 *
 * --input: a tree is searched, and what was found in it is reported. Without it the source's data
 * set is made in memory; what must be found there is known, and is checked. Then the proofs are
 * timed, in memory, kernel by kernel.
 * Source: linux-fsdevel, "vfs: Optimize dedupe comparison", Jul 2021.
 */
#include "abd_perf_dedupe_made.h"
#include "abd_perf_dedupe_sample.h"
#include "abd_perf_env.h"
#include "abd_perf_place.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"
#include "abd_perf_table.h"

#include <stdio.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define ABD_PERF_EXTENT (128 * KIB)
#define ABD_PERF_DEDUPE_CLAIM                                                            \
	"word loop for byte loop: sys time of duperemove from 1m30.7s to 1m8.9s, -25 % " \
	"(linux-fsdevel, Jul 2021)"

enum { SCALAR, WORD, LIBC, AUTO, KERNELS };

static const char *const abd_perf_dedupe_kernel[KERNELS] = {"scalar", "word", "libc", "auto"};
static const char *const abd_perf_dedupe_whole[KERNELS] = {
	"scalar, reading", "word, reading", "libc, reading", "auto, reading"};
static const char *const abd_perf_dedupe_kind[ABD_PERF_KINDS] = {"aligned", "shifted"};

/* ---- what was found -------------------------------------------------------------------------- */

static void abd_perf_dedupe_found(const struct abd_perf_find *find, const char *origin)
{
	struct abd_perf_result *result = abd_perf_result_add("dedupe", "found", "%s", origin);
	const struct abd_perf_fileset *set = find->set;

	abd_perf_result_size(result, "extent_size", find->extent_size);
	abd_perf_result_number(result, "files", (double)find->files);
	abd_perf_result_number(result, "bytes", (double)find->bytes);
	abd_perf_result_number(result, "extents", (double)find->count);
	abd_perf_result_number(result, "duplicates", (double)find->duplicates[ABD_PERF_ALIGNED]);
	abd_perf_result_number(
		result, "duplicate_bytes", (double)find->duplicate_bytes[ABD_PERF_ALIGNED]);
	abd_perf_result_number(result, "shifted", (double)find->duplicates[ABD_PERF_SHIFTED]);
	abd_perf_result_number(
		result, "shifted_bytes", (double)find->duplicate_bytes[ABD_PERF_SHIFTED]);
	abd_perf_result_number(result, "hash_collisions", (double)find->collisions);
	abd_perf_result_number(result, "unreadable", (double)set->unreadable);
	abd_perf_result_number(
		result, "not_regular_or_linked", (double)(set->not_regular + set->hard_links));
	abd_perf_result_number(result, "changed", (double)find->changed);
}

static void abd_perf_dedupe_seconds(struct abd_perf_result *result, const char *name, double ns)
{
	double seconds = ns / 1e9;

	abd_perf_result_figure(result, name, "s", abd_perf_stat(&seconds, 1));
}

static void abd_perf_dedupe_times(const struct abd_perf_find *find, const char *origin)
{
	struct abd_perf_result *result = abd_perf_result_add("dedupe", "time", "%s", origin);

	abd_perf_dedupe_seconds(result, "read", find->read_ns);
	abd_perf_dedupe_seconds(result, "xxh3", find->hash_ns);
	abd_perf_dedupe_seconds(result, "rolling hash", find->roll_ns);
	abd_perf_dedupe_seconds(result, "scan", find->scan_ns);
	abd_perf_dedupe_seconds(result, "read to prove",
		find->proof_read_ns[ABD_PERF_ALIGNED] + find->proof_read_ns[ABD_PERF_SHIFTED]);
	abd_perf_dedupe_seconds(result, "proof", find->proof_ns);
}

static void abd_perf_dedupe_search(
	struct abd_perf_find *find, const char *origin, struct abd_perf_made *damage)
{
	abd_perf_say_step("%s: hashing", origin);
	abd_perf_find_hash(find);
	if (damage != NULL)
		abd_perf_made_damage(damage);
	abd_perf_say_step("%s: extents with the same hash", origin);
	abd_perf_find_aligned(find);
	abd_perf_say_step("%s: extents at other offsets", origin);
	abd_perf_find_shifted(find);
	abd_perf_dedupe_found(find, origin);
	abd_perf_dedupe_times(find, origin);
}

/* ---- timing the proofs ----------------------------------------------------------------------- */

struct abd_perf_dedupe_path {
	struct abd_perf_sample *sample;
	const char *kernel;
};

static double abd_perf_dedupe_prove(void *arg, uint64_t iterations)
{
	const struct abd_perf_dedupe_path *path = arg;

	/* "auto" is ours: what the library takes by itself, or ABD_COMPARE told it to. */
	abd_perf_place_tune("compare",
		strcmp(path->kernel, "auto") != 0 ? path->kernel : abd_perf_place_found("compare"));
	return abd_perf_sample_prove(path->sample, iterations);
}

/* The same, with the time it took to read what is compared: what a system call for dedupe does. */
static void abd_perf_dedupe_add_reading(struct abd_perf_race *race, double read_ns)
{
	for (unsigned kernel = 0; kernel < race->paths; kernel++) {
		for (unsigned i = 0; i < race->rounds; i++)
			race->ns[kernel][i] += read_ns;
	}
}

/* race: ns of the sample, of a share of all proofs. */
static void abd_perf_dedupe_record(struct abd_perf_race *race, const struct abd_perf_find *find,
	const struct abd_perf_sample *sample, unsigned kind)
{
	const char *const *kernel = abd_perf_dedupe_kernel, *const *whole = abd_perf_dedupe_whole;
	struct abd_perf_result *result =
		abd_perf_result_add("dedupe", "proof", "%s", abd_perf_dedupe_kind[kind]);
	double share = (double)sample->bytes / (double)find->duplicate_bytes[kind];
	double ms = 1e6;

	abd_perf_result_size(result, "extent_size", find->extent_size);
	abd_perf_result_number(result, "proofs", (double)find->duplicates[kind]);
	abd_perf_result_number(result, "bytes", (double)find->duplicate_bytes[kind]);
	abd_perf_result_number(result, "timed_share", share);
	for (unsigned i = 0; i < KERNELS; i++) {
		struct abd_perf_summary ns = abd_perf_race_ns(race, i);

		ns.median /= share * ms, ns.low /= share * ms, ns.high /= share * ms,
			ns.mad /= share * ms;
		abd_perf_result_figure(result, kernel[i], "ms", ns);
	}
	abd_perf_result_ratio(
		result, kernel[WORD], kernel[SCALAR], abd_perf_race_ratio(race, WORD, SCALAR));
	abd_perf_result_ratio(
		result, kernel[AUTO], kernel[SCALAR], abd_perf_race_ratio(race, AUTO, SCALAR));
	abd_perf_result_ratio(
		result, kernel[AUTO], kernel[WORD], abd_perf_race_ratio(race, AUTO, WORD));
	abd_perf_result_ratio(
		result, kernel[AUTO], kernel[LIBC], abd_perf_race_ratio(race, AUTO, LIBC));
	abd_perf_dedupe_add_reading(race, find->proof_read_ns[kind] * share);
	for (unsigned i = 0; i < KERNELS; i++) {
		struct abd_perf_summary ns = abd_perf_race_ns(race, i);

		ns.median /= share * ms, ns.low /= share * ms, ns.high /= share * ms,
			ns.mad /= share * ms;
		abd_perf_result_figure(result, whole[i], "ms", ns);
	}
	abd_perf_result_ratio(
		result, whole[WORD], whole[SCALAR], abd_perf_race_ratio(race, WORD, SCALAR))
		->source = ABD_PERF_DEDUPE_CLAIM;
	abd_perf_result_ratio(
		result, whole[AUTO], whole[SCALAR], abd_perf_race_ratio(race, AUTO, SCALAR));
}

/* Returns an exit status: 1 when a kernel did not confirm a proof. */
static int abd_perf_dedupe_time(struct abd_perf_find *find, struct abd_perf_sample *sample,
	unsigned kind, const struct abd_perf_options *options)
{
	static struct abd_perf_race race;
	struct abd_perf_dedupe_path forced[KERNELS];
	struct abd_perf_path path[KERNELS];
	bool run;

	abd_perf_say_step("proofs, %s", abd_perf_dedupe_kind[kind]);
	for (unsigned i = 0; i < KERNELS; i++) {
		forced[i] = (struct abd_perf_dedupe_path){sample, abd_perf_dedupe_kernel[i]};
		path[i] = (struct abd_perf_path){
			abd_perf_dedupe_kernel[i], abd_perf_dedupe_prove, &forced[i]};
	}
	run = sample->count > 0 && abd_perf_race_run(&race, path, KERNELS, options);
	abd_perf_place_restore("compare");
	if (run)
		abd_perf_dedupe_record(&race, find, sample, kind);
	if (sample->errors == 0)
		return 0;
	abd_perf_say_warn(
		"%zu times a kernel found unequal what had been proven equal", sample->errors);
	return 1;
}

/* ---- a tree ---------------------------------------------------------------------------------- */

static int abd_perf_dedupe_tree(const struct abd_perf_options *options, size_t extent_size)
{
	struct abd_perf_fileset set;
	struct abd_perf_find find;
	uint64_t memory = abd_perf_env_memory() / 8, most = (options->quick ? 64 : 512) * MIB;
	int status = 0;

	abd_perf_say_begin("dedupe", 6);
	abd_perf_say_step("%s: walking", options->input);
	abd_perf_fileset_init(&set);
	abd_perf_fileset_walk(&set, options->input);
	abd_perf_find_make(&find, &set, extent_size, options->seed);
	if (options->plant)
		find.hash_mask = 0xf;
	abd_perf_dedupe_search(&find, options->input, NULL);
	for (unsigned kind = 0; kind < ABD_PERF_KINDS && status == 0 && !abd_perf_stop_wanted();
		kind++) {
		struct abd_perf_sample sample;

		abd_perf_sample_make(
			&sample, &find, kind, memory < most ? memory : most, options->seed);
		status = abd_perf_dedupe_time(&find, &sample, kind, options);
		abd_perf_sample_free(&sample);
	}
	abd_perf_find_free(&find);
	abd_perf_fileset_free(&set);
	return status;
}

/* ---- the source's data set ------------------------------------------------------------------- */

/* Whether what was found is what is there. */
static bool abd_perf_dedupe_made_right(
	const struct abd_perf_find *find, const struct abd_perf_made *made, bool shifted)
{
	size_t whole = made->size / find->extent_size, tail = made->size % find->extent_size != 0;
	size_t expected[ABD_PERF_KINDS] = {shifted ? 0 : made->files / 2 * (whole + tail),
		shifted ? made->files / 2 * whole : 0};

	for (unsigned kind = 0; kind < ABD_PERF_KINDS; kind++) {
		if (find->duplicates[kind] == expected[kind])
			continue;
		abd_perf_say_warn("%zu %s duplicates were found where there are %zu",
			find->duplicates[kind], abd_perf_dedupe_kind[kind], expected[kind]);
		return false;
	}
	return true;
}

/* The bug of the source's patch must show in this data, or the data would not test for it. */
static bool abd_perf_dedupe_made_tells(const struct abd_perf_sample *sample)
{
	size_t wrong = abd_perf_sample_prove_wrong(sample);

	if (wrong == 0)
		return true;
	abd_perf_say_warn("%zu extents are equal also where the destination has the source's "
			  "offset in a page",
		wrong);
	return false;
}

static int abd_perf_dedupe_made_layout(struct abd_perf_made *made, bool shifted, size_t extent_size,
	const struct abd_perf_options *options)
{
	const char *origin = shifted ? "made, copies with odd prefixes" : "made, copies";
	unsigned kind = shifted ? ABD_PERF_SHIFTED : ABD_PERF_ALIGNED;
	struct abd_perf_fileset set;
	struct abd_perf_find find;
	struct abd_perf_sample sample;
	int status = 0;

	abd_perf_say_step("making %zu files of %zu MiB", made->files, made->size / MIB);
	abd_perf_fileset_init(&set);
	abd_perf_made_fill(made, shifted, &set);
	abd_perf_find_make(&find, &set, extent_size, options->seed);
	abd_perf_dedupe_search(&find, origin, options->plant ? made : NULL);
	abd_perf_sample_make(&sample, &find, kind, UINT64_MAX, options->seed);
	if (!abd_perf_stop_wanted() && (!abd_perf_dedupe_made_right(&find, made, shifted) ||
					       (shifted && !abd_perf_dedupe_made_tells(&sample))))
		status = 1;
	if (status == 0 && !abd_perf_stop_wanted())
		status = abd_perf_dedupe_time(&find, &sample, kind, options);
	abd_perf_sample_free(&sample);
	abd_perf_find_free(&find);
	abd_perf_fileset_free(&set);
	return status;
}

static int abd_perf_dedupe_made(const struct abd_perf_options *options, size_t extent_size)
{
	struct abd_perf_made made;
	struct abd_perf_result *result;
	int status = 0;

	abd_perf_say_begin("dedupe", 10);
	abd_perf_made_make(&made, options, extent_size);
	result = abd_perf_result_add("dedupe", "made", "made");
	abd_perf_result_number(result, "files", (double)made.files);
	abd_perf_result_size(result, "file_size", made.size);
	for (int shifted = 0; shifted < 2 && status == 0 && !abd_perf_stop_wanted(); shifted++)
		status = abd_perf_dedupe_made_layout(&made, shifted != 0, extent_size, options);
	abd_perf_made_free(&made);
	return status;
}

static int abd_perf_dedupe_run(const struct abd_perf_options *options)
{
	size_t extent_size = options->record_size != 0 ? options->record_size : ABD_PERF_EXTENT;

	return options->input != NULL ? abd_perf_dedupe_tree(options, extent_size)
				      : abd_perf_dedupe_made(options, extent_size);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool abd_perf_dedupe_is(const struct abd_perf_result *result, const char *group)
{
	return strcmp(result->scenario, "dedupe") == 0 && strcmp(result->group, group) == 0;
}

static double abd_perf_dedupe_number(const struct abd_perf_result *result, const char *name)
{
	return abd_perf_result_find(result, name)->number;
}

static void abd_perf_dedupe_print_found(void)
{
	static const char *const count[] = {"duplicates", "shifted", "hash_collisions", "changed",
		"unreadable", "not_regular_or_linked"};
	struct abd_perf_table *table =
		abd_perf_table_make("<searched|extent|files|MiB|extents|duplicates|MiB|shifted|MiB|"
				    "collisions|changed|unreadable|links, not files");

	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (!abd_perf_dedupe_is(result, "found"))
			continue;
		abd_perf_table_cell(table, "%s", result->name);
		abd_perf_table_cell(table, "%s", abd_perf_result_find(result, "extent_size")->text);
		abd_perf_table_cell(table, "%.0f", abd_perf_dedupe_number(result, "files"));
		abd_perf_table_cell(
			table, "%.1f", abd_perf_dedupe_number(result, "bytes") / (double)MIB);
		abd_perf_table_cell(table, "%.0f", abd_perf_dedupe_number(result, "extents"));
		for (unsigned j = 0; j < sizeof(count) / sizeof(count[0]); j++) {
			abd_perf_table_cell(
				table, "%.0f", abd_perf_dedupe_number(result, count[j]));
			if (j < 2)
				abd_perf_table_cell(table, "%.1f",
					abd_perf_dedupe_number(result,
						j == 0 ? "duplicate_bytes" : "shifted_bytes") /
						(double)MIB);
		}
	}
	abd_perf_table_print(table);
}

static void abd_perf_dedupe_print_times(void)
{
	struct abd_perf_table *table = abd_perf_table_make(
		"<searched|read|xxh3|rolling hash|scan for shifted|read to prove|prove");

	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (!abd_perf_dedupe_is(result, "time"))
			continue;
		abd_perf_table_cell(table, "%s", result->name);
		for (unsigned j = 0; j < result->figures; j++)
			abd_perf_table_cell(table, "%.3f", result->figure[j].value.median);
	}
	abd_perf_table_print(table);
}

static void abd_perf_dedupe_print_proofs(void)
{
	const char *const *kernel = abd_perf_dedupe_kernel;
	struct abd_perf_table *table =
		abd_perf_table_make("<proofs|count|MiB|timed|byte loop|word loop|memcmp|ours|"
				    "ours, GB/s|ours / byte loop|<|ours / memcmp|<");

	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (!abd_perf_dedupe_is(result, "proof"))
			continue;

		double bytes = abd_perf_dedupe_number(result, "bytes");

		abd_perf_table_cell(table, "%s", result->name);
		abd_perf_table_cell(table, "%.0f", abd_perf_dedupe_number(result, "proofs"));
		abd_perf_table_cell(table, "%.1f", bytes / (double)MIB);
		abd_perf_table_cell(
			table, "%.0f %%", abd_perf_dedupe_number(result, "timed_share") * 100);
		for (unsigned j = 0; j < KERNELS; j++)
			abd_perf_table_figure(
				table, abd_perf_result_find_figure(result, kernel[j]));
		abd_perf_table_cell(table, "%.1f",
			bytes / 1e6 /
				abd_perf_result_find_figure(result, kernel[AUTO])->value.median);
		for (unsigned j = 0; j < 2; j++) {
			const struct abd_perf_ratio *ratio = abd_perf_result_find_ratio(
				result, kernel[AUTO], kernel[j == 0 ? SCALAR : LIBC]);

			abd_perf_table_ratio(table, ratio);
			abd_perf_table_cell(
				table, "%s", abd_perf_stat_verdict_text(ratio->verdict));
		}
	}
	abd_perf_table_print(table);
}

static void abd_perf_dedupe_print_whole(void)
{
	const char *const *whole = abd_perf_dedupe_whole;
	struct abd_perf_table *table =
		abd_perf_table_make("<proofs|byte loop|word loop|memcmp|ours|word loop for byte "
				    "loop|ours for byte loop|<the source");

	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (!abd_perf_dedupe_is(result, "proof"))
			continue;
		abd_perf_table_cell(table, "%s", result->name);
		for (unsigned j = 0; j < KERNELS; j++)
			abd_perf_table_figure(table, abd_perf_result_find_figure(result, whole[j]));
		/* Of speeds a ratio r, of times 1 / r. */
		for (unsigned j = WORD; j <= AUTO; j += AUTO - WORD)
			abd_perf_table_cell(table, "%+.1f %%",
				100 / abd_perf_result_find_ratio(result, whole[j], whole[SCALAR])
							->value.median -
					100);
		abd_perf_table_cell(table, "-25 %% (1m30.7s to 1m8.9s)");
	}
	abd_perf_table_print(table);
}

static void abd_perf_dedupe_print(void)
{
	for (size_t i = 0; i < abd_perf_result_count(); i++) {
		const struct abd_perf_result *result = abd_perf_result_get(i);

		if (abd_perf_dedupe_is(result, "made"))
			printf("\ndedupe: %.0f files of %s in memory, half of them copies of the "
			       "other half; the source had 20,000 of "
			       "4 MB.\nRule: a quarter of the memory that can be had, at most 256 "
			       "MiB (2 GiB with --full, 64 MiB with --quick).\n",
				abd_perf_dedupe_number(result, "files"),
				abd_perf_result_find(result, "file_size")->text);
	}
	printf("\ndedupe: what was found; every duplicate is proven byte for byte\n");
	abd_perf_dedupe_print_found();
	printf("\ndedupe: CPU time of the search, user and system, s; measured once\n");
	abd_perf_dedupe_print_times();
	printf("\ndedupe: user CPU time of all proofs by kernel, ms, in memory (of a sample, "
	       "scaled, where less than 100 %% is "
	       "timed)\n");
	abd_perf_dedupe_print_proofs();
	printf("\ndedupe: the same with reading what is proven, CPU time, ms; the source's figure "
	       "is sys time of both.\n"
	       "Files made in memory are compared where they are, so nothing is read there.\n");
	abd_perf_dedupe_print_whole();
}

const struct abd_perf_scenario abd_perf_dedupe = {
	.name = "dedupe",
	.summary = "finding duplicate extents and proving them byte for byte, by comparison kernel",
	.uses = ABD_PERF_USES_INPUT | ABD_PERF_USES_RECORD_SIZE,
	.run = abd_perf_dedupe_run,
	.print = abd_perf_dedupe_print,
};
