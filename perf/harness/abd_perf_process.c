/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The child keeps its end of the pipe as stdin or stdout, and nothing else of ours.
 */
#include "abd_perf_process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct abd_perf_process abd_perf_process_start(const char *const *argv, const char *mode)
{
	struct abd_perf_process process = {-1, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2] = {-1, -1}, ours = *mode == 'r' ? 0 : 1;

	if (*mode != '\0' && pipe2(ends, O_CLOEXEC) != 0)
		return process;
	posix_spawn_file_actions_init(&actions);
	if (*mode != '\0') {
		posix_spawn_file_actions_adddup2(&actions, ends[!ours], !ours);
		process.pipe = fdopen(ends[ours], mode);
	}
	/* posix_spawnp() changes neither argv nor the environment: the cast is safe. */
	if (posix_spawnp(&process.pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv,
		    environ) != 0)
		process.pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	if (*mode != '\0')
		close(ends[!ours]);
	return process;
}

int abd_perf_process_end(struct abd_perf_process *process)
{
	int status;

	if (process->pipe != NULL)
		fclose(process->pipe);
	while (process->pid < 0 || waitpid(process->pid, &status, 0) < 0) {
		if (process->pid < 0 || errno != EINTR)
			return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
