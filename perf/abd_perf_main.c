/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd-perf: the library's own scenarios, and the commands that only it has.
 */
#include "abd_perf_command.h"
#include "abd_perf_memory_child.h"
#include "abd_perf_tune.h"

#include <stddef.h>

int main(int argc, char **argv)
{
	static const struct abd_perf_command more[] = {
		{"tune", "abd-perf tune", abd_perf_tune},
		/* for the scenario memory, not for users */
		{"memory-child", "memory-child", abd_perf_memory_child},
		{NULL, NULL, NULL},
	};

	return abd_perf_command(argc, argv, abd_perf_scenarios_all, more);
}
