/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As built, abd-perf has the Python program in after/ beside it; as installed, in
 * ../share/abd/after. It gets the result through a pipe, so tables are printed even when no file
 * can be written.
 */
#include "abd_perf_after.h"
#include "abd_perf_process.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define ABD_PERF_AFTER_PATH 4096
#define ABD_PERF_AFTER_WORDS 64

static const char *abd_perf_after_python; /* NULL: not looked for */

/* Find the Python program's folder. False: there is none; folder is the last that was tried. */
static bool abd_perf_after_folder(char folder[ABD_PERF_AFTER_PATH])
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
	setenv("ABD_PERF_PROGRAM", self, 1); /* what counts lies beside it */
	beside = dirname(self);
	for (unsigned i = 0; i < 3; i++) {
		bool anywhere = place[i][0] == '/';
		int used = snprintf(folder, ABD_PERF_AFTER_PATH, "%s%s%s", anywhere ? "" : beside,
			anywhere ? "" : "/", place[i]);

		if (used < ABD_PERF_AFTER_PATH && access(folder, X_OK) == 0)
			return true;
	}
	return false;
}

static void abd_perf_after_find(const char *command, char folder[ABD_PERF_AFTER_PATH])
{
	/* The system's own, where PATH has none. */
	static const char *const python[] = {"python3", "/usr/bin/python3"};

	for (unsigned i = 0; i < 2 && abd_perf_after_python == NULL; i++) {
		struct abd_perf_process process =
			abd_perf_process_start((const char *[]){python[i], "-c", "pass", NULL}, "");

		if (abd_perf_process_end(&process) == 0)
			abd_perf_after_python = python[i];
	}
	if (abd_perf_after_python == NULL)
		abd_perf_say_die(1, "%s needs python3 (Debian: python3)", command);
	if (!abd_perf_after_folder(folder))
		abd_perf_say_die(1, "%s: %s", folder, strerror(errno));
}

void abd_perf_after_become(char **argv)
{
	/* -B: Python writes no byte code beside its files. */
	char folder[ABD_PERF_AFTER_PATH];
	const char *words[ABD_PERF_AFTER_WORDS] = {NULL, "-B", folder};
	const char *command = argv[0];
	unsigned count = 3;

	while (*argv != NULL) {
		if (count == ABD_PERF_AFTER_WORDS - 1)
			abd_perf_say_die(EX_USAGE, "%s: too many words", command);
		words[count++] = *argv++;
	}
	abd_perf_after_find(command, folder);
	words[0] = abd_perf_after_python;
	/* execvp() does not change the words: the cast is safe. */
	execvp(words[0], (char *const *)(uintptr_t)words);
	abd_perf_say_die(1, "%s: %s", words[0], strerror(errno));
}

/* Run its command finish over measured; NULL: it only looks whether it can write its files. */
static int abd_perf_after_run(const char *measured, const struct abd_perf_options *options)
{
	const char *const flags[][2] = {
		{"--json", options->json}, {"--csv", options->csv}, {"--bmf", options->bmf}};
	char folder[ABD_PERF_AFTER_PATH];
	const char *argv[12] = {NULL, "-B", folder, "finish"}, **to = argv + 4;
	struct abd_perf_process process;

	for (unsigned i = 0; i < 3; i++) {
		if (flags[i][1] == NULL)
			continue;
		*to++ = flags[i][0];
		*to++ = flags[i][1];
	}
	if (measured == NULL)
		*to = "--check";
	abd_perf_after_find("run", folder);
	argv[0] = abd_perf_after_python;
	fflush(stdout);
	if (measured != NULL) /* the reader may end early; its exit status says why */
		signal(SIGPIPE, SIG_IGN);
	process = abd_perf_process_start(argv, measured != NULL ? "w" : "");
	if (process.pipe != NULL)
		fputs(measured, process.pipe);
	return abd_perf_process_end(&process);
}

void abd_perf_after_check(const struct abd_perf_options *options)
{
	int status = abd_perf_after_run(NULL, options);

	if (status != 0)
		exit(status);
}

int abd_perf_after_finish(const char *measured, const struct abd_perf_options *options)
{
	return abd_perf_after_run(measured, options);
}
