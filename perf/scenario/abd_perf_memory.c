/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory: what is resident while buffers come and go, by provider, beside the C library's malloc
 * and jemalloc as programs use them. Four patterns, each of which keeps memory from coming back in
 * its own way:
 *
 *   burst   as much as allowed is allocated and freed, then small buffers go on
 *   churn   random sizes are replaced at random, then all but a twentieth are freed
 *   shift   buffers of 4 KiB give way to buffers of 1 MiB
 *   sparse  all but one 4 KiB buffer in 64 are freed
 *
 * Each source has a process of its own (abd_perf_memory_child.h), so nothing is left from what was
 * measured before. The processes of a pattern run at the same time.
 */
#include "abd_perf_filter.h"
#include "abd_perf_memory_child.h"
#include "abd_perf_process.h"
#include "abd_perf_result.h"
#include "abd_perf_say.h"
#include "abd_perf_scenario.h"
#include "abd_perf_stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define ABD_PERF_MEMORY_SOURCES 6

/* Providers of libabd first. */
static const char *const abd_perf_memory_source[ABD_PERF_MEMORY_SOURCES] = {
	"regions", "pool", "malloc", "jemalloc", "plain glibc", "plain jemalloc"};

struct abd_perf_memory_run {
	struct abd_perf_process process;
	bool present;
	double bytes[ABD_PERF_MEMORY_STEPS], resident[ABD_PERF_MEMORY_STEPS]; /* MiB */
};

/* The child is this program again, with jemalloc as its malloc if that is the source. */
static void abd_perf_memory_start(
	struct abd_perf_memory_run *run, const char *source, const char *pattern, size_t bytes)
{
	/* The loader has words about LD_PRELOAD. jemalloc's own default for its decay is 10 s. */
	static const char script[] =
		"if [ \"$1\" = 'plain jemalloc' ]; then\n"
		"	export LD_PRELOAD=libjemalloc.so.2\n"
		"else\n"
		"	unset LD_PRELOAD\n"
		"fi\n"
		"MALLOC_CONF=dirty_decay_ms:500 exec \"$0\" memory-child \"$@\" "
		"2>/dev/null";
	char text[32], self[32];

	snprintf(text, sizeof(text), "%zu", bytes);
	snprintf(self, sizeof(self), "/proc/%d/exe", getpid());
	run->process = abd_perf_process_start(
		(const char *[]){"sh", "-c", script, self, source, pattern, text, NULL}, "r");
	if (run->process.pipe == NULL)
		abd_perf_say_die(1, "no process for memory");
}

/* Returns an exit status. */
static int abd_perf_memory_end(struct abd_perf_memory_run *run, const char *source)
{
	size_t bytes, resident;
	unsigned steps = 0;
	int status;

	while (steps < ABD_PERF_MEMORY_STEPS &&
		fscanf(run->process.pipe, "%zu %zu", &bytes, &resident) == 2) {
		run->bytes[steps] = (double)bytes / (double)MIB;
		run->resident[steps++] = (double)resident / (double)MIB;
	}
	status = abd_perf_process_end(&run->process);
	run->present = steps == ABD_PERF_MEMORY_STEPS;
	if (run->present || abd_perf_stop_wanted() || status == ABD_PERF_MEMORY_ABSENT)
		return 0;
	abd_perf_say_error("memory: the process of %s ended early", source);
	return 1;
}

static void abd_perf_memory_add(const struct abd_perf_memory_run *runs, const char *pattern)
{
	for (unsigned step = 0; step < ABD_PERF_MEMORY_STEPS; step++) {
		bool last = step == ABD_PERF_MEMORY_STEPS - 1;
		json_t *result = abd_perf_result_add("memory", pattern,
			last ? "%s, after a reap" : "%s, step %u", pattern, step);

		abd_perf_result_number(result, "step", step);
		for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES; i++) {
			if (!runs[i].present)
				continue;
			if (json_array_size(json_object_get(result, "figures")) == 0)
				abd_perf_result_value(result, "in use", "MiB", runs[i].bytes[step]);
			abd_perf_result_value(
				result, abd_perf_memory_source[i], "MiB", runs[i].resident[step]);
		}
	}
}

static int abd_perf_memory_pattern(const char *pattern, size_t bytes, bool *absent)
{
	struct abd_perf_memory_run runs[ABD_PERF_MEMORY_SOURCES];
	int status = 0;

	abd_perf_say_step("%s", pattern);
	if (!abd_perf_filter_passes())
		return 0;
	for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES; i++)
		abd_perf_memory_start(&runs[i], abd_perf_memory_source[i], pattern, bytes);
	for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES; i++) {
		status |= abd_perf_memory_end(&runs[i], abd_perf_memory_source[i]);
		absent[i] = !runs[i].present;
	}
	if (status == 0 && !abd_perf_stop_wanted())
		abd_perf_memory_add(runs, pattern);
	return status;
}

static int abd_perf_memory_scenario(const struct abd_perf_options *options)
{
	static const char *const patterns[] = {"burst", "churn", "shift", "sparse"};
	bool absent[ABD_PERF_MEMORY_SOURCES] = {false};
	int status = 0;

	abd_perf_say_begin("memory", 4);
	for (unsigned i = 0; i < 4 && status == 0 && !abd_perf_stop_wanted(); i++)
		status = abd_perf_memory_pattern(
			patterns[i], (options->quick ? 64 : 512) * MIB, absent);
	for (unsigned i = 0; i < ABD_PERF_MEMORY_SOURCES && status == 0; i++)
		if (absent[i] && !abd_perf_stop_wanted())
			abd_perf_say_warn("memory: %s is left out: it is not there",
				abd_perf_memory_source[i]);
	return status;
}

const struct abd_perf_scenario abd_perf_memory = {
	.name = "memory",
	.summary = "what is resident while buffers come and go, by provider, beside plain malloc",
	.normal_s = 3,
	.full_s = 15,
	.run = abd_perf_memory_scenario,
};
