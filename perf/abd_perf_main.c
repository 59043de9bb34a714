/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd-perf: the library's own scenarios, and the commands that only it has. A scenario is a line
 * here and a file with its struct (CONTRIBUTING.md).
 */
#include "abd_perf_command.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct abd_perf_scenario abd_perf_arc_read, abd_perf_arc_cached_read,
	abd_perf_arc_scale, abd_perf_arc_life, abd_perf_buffer, abd_perf_compare, abd_perf_codec,
	abd_perf_flush, abd_perf_memory, abd_perf_lz4, abd_perf_arc_cached_range, abd_perf_sums;

static const struct abd_perf_scenario *const abd_perf_main_scenarios[] = {
#if ABD_PERF_WITH_ARC
	&abd_perf_arc_life, /* first: what is resident is the cache's alone */
#endif
	&abd_perf_arc_read,
#if ABD_PERF_WITH_ARC
	&abd_perf_arc_cached_read,
	&abd_perf_arc_cached_range,
	&abd_perf_arc_scale,
#endif
	&abd_perf_buffer,
	&abd_perf_compare,
	&abd_perf_codec,
	&abd_perf_lz4,
	&abd_perf_sums,
	&abd_perf_flush,
	&abd_perf_memory,
	NULL,
};

#if ABD_PERF_WITH_ARC
/* `abd-perf arc-policy FLAGS` is `abd-perf-arc-policy run FLAGS`, a program beside this one. */
static int abd_perf_main_policy(int argc, char **argv)
{
	char **words = calloc((size_t)argc + 2, sizeof(*words)), run[] = "run";
	char self[PATH_MAX], program[PATH_MAX + 32];

	if (words == NULL || realpath("/proc/self/exe", self) == NULL)
		abd_perf_say_die(1, "arc-policy: %s", strerror(errno));
	snprintf(program, sizeof(program), "%s/abd-perf-arc-policy", dirname(self));
	words[0] = program;
	words[1] = run;
	memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof(*words));
	execv(program, words);
	abd_perf_say_die(1, "%s: %s", program, strerror(errno));
}
#endif

int main(int argc, char **argv)
{
	static const struct abd_perf_command more[] = {
		{"tune", "abd-perf tune", abd_perf_tune, "tune",
			"find the best kernels for this machine"},
#if ABD_PERF_WITH_ARC
		{"arc-policy", "arc-policy", abd_perf_main_policy, "arc-policy",
			"hits of the cache's policy, and of others"},
#endif
		/* for the scenario memory */
		{"memory-child", "memory-child", abd_perf_memory_child, NULL, NULL},
		{NULL, NULL, NULL, NULL, NULL},
	};

	return abd_perf_command(argc, argv, abd_perf_main_scenarios, more);
}
