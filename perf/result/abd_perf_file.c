/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Invariant: a failure leaves no temporary file, and leaves the old file unchanged.
 */
#include "abd_perf_file.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Files in /dev are never replaced: /dev/stdout may lead to a regular file, which we must not
 * rename over.
 */
static bool abd_perf_file_is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 &&
	       (!S_ISREG(status.st_mode) || strncmp(path, "/dev/", 5) == 0);
}

/*
 * Follow the links of a path to its file; the links stay. False: the path is too long, or its
 * folder does not exist.
 */
static bool abd_perf_file_target(const char *path, char target[PATH_MAX])
{
	return realpath(path, target) != NULL ||
	       (errno == ENOENT && snprintf(target, PATH_MAX, "%s", path) < PATH_MAX - 32);
}

void abd_perf_file_check(const char *flag, const char *path)
{
	char target[PATH_MAX];
	struct stat status;
	int error = 0;

	if (*path == '\0')
		error = ENOENT;
	else if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		error = EISDIR;
	else if (!abd_perf_file_target(path, target))
		error = errno;
	else if (abd_perf_file_is_special(path) ? access(path, W_OK) != 0
						: access(dirname(target), W_OK | X_OK) != 0)
		error = errno;
	if (error != 0)
		abd_perf_say_die(1, "%s '%s': %s", flag, path, strerror(error));
}

static int abd_perf_file_fill(const char *path, const char *mode, const char *text)
{
	FILE *file = fopen(path, mode);
	int error = 0;

	if (file == NULL)
		return -errno;
	/* fsync() fails with EINVAL on a pipe or a terminal, which need no sync. */
	if (fputs(text, file) < 0 || fflush(file) != 0 ||
		(fsync(fileno(file)) != 0 && errno != EINVAL))
		error = -errno;
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

int abd_perf_file_write(const char *path, const char *text)
{
	char target[PATH_MAX], temporary[PATH_MAX + 32];
	int error;

	signal(SIGXFSZ, SIG_IGN); /* a file size limit is reported as an error, like a full disk */
	if (abd_perf_file_is_special(path))
		return abd_perf_file_fill(path, "ae", text);
	if (!abd_perf_file_target(path, target))
		return -errno;
	snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", target, (long)getpid());
	error = abd_perf_file_fill(temporary, "we", text);
	if (error == 0 && rename(temporary, target) != 0)
		error = -errno;
	if (error != 0)
		unlink(temporary);
	return error;
}
