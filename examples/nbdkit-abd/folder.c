/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fsync() of the folder that a path lies in.
 */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

int folder_sync(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash == path ? 1 : (size_t)(slash - path);
	char folder[PATH_MAX];
	int fd, error;

	if (size >= sizeof(folder)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(folder, path, size);
	folder[size] = '\0';
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	error = fsync(fd);
	close(fd);
	return error;
}
