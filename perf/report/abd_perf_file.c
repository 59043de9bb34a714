/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Invariant: a failure leaves no temporary file, and the old file as it was.
 */
#include "abd_perf_file.h"
#include "abd_perf_say.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ABD_PERF_FILE_PATH 4096

static bool abd_perf_file_is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

void abd_perf_file_check(const char *flag, const char *path)
{
	char copy[ABD_PERF_FILE_PATH];
	struct stat status;

	if (strlen(path) >= sizeof(copy) - 32)
		abd_perf_say_die(1, "%s: the path is too long", flag);
	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		abd_perf_say_die(1, "%s %s: %s", flag, path, strerror(EISDIR));
	strcpy(copy, path);
	if (abd_perf_file_is_special(path) ? access(path, W_OK) != 0
					   : access(dirname(copy), W_OK | X_OK) != 0)
		abd_perf_say_die(1, "%s %s: %s", flag, path, strerror(errno));
}

static int abd_perf_file_fill(
	const char *path, int (*fill)(FILE *file, const void *arg), const void *arg)
{
	FILE *file = fopen(path, "we");
	int error = 0;

	if (file == NULL)
		return -errno;
	errno = 0;
	if (fill(file, arg) != 0 || ferror(file) || fflush(file) != 0)
		error = errno != 0 ? -errno : -EIO;
	/* A pipe or a terminal can't be synced (EINVAL), and needs not be. */
	if (error == 0 && fsync(fileno(file)) != 0 && errno != EINVAL)
		error = -errno;
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	return error;
}

int abd_perf_file_write(const char *path, int (*fill)(FILE *file, const void *arg), const void *arg)
{
	char temporary[ABD_PERF_FILE_PATH];
	int error;

	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error like a full disk */
	if (abd_perf_file_is_special(path))
		return abd_perf_file_fill(path, fill, arg);
	snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", path, (long)getpid());
	error = abd_perf_file_fill(temporary, fill, arg);
	if (error == 0 && rename(temporary, path) != 0)
		error = -errno;
	if (error != 0)
		unlink(temporary);
	return error;
}
