/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd-perf: the library's own scenarios, and the commands that only it has.
 */
#include "abd_perf_command.h"
#include "abd_perf_memory_child.h"
#include "abd_perf_run.h"
#include "abd_perf_tune.h"

#include <stdlib.h>
#include <string.h>

/* `abd-perf arc-policy FLAGS` is `abd-perf run arc-policy FLAGS`. */
static int abd_perf_main_policy(int argc, char **argv)
{
	char **words = calloc((size_t)argc + 2, sizeof(*words)), name[] = "arc-policy";
	int status;

	if (words == NULL)
		return 1;
	words[0] = argv[0];
	words[1] = name;
	memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof(*words));
	status = abd_perf_run(argc + 1, words);
	free(words);
	return status;
}

int main(int argc, char **argv)
{
	static const struct abd_perf_command more[] = {
		{"tune", "abd-perf tune", abd_perf_tune},
		{"arc-policy", "abd-perf run", abd_perf_main_policy},
		/* for the scenario memory, not for users */
		{"memory-child", "memory-child", abd_perf_memory_child},
		{NULL, NULL, NULL},
	};

	return abd_perf_command(argc, argv, abd_perf_scenarios_all, more);
}
