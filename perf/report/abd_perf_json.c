/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tree is built, written, flushed to the disk and renamed, in this order. A path that exists and is no regular file
 * (/dev/stdout, a pipe) is written to directly: there is nothing to rename over.
 */
#include "abd_perf_json.h"
#include "abd_perf_env.h"
#include "abd_perf_jobs.h"
#include "abd_perf_race.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"

#include <abd/version.h>

#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static json_t *abd_perf_json_summary(const struct abd_perf_summary *summary)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:i}", "median", summary->median, "low",
		summary->low, "high", summary->high, "mad", summary->mad, "rounds",
		(int)summary->rounds);
}

static json_t *abd_perf_json_figure(const struct abd_perf_figure *figure)
{
	json_t *object = abd_perf_json_summary(&figure->value);

	json_object_set_new(object, "name", json_string(figure->name));
	json_object_set_new(object, "unit", json_string(figure->unit));
	return object;
}

static json_t *abd_perf_json_ratio(const struct abd_perf_ratio *ratio)
{
	json_t *object = abd_perf_json_summary(&ratio->value);

	json_object_set_new(object, "of", json_string(ratio->of));
	json_object_set_new(object, "against", json_string(ratio->against));
	json_object_set_new(
		object, "verdict", json_string(abd_perf_stat_verdict_text(ratio->verdict)));
	json_object_set_new(
		object, "target", ratio->target != 0 ? json_real(ratio->target) : json_null());
	json_object_set_new(object, "target_verdict",
		ratio->target != 0 ? json_string(abd_perf_result_target_text(ratio)) : json_null());
	json_object_set_new(
		object, "source", ratio->source != NULL ? json_string(ratio->source) : json_null());
	return object;
}

/* Whole numbers stay whole: sizes of sets and records must not be rounded. */
static json_t *abd_perf_json_parameter(const struct abd_perf_parameter *parameter)
{
	if (!parameter->is_number)
		return json_string(parameter->text);
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
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "scenario", result->scenario, "group",
		result->group, "name", result->name, "parameters", parameters, "figures", figures,
		"ratios", ratios);
}

static json_t *abd_perf_json_environment(void)
{
	json_t *object = json_object();
	const struct abd_perf_env *fact;

	for (unsigned i = 0; (fact = abd_perf_env_get(i)) != NULL; i++)
		json_object_set_new(object, fact->name, json_string(fact->text));
	return object;
}

static json_t *abd_perf_json_tree(const struct abd_perf_options *options, bool complete)
{
	json_t *warnings = json_array(), *results = json_array();
	const char *warning;

	for (unsigned i = 0; (warning = abd_perf_say_warning(i)) != NULL; i++)
		json_array_append_new(warnings, json_string(warning));
	for (size_t i = 0; i < abd_perf_result_count(); i++)
		json_array_append_new(results, abd_perf_json_result(abd_perf_result_get(i)));
	return json_pack("{s:s, s:s, s:b, s:o, s:{s:I, s:i, s:b, s:f, s:s?}, s:o, s:o, s:o, s:o}",
		"format", "abd-perf-1", "fio version", "abd-perf " ABD_VERSION_STRING, "complete",
		(int)complete, "environment", abd_perf_json_environment(), "options", "seed",
		(json_int_t)options->seed, "rounds", (int)abd_perf_options_rounds(options), "quick",
		(int)options->quick, "runtime_s", options->runtime_s, "input", options->input,
		"noise", abd_perf_json_summary(&abd_perf_race_noise), "warnings", warnings,
		"results", results, "jobs", abd_perf_jobs_json());
}

static bool abd_perf_json_is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

void abd_perf_json_check(const char *path)
{
	char copy[4096];

	if (strlen(path) >= sizeof(copy) - 32)
		abd_perf_say_die(1, "--json: the path is too long");
	strcpy(copy, path);
	if (abd_perf_json_is_special(path) ? access(path, W_OK) != 0
					   : access(dirname(copy), W_OK | X_OK) != 0)
		abd_perf_say_die(1, "--json %s: %s", path, strerror(errno));
}

static int abd_perf_json_to_file(json_t *tree, const char *path)
{
	FILE *file = fopen(path, "we");
	int error = 0;

	if (file == NULL)
		return -errno;
	errno = 0;
	if (json_dumpf(tree, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) != 0 ||
		fputc('\n', file) == EOF || fflush(file) != 0)
		error = errno != 0 ? -errno : -EIO;
	/* A pipe or a terminal can't be synced (EINVAL), and needs not be. */
	if (error == 0 && fsync(fileno(file)) != 0 && errno != EINVAL)
		error = -errno;
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

int abd_perf_json_write(const struct abd_perf_options *options, bool complete)
{
	char temporary[4096];
	json_t *tree = abd_perf_json_tree(options, complete);
	int error;

	if (tree == NULL)
		return -ENOMEM;
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error like a full disk */
	if (abd_perf_json_is_special(options->json)) {
		error = abd_perf_json_to_file(tree, options->json);
		json_decref(tree);
		return error;
	}
	snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", options->json, (long)getpid());
	error = abd_perf_json_to_file(tree, temporary);
	json_decref(tree);
	if (error == 0 && rename(temporary, options->json) != 0)
		error = -errno;
	if (error != 0)
		unlink(temporary);
	return error;
}
