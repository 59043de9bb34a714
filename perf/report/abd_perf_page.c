/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page is made by abd_perf_report.py, which lies beside this program. Two runs are compared
 * here, so that the page says what `abd-perf compare` says; the comparison is handed over in
 * memory.
 */
#include "abd_perf_page.h"
#include "abd_perf_pair.h"
#include "abd_perf_say.h"

#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ABD_PERF_PAGE_PATH 4096

extern char **environ;

struct abd_perf_page_options {
	const char *path[2];
	unsigned paths;
	const char *output;
};

static const struct argp_option abd_perf_page_table[] = {
	{"output", 'o', "FILE", 0, "The page (default: report.html)", 0},
	{0},
};

static error_t abd_perf_page_key(int key, char *value, struct argp_state *state)
{
	struct abd_perf_page_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = value;
		return 0;
	case ARGP_KEY_ARG:
		if (options->paths == 2)
			argp_error(state, "a report is of one run or of two");
		options->path[options->paths++] = value;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no run is named: A.json, or A.json B.json");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp abd_perf_page_argp = {
	.options = abd_perf_page_table,
	.parser = abd_perf_page_key,
	.args_doc = "A.json [B.json]",
	.doc = "One HTML file that needs no other: what a run found, in pictures, sentences and tables; of two runs, also what "
	       "changed.\v"
	       "Examples:\n"
	       "  abd-perf report result.json -o report.html\n"
	       "  abd-perf report before.json after.json -o change.html\n\n"
	       "Needs python3 with matplotlib (Debian: python3-matplotlib).",
};

/*
 * Where abd_perf_report.py is: in the folder of this program, as built, or in share/abd beside
 * that, as installed.
 */
static void abd_perf_page_script(char script[ABD_PERF_PAGE_PATH])
{
	static const char *const place[] = {"../share/abd", "."};
	char self[ABD_PERF_PAGE_PATH];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *folder;

	if (length < 0)
		abd_perf_say_die(1, "/proc/self/exe: %s", strerror(errno));
	self[length] = '\0';
	folder = dirname(self);
	for (unsigned i = 0; i < 2; i++) {
		int used = snprintf(
			script, ABD_PERF_PAGE_PATH, "%s/%s/abd_perf_report.py", folder, place[i]);

		if (used < ABD_PERF_PAGE_PATH && access(script, R_OK) == 0)
			return;
	}
	abd_perf_say_die(1, "%s: %s", script, strerror(errno));
}

/* Run a program of PATH; its exit status, or 127. */
static int abd_perf_page_spawn(const char *const *arguments)
{
	pid_t pid;
	int status;

	/* Neither is changed by the program started. */
	if (posix_spawnp(&pid, arguments[0], NULL, NULL, (char *const *)(uintptr_t)arguments,
		    environ) != 0)
		return 127;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* The package's matplotlib belongs to the system's python3, which need not be the first in PATH. */
static const char *abd_perf_page_python(void)
{
	static const char *const python[] = {"python3", "/usr/bin/python3"};
	static const char look[] =
		"import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)";

	for (unsigned i = 0; i < 2; i++) {
		const char *const arguments[] = {python[i], "-c", look, NULL};

		if (abd_perf_page_spawn(arguments) == 0)
			return python[i];
	}
	abd_perf_say_die(1, "a report needs python3 with matplotlib (Debian: python3-matplotlib)");
}

/* A file in memory that holds the comparison; its name in text. */
static void abd_perf_page_compare(char *text, size_t room, const char *const *path)
{
	struct abd_perf_pairs pairs;
	int fd = memfd_create("comparison", 0);
	json_t *tree;

	if (fd < 0)
		abd_perf_say_die(1, "no memory for a comparison: %s", strerror(errno));
	abd_perf_pair_make(&pairs, abd_perf_pair_load(path[0]), abd_perf_pair_load(path[1]), NULL);
	tree = abd_perf_pair_json(&pairs);
	if (json_dumpfd(tree, fd, 0) != 0)
		abd_perf_say_die(1, "no memory for a comparison");
	json_decref(tree);
	abd_perf_pair_free(&pairs);
	lseek(fd, 0, SEEK_SET);
	snprintf(text, room, "/dev/fd/%d", fd);
}

int abd_perf_page(int argc, char **argv)
{
	struct abd_perf_page_options options = {.output = "report.html"};
	char script[ABD_PERF_PAGE_PATH], comparison[32];

	argp_parse(&abd_perf_page_argp, argc, argv, 0, NULL, &options);
	if (options.paths == 1)
		json_decref(abd_perf_pair_load(options.path[0]));
	else
		abd_perf_page_compare(comparison, sizeof(comparison), options.path);
	abd_perf_page_script(script);

	const char *const arguments[] = {abd_perf_page_python(), script, options.path[0], "-o",
		options.output, options.paths == 2 ? "--compare" : NULL, options.path[1],
		comparison, NULL};

	return abd_perf_page_spawn(arguments);
}
