/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arc-policy: is ARC still the right policy? The library's cache, simulated policies and bounds
 * that know the future answer the same requests, made ones or those of --trace, with room for parts
 * of what is asked for. All begin empty, and all requests count.
 *
 *   hits    of a trace and a size: the share of requests, or of their bytes, that are hits
 *   memory  of a trace at one size: bytes for each record. Of the library's cache all but the
 *           record's bytes; of a simulated one what its policy notes, without key and hash table
 *
 * It has nothing to claim: hits are counted, and docs/arc-policy.md says what follows. It is a
 * program of one scenario, made of abd-perf's parts, and `abd-perf arc-policy` starts it.
 */
#include "abd_perf_command.h"
#include "abd_perf_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Rooms: parts of the bytes that a trace asks for. Which of them are measured, by mode. */
static const unsigned abd_perf_policy_parts[] = {64, 32, 16, 8, 4, 2};
static const unsigned abd_perf_policy_modes[] = {
	[ABD_PERF_NORMAL] = 64 | 16 | 4 | 2, [ABD_PERF_QUICK] = 16, [ABD_PERF_FULL] = 127};
#define ABD_PERF_POLICY_MEMORY_PART 4

enum { POLICIES = ABD_PERF_POLICIES };

struct abd_perf_policy_run {
	double requests, bytes; /* hits */
	double memory, held;
};

static struct abd_perf_policy_run abd_perf_policy_measure(
	const struct abd_perf_policy *policy, const struct abd_perf_trace *trace, size_t capacity)
{
	struct abd_perf_policy_run run = {0};
	struct abd_perf_cache cache;

	abd_perf_cache_begin(&cache, policy, capacity);
	for (size_t i = 0; i < trace->count; i++) {
		if (abd_perf_cache_access(&cache, &trace->request[i])) {
			run.requests++;
			run.bytes += trace->request[i].size;
		}
	}
	run.memory = abd_perf_cache_memory(&cache);
	run.held = cache.held;
	abd_perf_cache_end(&cache);
	return run;
}

static json_t *abd_perf_policy_result(
	const char *group, const char *name, const struct abd_perf_trace *trace, unsigned part)
{
	json_t *result = abd_perf_result_add("arc-policy", group, "%s, 1/%u", name, part);

	abd_perf_result_text(result, "data", name);
	abd_perf_result_number(result, "part", part);
	abd_perf_result_number(result, "room_bytes", (double)(trace->distinct_bytes / part));
	abd_perf_result_number(result, "requests", (double)trace->count);
	abd_perf_result_number(result, "distinct", (double)trace->distinct);
	return result;
}

/* A bound that no policy can exceed: MIN if all records have one size, else PFOO-L. */
static void abd_perf_policy_roof(json_t *result, const struct abd_perf_trace *trace,
	size_t capacity, bool by_bytes, const struct abd_perf_policy_run *min)
{
	double all = by_bytes ? (double)trace->bytes : (double)trace->count;

	abd_perf_result_value(result, trace->one_size ? "MIN" : "farthest first", "%",
		100 * (by_bytes ? min->bytes : min->requests) / all);
	if (!trace->one_size)
		abd_perf_result_value(result, "PFOO-L", "%",
			100 * abd_perf_policy_pfoo(trace, capacity, by_bytes) / all);
}

static void abd_perf_policy_part(
	const char *name, const struct abd_perf_trace *trace, unsigned part)
{
	size_t capacity = (size_t)(trace->distinct_bytes / part);
	struct abd_perf_policy_run run[POLICIES], min;
	json_t *hits, *bytes = NULL, *memory = NULL;

	for (unsigned i = 0; i < POLICIES; i++)
		run[i] = abd_perf_policy_measure(abd_perf_policies[i], trace, capacity);
	min = abd_perf_policy_measure(&abd_perf_policy_min, trace, capacity);
	hits = abd_perf_policy_result("hits", name, trace, part);
	abd_perf_result_number(hits, "held", run[0].held);
	if (!trace->one_size)
		bytes = abd_perf_policy_result("bytes", name, trace, part);
	if (part == ABD_PERF_POLICY_MEMORY_PART)
		memory = abd_perf_policy_result("memory", name, trace, part);
	for (unsigned i = 0; i < POLICIES; i++) {
		const char *policy = abd_perf_policies[i]->name;

		abd_perf_result_value(
			hits, policy, "%", 100 * run[i].requests / (double)trace->count);
		if (bytes != NULL)
			abd_perf_result_value(
				bytes, policy, "%", 100 * run[i].bytes / (double)trace->bytes);
		if (memory != NULL)
			abd_perf_result_value(memory, policy, "bytes", run[i].memory);
	}
	abd_perf_policy_roof(hits, trace, capacity, false, &min);
	if (bytes != NULL)
		abd_perf_policy_roof(bytes, trace, capacity, true, &min);
}

static void abd_perf_policy_trace(const char *name, const struct abd_perf_trace *trace,
	const struct abd_perf_options *options)
{
	for (unsigned i = 0; i < sizeof(abd_perf_policy_parts) / sizeof(unsigned); i++) {
		unsigned part = abd_perf_policy_parts[i];

		if ((abd_perf_policy_modes[options->mode] & part) != 0 && !abd_perf_say_stopped())
			abd_perf_policy_part(name, trace, part);
	}
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void abd_perf_policy_read(struct abd_perf_trace *trace, const char *path)
{
	FILE *file = fopen(path, "rb");
	const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	size_t length = strlen(path);
	char error[80];

	if (file == NULL)
		abd_perf_say_die(1, "--trace %s: %s", path, strerror(errno));
	if (length > 4 && strcmp(path + length - 4, ".zst") == 0)
		abd_perf_say_die(1, "--trace %s: decompress it first, with zstd -d", path);
	if (!abd_perf_trace_read(
		    trace, file, strstr(name, "oracleGeneral") != NULL, error, sizeof(error)))
		abd_perf_say_die(1, "--trace %s: %s", path, error);
	fclose(file);
}

static int abd_perf_policy_run_all(const struct abd_perf_options *options)
{
	size_t keys = options->mode == ABD_PERF_FULL    ? 65536
		      : options->mode == ABD_PERF_QUICK ? 4096
							: 16384;
	const char *given[] = {options->trace, NULL};
	const char *const *names = options->trace != NULL ? given : abd_perf_trace_names;
	struct abd_perf_trace trace;

	abd_perf_say_begin("arc-policy", options->trace != NULL ? 1 : 10);
	for (unsigned i = 0; names[i] != NULL && !abd_perf_say_stopped(); i++) {
		const char *slash = strrchr(names[i], '/');
		const char *name = slash != NULL ? slash + 1 : names[i];

		abd_perf_say_step("%s", name);
		if (!abd_perf_say_wanted())
			continue;
		if (options->trace != NULL)
			abd_perf_policy_read(&trace, options->trace);
		else
			abd_perf_trace_make(&trace, i, keys, 10 * keys, options->seed);
		abd_perf_policy_trace(name, &trace, options);
		abd_perf_trace_free(&trace);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct abd_perf_scenario scenario = {
		.name = "arc-policy",
		.summary = "hits of the cache's policy, of nine others and of who knows the future",
		.uses = ABD_PERF_USES_TRACE,
		.normal_s = 16,
		.full_s = 80,
		.run = abd_perf_policy_run_all,
	};
	static const struct abd_perf_scenario *const list[] = {&scenario, NULL};

	return abd_perf_command(argc, argv, list, NULL);
}
