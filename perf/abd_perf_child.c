/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The child gets the parent's flags, then one that says which process it is; of two flags the last
 * counts. It prints its figures, and its progress to stderr.
 */
#include "abd_perf_process.h"
#include "abd_perf_run.h"
#include "abd_perf_say.h"

#include <stdlib.h>
#include <string.h>

char *abd_perf_child_run(char **argv, const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count, unsigned number, int *status)
{
	const char *words[256] = {"/proc/self/exe", "run"};
	char flag[32], *text = NULL;
	size_t n = 2, room = 0;

	for (size_t i = 1; argv[i] != NULL && n < 200; i++)
		words[n++] = argv[i];
	for (size_t i = 0; options->name_count == 0 && i < count; i++)
		words[n++] = chosen[i]->name;
	snprintf(flag, sizeof(flag), "--as-process=%u", number);
	words[n] = flag;

	struct abd_perf_process process = abd_perf_process_start(words, "r");

	if (process.pipe == NULL || getdelim(&text, &room, '\0', process.pipe) <= 0) {
		free(text);
		text = NULL;
	}
	*status = abd_perf_process_end(&process);
	if (text == NULL)
		abd_perf_say_warn("process %u gave no figures (%s): those of the processes before "
				  "it are kept",
			number,
			*status == 127  ? "it can't be started"
			: *status > 128 ? strsignal(*status - 128)
					: "it ended early");
	if (text == NULL && *status == 0)
		*status = 1;
	return text;
}
