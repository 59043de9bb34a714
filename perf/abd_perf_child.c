/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The child gets the parent's flags, then one that says where its figures go; of two flags the last
 * counts. It prints its progress, and nothing else.
 */
#include "abd_perf_run.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *abd_perf_child_read(int fd)
{
	FILE *stream = fdopen(fd, "r");
	char *text = NULL;
	size_t room = 0;

	if (stream == NULL || getdelim(&text, &room, '\0', stream) <= 0) {
		free(text);
		text = NULL;
	}
	if (stream != NULL)
		fclose(stream);
	return text;
}

char *abd_perf_child_run(char **argv, const struct abd_perf_options *options,
	const struct abd_perf_scenario *const *chosen, size_t count, unsigned number, int *status)
{
	char self[] = "/proc/self/exe", command[] = "run", flag[64], *words[256] = {self, command},
	     *text = NULL;
	char name[ABD_PERF_NAMES_MAX][32];
	size_t n = 2;
	int ends[2], ended = 0;
	pid_t pid = -1;

	*status = 1;
	for (size_t i = 1; argv[i] != NULL && n < 200; i++)
		words[n++] = argv[i];
	for (size_t i = 0; options->name_count == 0 && i < count; i++) {
		snprintf(name[i], sizeof(name[i]), "%s", chosen[i]->name);
		words[n++] = name[i];
	}
	if (pipe(ends) != 0) {
		abd_perf_say_warn("process %u: %s", number, strerror(errno));
		return NULL;
	}
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	snprintf(flag, sizeof(flag), "--as-process=%u,%d", number, ends[1]);
	words[n] = flag;
	if (posix_spawn(&pid, self, NULL, NULL, words, environ) != 0)
		pid = -1;
	close(ends[1]);
	text = abd_perf_child_read(ends[0]);
	while (pid >= 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
		;
	*status = pid < 0 ? 1 : WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
	if (text == NULL && *status == 0)
		*status = 1;
	if (text == NULL)
		abd_perf_say_warn("process %u gave no figures (%s): those of the processes before "
				  "it are kept",
			number,
			pid < 0              ? "it can't be started"
			: WIFSIGNALED(ended) ? strsignal(WTERMSIG(ended))
					     : "it ended early");
	return text;
}
