/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As built, abd-perf has the Python program in after/ beside it; as installed, in
 * ../share/abd/after. It gets the result through a pipe, so tables are printed even when no file
 * can be written.
 */
#include "abd_perf_after.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#define ABD_PERF_AFTER_PATH 4096
#define ABD_PERF_AFTER_WORDS 64

extern char **environ;

/* Where python3 is: in PATH, or the system's own. */
static const char *const abd_perf_after_python[] = {"python3", "/usr/bin/python3"};

/*
 * Start argv with the first python3 that can be started. Its stdin is input (-1: our stdin).
 * Returns its process, or -1 when none can be started.
 */
static pid_t abd_perf_after_start(const char **argv, int input)
{
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	int error = ENOENT;

	posix_spawn_file_actions_init(&actions);
	if (input >= 0)
		posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	for (unsigned i = 0; i < 2 && error != 0; i++) {
		argv[0] = abd_perf_after_python[i];
		/* posix_spawnp() changes neither argv nor the environment: the cast is safe. */
		error = posix_spawnp(
			&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	}
	posix_spawn_file_actions_destroy(&actions);
	return error == 0 ? pid : -1;
}

/* Wait for a process. Returns its exit status; 1 without a process. */
static int abd_perf_after_end(pid_t pid)
{
	int status;

	while (pid < 0 || waitpid(pid, &status, 0) < 0) {
		if (pid < 0 || errno != EINTR)
			return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool abd_perf_after_here(void)
{
	const char *argv[] = {NULL, "-c", "pass", NULL};

	return abd_perf_after_end(abd_perf_after_start(argv, -1)) == 0;
}

/* Find the Python program's folder. Ends this program when there is none. */
static void abd_perf_after_folder(char folder[ABD_PERF_AFTER_PATH])
{
	/* The last is for a user's own program, which may lie anywhere. */
	static const char *const place[] = {
		"../share/abd/after", "after", ABD_PERF_AFTER_INSTALLED};
	char self[ABD_PERF_AFTER_PATH];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *beside;

	if (length < 0)
		abd_perf_say_die(1, "/proc/self/exe: %s", strerror(errno));
	self[length] = '\0';
	beside = dirname(self);
	for (unsigned i = 0; i < 3; i++) {
		bool anywhere = place[i][0] == '/';
		int used = snprintf(folder, ABD_PERF_AFTER_PATH, "%s%s%s", anywhere ? "" : beside,
			anywhere ? "" : "/", place[i]);

		if (used < ABD_PERF_AFTER_PATH && access(folder, X_OK) == 0)
			return;
	}
	abd_perf_say_die(1, "%s: %s", folder, strerror(errno));
}

void abd_perf_after_become(char **argv)
{
	/* -B: Python writes no byte code beside its files. */
	char folder[ABD_PERF_AFTER_PATH],
		*words[ABD_PERF_AFTER_WORDS] = {NULL, (char[]){"-B"}, folder};
	const char *command = argv[0];
	unsigned count = 3;

	while (*argv != NULL) {
		if (count == ABD_PERF_AFTER_WORDS - 1)
			abd_perf_say_die(EX_USAGE, "%s: too many words", command);
		words[count++] = *argv++;
	}
	abd_perf_after_folder(folder);
	for (unsigned i = 0; i < 2; i++) {
		char name[] = "/usr/bin/python3";

		words[0] = i == 0 ? strrchr(name, '/') + 1 : name;
		execvp(words[0], words);
	}
	abd_perf_say_die(1, "%s needs python3 (Debian: python3)", command);
}

int abd_perf_after_finish(const char *measured, const char *json, const char *csv)
{
	char folder[ABD_PERF_AFTER_PATH];
	const char *argv[9] = {NULL, "-B", folder, "finish"}, **to = argv + 4;
	size_t size = strlen(measured);
	int ends[2];
	ssize_t n;
	pid_t pid;

	if (json != NULL) {
		*to++ = "--json";
		*to++ = json;
	}
	if (csv != NULL) {
		*to++ = "--csv";
		*to++ = csv;
	}
	abd_perf_after_folder(folder);
	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC) != 0) {
		abd_perf_say_error("no pipe for tables: %s", strerror(errno));
		return 1;
	}
	signal(SIGPIPE, SIG_IGN); /* the reader may end early; its exit status says why */
	pid = abd_perf_after_start(argv, ends[0]);
	close(ends[0]);
	while (pid >= 0 && size > 0 &&
		((n = write(ends[1], measured, size)) >= 0 || errno == EINTR)) {
		measured += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	close(ends[1]);
	if (pid < 0)
		abd_perf_say_error("tables need python3 (Debian: python3)");
	return abd_perf_after_end(pid);
}
